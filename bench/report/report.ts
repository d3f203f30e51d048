// The `report` verb: results files in; a page, a picture or a comparison out.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { writePng } from './chromium.ts';
import { compare, compareText } from './compare.ts';
import { buildReport, readResults } from './model.ts';
import { page } from './page.ts';
import { picture } from './picture.ts';
import { summary } from './summary.ts';
import { palette } from './terminal.ts';

const USAGE = `millrace report FILE... [--out FILE] [--open]     one HTML page of one or several results files
millrace report FILE... --svg FILE | --png FILE   the picture of the first file (PNG: needs a Chromium)
millrace report FILE... --text                    the scores and the losses, here in the terminal
millrace report --compare BEFORE AFTER [--exit-code]
                                                  what changed; with --exit-code, 1 when something got worse

Without FILE: bench/results/*.json. --title TEXT names the page.
`;

const RESULTS = 'bench/results';
const HOW_TO_GET = '`npx millrace bench --json results.json` writes one';
const PAGE = 'millrace-report.html';

interface Output {
  write(text: string): void;
  isTTY?: boolean;
}

function committed(): string[] {
  if (!existsSync(RESULTS)) return [];
  return readdirSync(RESULTS)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => join(RESULTS, name));
}

/** Opens a file with whatever this desktop opens pages with; quietly does nothing where there is none. */
function open(path: string): void {
  const [command, ...args] =
    process.platform === 'darwin' ? ['open'] : process.platform === 'win32' ? ['cmd', '/c', 'start', ''] : ['xdg-open'];
  const child = spawn(command!, [...args, path], { stdio: 'ignore', detached: true });
  // No opener: the path was printed, that has to do.
  child.on('error', () => {});
  child.unref();
}

function write(path: string, text: string): void {
  mkdirSync(dirname(resolve(path)), { recursive: true });
  writeFileSync(path, text);
}

function pngSize(svg: string): [number, number] {
  const found = /width="(\d+)" height="(\d+)"/.exec(svg)!;
  return [Number(found[1]), Number(found[2])];
}

/**
 * Runs `millrace report` with the words after the verb. Returns the exit code: 0, 1 for a regression under
 * `--exit-code`, 2 for a wrong call or a file that can't be read.
 */
export async function report(args: readonly string[], out: Output = process.stdout): Promise<number> {
  try {
    return run(args, out);
  } catch (error) {
    out.write(`${error instanceof Error ? error.message : error}\n`);
    return 2;
  }
}

function run(args: readonly string[], out: Output): number {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      out: { type: 'string' },
      open: { type: 'boolean' },
      svg: { type: 'string' },
      png: { type: 'string' },
      text: { type: 'boolean' },
      title: { type: 'string' },
      compare: { type: 'boolean' },
      'exit-code': { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) {
    out.write(USAGE);
    return 0;
  }
  if (values.compare) {
    if (positionals.length !== 2) {
      out.write(`Cannot compare ${positionals.length} files: give two, the earlier first\n\n${USAGE}`);
      return 2;
    }
    const found = compare(readResults(positionals[0]!), readResults(positionals[1]!));
    out.write(compareText(found, palette(out)));
    return values['exit-code'] && found.changes.some((change) => change.finding === 'regression') ? 1 : 0;
  }
  const files = positionals.length > 0 ? positionals : committed();
  if (files.length === 0) {
    const reason = existsSync(RESULTS) ? `${RESULTS} is empty and` : 'there is no folder bench/results here and';
    out.write(`No results: ${reason} no file was given; ${HOW_TO_GET}\n\n${USAGE}`);
    return 2;
  }
  const built = buildReport(files.map(readResults));
  if (values.text) {
    out.write(summary(built, palette(out)));
    return 0;
  }
  if (values.svg !== undefined) write(values.svg, picture(built));
  if (values.png !== undefined) {
    const svg = picture(built);
    mkdirSync(dirname(resolve(values.png)), { recursive: true });
    writePng(svg, ...pngSize(svg), values.png);
  }
  for (const path of [values.svg, values.png]) if (path !== undefined) out.write(`${path}\n`);
  if ((values.svg !== undefined || values.png !== undefined) && values.out === undefined && !values.open) return 0;
  const path = values.out ?? PAGE;
  write(path, page(built, values.title));
  out.write(`${path}\n`);
  if (values.open) open(resolve(path));
  return 0;
}
