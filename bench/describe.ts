// The contenders' own sentences as Markdown, for docs/benchmarks.md. `node dist/bench/describe.js` writes them in.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from './machine.ts';
import { allCallSubjects } from './subjects/call-list.ts';
import { allThreadSubjects } from './subjects/list.ts';
import { allProcessSubjects } from './subjects/process-list.ts';

const START = /<!-- contenders:[^\n]*-->\n/;
const END = '<!-- /contenders -->';

export const docPath: string = join(root, 'docs/benchmarks.md');

/** The three tables as they have to stand in the document. */
export async function describeContenders(): Promise<string> {
  const line = ({ name, label, use }: { name: string; label: string; use: string }): string =>
    `| \`${name}\` | ${label} | ${use} |`;
  const head = (title: string): string => `| ${title} | | how it is used, and why so |\n| --- | --- | --- |`;
  const threads = (await allThreadSubjects()).map(line);
  const calls = (await allCallSubjects()).map(line);
  const processes = (await allProcessSubjects()).map(line);
  return `${[head('between threads'), ...threads, '', head('calls'), ...calls, '', head('between processes'), ...processes].join('\n')}\n`;
}

/** What the document has between its marks; undefined when the marks are missing. */
export function describedIn(text: string): string | undefined {
  const start = START.exec(text);
  const end = text.indexOf(END);
  return start && end > 0 ? text.slice(start.index + start[0].length, end) : undefined;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const text = readFileSync(docPath, 'utf8');
  const start = START.exec(text)!;
  const head = text.slice(0, start.index + start[0].length);
  writeFileSync(docPath, head + (await describeContenders()) + text.slice(text.indexOf(END)));
}
