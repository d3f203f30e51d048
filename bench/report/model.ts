// Results files, turned into what a report shows: scenarios, their rows, the contenders of each row in order of merit,
// and how our best stands against the best rival. Pages, pictures, README and terminal all draw this one model.
//
// Like is set beside like: a row whose contenders wait in different ways (event loops, the worker blocks, both block)
// is shown as one row a way, so that a thread that never returns to its loop is not held against one that does.
import { readFileSync } from 'node:fs';
import { type Result, type Results, type Row, SCHEMA, type ScenarioResults } from '../schema.ts';
import { WAIT_NAMES, WAITS, type Wait } from '../wait.ts';
import { type Kind, kindOf } from './kind.ts';
import { geometricMean, median } from './stats.ts';
import { wayOf } from './way.ts';

export interface Run {
  /** `Node 24.21.0`, with the date or the file's number added where two runs would look alike. */
  readonly name: string;
  readonly results: Results;
}

/** Our best against the best rival that waits as it does, in one row of one run. */
export interface Standing {
  /** `even` when the two spreads overlap: then the ratio says nothing. */
  readonly outcome: 'ahead' | 'even' | 'behind';
  /** How many times better ours is, whatever the unit; below 1 when the rival is better. */
  readonly ratio: number;
  readonly ours: Result;
  readonly rival: Result;
}

export interface Contender {
  readonly subject: string;
  readonly label: string;
  readonly kind: Kind;
  /** One per run; undefined where it did not take part. */
  readonly cells: readonly (Result | undefined)[];
}

export interface RowView {
  readonly label: string;
  readonly params: Row['params'];
  /** The way to wait that all contenders of this row share, where its scenario knows more than one. */
  readonly way: Wait | undefined;
  /** Best first, by the first run that has it; limits last. */
  readonly contenders: readonly Contender[];
  readonly standings: readonly (Standing | undefined)[];
}

export interface ScenarioView {
  readonly head: ScenarioResults;
  readonly rows: readonly RowView[];
}

export interface Report {
  readonly runs: readonly Run[];
  readonly scenarios: readonly ScenarioView[];
}

/** Reads one results file. Throws an `Error` that names the file when it isn't one, or is of a shape from the future. */
export function readResults(path: string): Results {
  let found: unknown;
  try {
    found = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new Error(`Cannot read ${path}: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
  const schema = (found as { schema?: unknown } | null)?.schema;
  if (schema !== SCHEMA) {
    throw new Error(`Cannot use ${path}: its schema is ${JSON.stringify(schema)}, this report reads ${SCHEMA}`);
  }
  if (!Array.isArray((found as Results).scenarios)) throw new Error(`Cannot use ${path}: it has no scenarios`);
  return found as Results;
}

/** True when the figure can be compared: it was measured, and both ends agreed on what went through. */
export function counts(result: Result | undefined): result is Result {
  return result !== undefined && result.samples.length > 0 && result.checked !== false;
}

const RUNTIMES: Readonly<Record<string, string>> = {
  node: 'Node',
  bun: 'Bun',
  deno: 'Deno',
  chromium: 'Chromium',
  firefox: 'Firefox',
  webkit: 'WebKit',
};

/** `Node 24.21.0`. */
export function runtimeName(results: Results): string {
  return `${RUNTIMES[results.runtime.name] ?? results.runtime.name} ${results.runtime.version.replace(/^v/, '')}`;
}

function nameRuns(files: readonly Results[]): Run[] {
  const plain = files.map(runtimeName);
  return files.map((results, index) => {
    const twins = files.filter((_, other) => plain[other] === plain[index]);
    if (twins.length === 1) return { name: plain[index]!, results };
    const dates = new Set(twins.map((twin) => twin.date));
    const mark = dates.size === twins.length ? results.date.slice(0, 16).replace('T', ' ') : `file ${index + 1}`;
    return { name: `${plain[index]}, ${mark}`, results };
  });
}

/** How many times better `a` is than `b`: the median over rounds where the rounds pair up, else of the medians. */
export function betterBy(a: Result, b: Result, better: ScenarioResults['better']): number {
  const ratio = (x: number, y: number): number => (better === 'higher' ? x / y : y / x);
  if (a.samples.length !== b.samples.length) return ratio(a.median, b.median);
  return median(a.samples.map((sample, round) => ratio(sample, b.samples[round]!)));
}

export function overlap(a: Result, b: Result): boolean {
  return a.low <= b.high && b.low <= a.high;
}

function best(results: readonly Result[], better: ScenarioResults['better']): Result | undefined {
  const order = [...results].sort((a, b) => (better === 'higher' ? b.median - a.median : a.median - b.median));
  return order[0];
}

/** Our best against the best rival; undefined when either did not take part. */
export function standing(results: readonly Result[], better: ScenarioResults['better']): Standing | undefined {
  const usable = results.filter(counts);
  const ours = best(
    usable.filter((result) => kindOf(result.subject) === 'ours'),
    better,
  );
  const rival = best(
    usable.filter((result) => kindOf(result.subject) === 'rival'),
    better,
  );
  if (!ours || !rival) return undefined;
  const ratio = betterBy(ours, rival, better);
  const ahead = better === 'higher' ? ours.median > rival.median : ours.median < rival.median;
  return { outcome: overlap(ours, rival) ? 'even' : ahead ? 'ahead' : 'behind', ratio, ours, rival };
}

/** One row of the files, side by side. */
interface Found {
  readonly label: string;
  readonly better: ScenarioResults['better'];
  /** One per run. */
  readonly rows: readonly (Row | undefined)[];
}

function findRow(scenario: string, label: string, runs: readonly Run[]): Found {
  let better: ScenarioResults['better'] = 'higher';
  const rows = runs.map((run) => {
    const home = run.results.scenarios.find((candidate) => candidate.name === scenario);
    if (home) better = home.better;
    return home?.rows.find((row) => row.label === label);
  });
  return { label, better, rows };
}

/** One row a way; the row as it is where all wait alike. */
function rowViews(scenario: string, found: Found): RowView[] {
  const ways = new Set(found.rows.flatMap((row) => (row?.results ?? []).flatMap((one) => wayOf(one, scenario) ?? [])));
  if (ways.size < 2) return [rowView(found, undefined, () => true)];
  return WAITS.filter((way) => ways.has(way)).map((way) => {
    const fits = (result: Result): boolean => (wayOf(result, scenario) ?? way) === way;
    return rowView(found, way, fits);
  });
}

function rowView({ label, better, rows }: Found, way: Wait | undefined, fits: (result: Result) => boolean): RowView {
  const results = rows.map((row) => row?.results.filter(fits));
  const subjects = new Map<string, string>();
  for (const one of results) for (const result of one ?? []) subjects.set(result.subject, result.label);
  const contenders = [...subjects].map(
    ([subject, name]): Contender => ({
      subject,
      label: name,
      kind: kindOf(subject),
      cells: results.map((one) => one?.find((result) => result.subject === subject)),
    }),
  );
  const merit = (contender: Contender): number => {
    if (contender.kind === 'limit') return Number.NEGATIVE_INFINITY;
    const first = contender.cells.find(counts);
    if (!first) return -Number.MAX_VALUE;
    return better === 'higher' ? first.median : -first.median;
  };
  contenders.sort((a, b) => merit(b) - merit(a) || (a.subject < b.subject ? -1 : 1));
  const params = rows.find((row) => row)?.params ?? {};
  return {
    label: way === undefined ? label : `${label}, ${WAIT_NAMES[way]}`,
    params: way === undefined ? params : { ...params, way: WAIT_NAMES[way] },
    way,
    contenders,
    standings: results.map((one) => one && standing(one, better)),
  };
}

/** Whether a row has contenders of ours only: nobody else can wait that way. */
export function onlyOurs(row: RowView): boolean {
  const kinds = new Set(row.contenders.filter(({ cells }) => cells.some(counts)).map(({ kind }) => kind));
  return kinds.has('ours') && !kinds.has('rival');
}

/** Lays runs side by side. Scenarios and rows keep the order of the files; what only one file has is kept too. */
export function buildReport(files: readonly Results[]): Report {
  const runs = nameRuns(files);
  const heads = new Map<string, ScenarioResults>();
  const labels = new Map<string, Set<string>>();
  for (const { results } of runs) {
    for (const scenario of results.scenarios) {
      if (!heads.has(scenario.name)) heads.set(scenario.name, scenario);
      const known = labels.get(scenario.name) ?? new Set();
      for (const row of scenario.rows) known.add(row.label);
      labels.set(scenario.name, known);
    }
  }
  const scenarios = [...heads].map(
    ([name, head]): ScenarioView => ({
      head,
      rows: [...labels.get(name)!].flatMap((label) => rowViews(name, findRow(name, label, runs))),
    }),
  );
  return { runs, scenarios };
}

/** The score of one scenario in one run: rows ahead, even, behind, and the middle of the ratios. */
export interface Score {
  readonly ahead: number;
  readonly even: number;
  readonly behind: number;
  readonly total: number;
  /** Geometric mean over all rows of our best against the best rival. NaN when nothing could be compared. */
  readonly ratio: number;
  readonly ratioMin: number;
  readonly ratioMax: number;
}

export function score(scenario: ScenarioView, run: number): Score {
  const standings = scenario.rows.flatMap((row) => row.standings[run] ?? []);
  const count = (outcome: Standing['outcome']): number => standings.filter((one) => one.outcome === outcome).length;
  const ratios = standings.map((one) => one.ratio);
  return {
    ahead: count('ahead'),
    even: count('even'),
    behind: count('behind'),
    total: standings.length,
    ratio: geometricMean(ratios),
    ratioMin: Math.min(...ratios),
    ratioMax: Math.max(...ratios),
  };
}
