// The README's results, and the whole list in docs/results.md, generated from bench/results/*.json, so that no number
// there was typed. In the README they stand between two markers.
//
//   node dist/bench/report/readme-table.js            rewrites the README
//   node dist/bench/report/readme-table.js --check    exits with 1 when it would change something
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { Results } from '../schema.ts';
import { figure, spread, times } from './format.ts';
import { type Headline, headlines } from './headline.ts';
import { buildReport, counts, onlyOurs, type Report, readResults, runtimeName, score } from './model.ts';
import { picture } from './picture.ts';

export const BEGIN = '<!-- results:begin -->';
export const END = '<!-- results:end -->';
/** The picture beside the table, drawn from the same results. */
export const PICTURE = 'docs/results.svg';
/** Every row that a rival wins, and every row that only we have. */
export const PAGE = 'docs/results.md';

/** The runtime whose figures stand in the README; the others are there with their ratios. */
const FRONT = /^Node 24\./;

/** One line of a table: what would end a cell or a line must not come through. */
function cell(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/[|<]/g, (at) => (at === '|' ? '\\|' : '&lt;'))
    .trim();
}

function line(cells: readonly string[]): string {
  return `| ${cells.map(cell).join(' | ')} |`;
}

/** Runs of everything; one of some scenarios or contenders answers a question of its own, and is kept for that. */
function isWhole({ command }: Results): boolean {
  return !/ (--(scenario|subjects|payload)|browsers)\b/.test(command);
}

/** Old results stay committed: of each runtime release the newest complete run counts, a quick or partial one never does. */
export function current(files: readonly Results[]): Results[] {
  const newest = new Map<string, Results>();
  const usable = files.filter((file) => !file.quick && !file.partial && isWhole(file));
  for (const file of [...usable].sort((a, b) => (a.date < b.date ? -1 : 1))) {
    const [name, release] = runtimeName(file).split(/[ .]/);
    // Node's releases are separate rows of the promise; of Bun and Deno one each.
    newest.set(name === 'Node' ? `${name} ${release}` : name!, file);
  }
  const order = ['Node', 'Bun', 'Deno'];
  const rank = (file: Results): number =>
    (order.indexOf(runtimeName(file).split(' ')[0]!) + order.length) % order.length;
  return [...newest.values()].sort(
    (a, b) => rank(a) - rank(b) || runtimeName(a).localeCompare(runtimeName(b), 'en', { numeric: true }),
  );
}

function figureCell(result: { median: number; low: number; high: number }, unit: string): string {
  return `${figure(result.median, unit)} (${spread(result.low, result.high, result.median, unit)})`;
}

function unitWord(unit: string): string {
  return unit === 'msg/s' || unit === 'B/s' ? unit : '';
}

function frontRow({ scenario, row, standing, native }: Headline): string {
  const { unit, name, better } = scenario.head;
  const word = unitWord(unit);
  const outcome = standing.outcome === 'even' ? 'no difference' : times(standing.ratio);
  const direction = better === 'higher' ? 'more is better' : 'less is better';
  return line([
    `\`${name}\`, ${row.label}`,
    `**${figureCell(standing.ours, unit)}**`,
    `${figureCell(standing.rival, unit)}, ${standing.rival.label}`,
    native ? figureCell(native, unit) : '',
    standing.outcome === 'behind' ? `**rival wins**, ${times(1 / standing.ratio)}` : outcome,
    word ? `${word}, ${direction}` : direction,
  ]);
}

function ratioRow(report: Report, at: number): string {
  const { head } = report.scenarios[at]!;
  const cells = report.runs.map((_, run) => {
    const one = score(report.scenarios[at]!, run);
    return one.total === 0 ? '–' : `${times(one.ratio)}, ${one.ahead} of ${one.total}`;
  });
  return line([`\`${head.name}\``, head.title, ...cells]);
}

/** Rows of ways to wait that only we have: figures to read, nothing to win. */
function aloneLines(report: Report): string[] {
  const found: string[] = [];
  for (const { head, rows } of report.scenarios) {
    for (const row of rows.filter(onlyOurs)) {
      const cells = report.runs.map((_, run) => {
        const [best] = row.contenders.flatMap(({ kind, cells: of }) =>
          kind === 'ours' && counts(of[run]) ? of[run] : [],
        );
        return best === undefined ? '–' : figure(best.median, head.unit);
      });
      found.push(line([`\`${head.name}\`, ${row.label}`, ...cells, unitWord(head.unit)]));
    }
  }
  return found;
}

function lossLines(report: Report): string[] {
  const found: string[] = [];
  for (const { head, rows } of report.scenarios) {
    for (const row of rows) {
      const by = row.standings.flatMap((standing, run) =>
        standing?.outcome === 'behind'
          ? [`${standing.rival.label}, ${times(1 / standing.ratio)} on ${report.runs[run]!.name}`]
          : [],
      );
      if (by.length > 0) found.push(`- \`${head.name}\`, ${cell(row.label)}: ${cell(by.join('; '))}`);
    }
  }
  return found;
}

interface Front {
  readonly report: Report;
  /** Index of the run whose figures are shown. */
  readonly run: number;
}

function frontOf(files: readonly Results[]): Front | undefined {
  const chosen = current(files);
  if (chosen.length === 0) return undefined;
  const report = buildReport(chosen);
  const found = report.runs.findIndex((run) => FRONT.test(run.name));
  return { report, run: Math.max(0, found) };
}

/** The picture that the section shows; undefined while there are no results. */
export function resultsPicture(files: readonly Results[]): string | undefined {
  const front = frontOf(files);
  return front && picture(front.report, front.run);
}

/** The section between the markers, markers not included. */
export function resultsTable(files: readonly Results[]): string {
  const front = frontOf(files);
  if (!front) {
    return 'No results are committed yet. `npx millrace bench` measures on your machine, `npx millrace report` draws it.';
  }
  const { report } = front;
  const run = report.runs[front.run]!;
  const { machine, date, command, commit } = run.results;
  const rows = headlines(report, front.run);
  const noisy = report.runs.filter((one) => one.results.noise.bad).map((one) => one.name);
  const { scenarios } = report;
  const sums = scenarios.map((scenario) => score(scenario, front.run));
  const sum = (of: 'ahead' | 'even' | 'behind' | 'total'): number => sums.reduce((total, one) => total + one[of], 0);
  return [
    `![Millrace beside the best rival and the native port on ${run.name}](${PICTURE})`,
    '',
    `${run.name}, ${machine.cpu}, ${machine.cores} cores, ${machine.os}, ${date.slice(0, 10)}, commit ${commit.slice(0, 8)}, \`${command}\`.`,
    'Medians with their spread; of each scenario the row with the middle ratio, not the best one. A row compares contenders',
    'that wait in the same way: event loops with event loops, a blocking worker with a blocking worker.',
    '',
    line(['scenario, row', 'Millrace', 'best rival', 'native port', 'ahead', 'unit']),
    line(['---', '--:', '--:', '--:', '--:', '---']),
    ...rows.map(frontRow),
    '',
    `Of the ${sum('total')} rows of this run we are ahead in ${sum('ahead')}, level in ${sum('even')}, and **a rival wins ${sum('behind')}**:`,
    `[all of them, on every runtime](${PAGE}).`,
    '',
    'Our best against the best rival of each row: geometric mean over the rows, and rows ahead of every rival.',
    '',
    line(['scenario', '', ...report.runs.map((one) => one.name)]),
    line(['---', '---', ...report.runs.map(() => '--:')]),
    ...report.scenarios.map((_, at) => ratioRow(report, at)),
    '',
    noisy.length > 0
      ? `Too noisy to quote, by their own probe: ${noisy.join(', ')}.`
      : 'No run was flagged by its noise probe.',
  ].join('\n');
}

/** The whole list, for docs/results.md; undefined while there are no results. */
export function resultsPage(files: readonly Results[]): string | undefined {
  const report = frontOf(files)?.report;
  if (report === undefined) return undefined;
  const lost = lossLines(report);
  return [
    '# Rows that a rival wins, and rows that only Millrace has',
    '',
    'Written by `node dist/bench/report/readme-table.js` from the newest full run of each runtime under bench/results/; the',
    'rest of each run is what `npx millrace report` draws. [benchmarks.md](benchmarks.md) says how each contender is used.',
    '',
    '## Won by a rival',
    '',
    ...(lost.length === 0 ? ['None.'] : lost),
    '',
    '## Ways to wait that only Millrace has',
    '',
    'Our best figure of each; there is nobody to compare it with, and it counts in no ratio.',
    '',
    line(['scenario, row', ...report.runs.map((run) => run.name), 'unit']),
    line(['---', ...report.runs.map(() => '--:'), '---']),
    ...aloneLines(report),
    '',
  ].join('\n');
}

/** The README with its section renewed. Throws an `Error` when the markers are not there, once each and in order. */
export function renew(readme: string, section: string): string {
  const begin = readme.indexOf(BEGIN);
  const end = readme.indexOf(END);
  if (begin < 0 || end < begin || readme.indexOf(BEGIN, begin + 1) >= 0 || readme.indexOf(END, end + 1) >= 0) {
    throw new Error(`Cannot renew the README's results: it needs ${BEGIN} and ${END}, once each, in this order`);
  }
  return `${readme.slice(0, begin + BEGIN.length)}\n\n${section}\n\n${readme.slice(end)}`;
}

/** The repository's root, from dist/bench/report/. */
export const ROOT: string = fileURLToPath(new URL('../../../', import.meta.url));

export function committedResults(root: string = ROOT): Results[] {
  const folder = join(root, 'bench/results');
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return names.sort().map((name) => readResults(join(folder, name)));
}

/** What README, picture and page should hold, by path from the root; the latter two are absent while there are no results. */
export function renewed(root: string = ROOT): Map<string, string> {
  const results = committedResults(root);
  const files = new Map([['README.md', renew(readFileSync(join(root, 'README.md'), 'utf8'), resultsTable(results))]]);
  const drawn = resultsPicture(results);
  if (drawn !== undefined) files.set(PICTURE, drawn);
  const listed = resultsPage(results);
  if (listed !== undefined) files.set(PAGE, listed);
  return files;
}

/** Paths whose text differs from what it should be. */
export function stale(files: ReadonlyMap<string, string>, root: string = ROOT): string[] {
  return [...files]
    .filter(([path, text]) => !existsSync(join(root, path)) || readFileSync(join(root, path), 'utf8') !== text)
    .map(([path]) => path);
}

function main(): void {
  const files = renewed();
  for (const path of stale(files)) {
    if (process.argv.includes('--check')) {
      console.log(`${path} is behind bench/results: run \`node dist/bench/report/readme-table.js\``);
      process.exitCode = 1;
    } else {
      writeFileSync(join(ROOT, path), files.get(path)!);
      console.log(`${path} renewed`);
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
