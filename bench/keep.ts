// What a run leaves behind: its results with all samples, and the page that draws them.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isClone } from './home.ts';
import { root } from './machine.ts';
import { buildReport } from './report/model.ts';
import { page } from './report/page.ts';
import type { Results } from './schema.ts';

/** Where `npm run bench` leaves both; who calls the command by another way says `--out`. */
export function usualFolder(): string | undefined {
  return isClone && process.env['npm_lifecycle_event'] === 'bench' ? join(root, 'bench/out') : undefined;
}

/** Writes the results to a file. */
export function store(path: string, results: Results): void {
  mkdirSync(dirname(resolve(path)), { recursive: true });
  writeFileSync(path, format(results));
}

/** Writes results and page into a folder, named by time and runtime; says where. */
export function keep(folder: string, results: Results): readonly string[] {
  const { name, version } = results.runtime;
  const time = results.date.slice(0, 16).replace('T', '-').replace(':', '');
  const stem = join(
    folder,
    `${time}-${name === 'node' ? `node-${Number.parseInt(version.replace('v', ''), 10)}` : name}`,
  );
  const files = [`${stem}.json`, `${stem}.html`] as const;
  store(files[0], results);
  writeFileSync(files[1], page(buildReport([results])));
  return files;
}

/** JSON that can be read and compared line by line: lists of numbers on one line each. */
function format(results: Results): string {
  const flat = (list: string): string => list.replace(/\s+/g, ' ').replace('[ ', '[').replace(' ]', ']');
  return `${JSON.stringify(results, null, 1).replace(/\[[-+.\de,\s]+\]/g, flat)}\n`;
}
