// The goals for browsers beside what results files say, as Markdown for the documents, so that no number there was typed:
//
//   node dist/bench/browser/goals-table.js results-chromium.json results-firefox.json results-webkit.json
import { fileURLToPath } from 'node:url';
import { figure } from '../report/format.ts';
import { kindOf } from '../report/kind.ts';
import { betterBy, counts, readResults, runtimeName } from '../report/model.ts';
import type { Result, Results, Row } from '../schema.ts';

/** The share of the other's time that ours may take, by engine; an engine without one has no goal. */
type Limits = Readonly<Record<string, number>>;

interface Goal {
  readonly text: string;
  readonly row: string;
  readonly ours: string;
  /** Contenders of which the quickest counts. */
  readonly others: readonly string[];
  readonly limits: Limits;
}

const SEED_ROW = 'round trip, 118 B object';
const BOTH_NATIVE = ['worker-post', 'native-port'];
const PORT = 'millrace-port:loop';
const all = (limit: number): Limits => ({ chromium: limit, firefox: limit, webkit: limit });
const seedGoals = (way: string, ofNative: number): Goal[] => [
  goal(`\`millrace-sab${way}\` beside native`, SEED_ROW, `millrace-sab${way}`, BOTH_NATIVE, { chromium: ofNative }),
  goal(`\`millrace-sab${way}\` beside the rival's own`, SEED_ROW, `millrace-sab${way}`, [`sab-message-port${way}`], {
    chromium: 0.7,
  }),
];

function goal(text: string, row: string, ours: string, others: readonly string[], limits: Limits): Goal {
  return { text, row, ours, others, limits };
}

const TWICE: Limits = { chromium: 0.5, firefox: 0.5, webkit: 1 / 1.7 };
const GOALS: readonly Goal[] = [
  goal('118 B there and back, beside MessagePort', SEED_ROW, PORT, ['native-port'], all(0.5)),
  goal('118 B there and back, beside worker.postMessage', SEED_ROW, PORT, ['worker-post'], {
    chromium: 0.6,
    firefox: 0.6,
    webkit: 0.9,
  }),
  ...seedGoals('', 0.5),
  ...seedGoals(':async', 0.9),
  ...seedGoals(':mw', 0.9),
  goal('after silence, beside MessagePort', 'round trip after 3 ms of silence', PORT, ['native-port'], all(1)),
  goal('between two workers', 'round trip between two workers', PORT, ['native-port'], {
    chromium: 0.6,
    firefox: 0.25,
    webkit: 0.25,
  }),
  goal('500 B objects to a worker', '500 B objects to a worker', PORT, ['worker-post'], TWICE),
  goal('500 B objects to the page', '500 B objects to the page', PORT, ['worker-post'], TWICE),
  goal('3 MB text, new, beside the rival', '3 MB text delivered, new each time', PORT, ['sab-message-port'], all(0.5)),
  goal('64 KiB there and back', '64 KiB block, round trip', PORT, ['native-port'], all(1 / 1.3)),
  goal('64 KiB one way', '64 KiB blocks to a worker', PORT, ['native-port'], all(1)),
];

const AGAIN_ROW = '3 MB text delivered, the same again';
const AGAIN_MAX_US = 1000;

const rowsOf = ({ scenarios }: Results): readonly Row[] =>
  scenarios.find((scenario) => scenario.name === 'browsers')?.rows ?? [];

function resultOf(results: Results, row: string, subject: string): Result | undefined {
  const found = rowsOf(results)
    .find(({ label }) => label === row)
    ?.results.find((result) => result.subject === subject);
  return counts(found) ? found : undefined;
}

const quickest = (results: readonly Result[]): Result | undefined =>
  [...results].sort((a, b) => a.median - b.median)[0];

/** Time of ours over that of another, by rounds. */
const share = (ours: Result, other: Result): number => 1 / betterBy(ours, other, 'lower');
const number = (value: number): string => Number(value.toPrecision(2)).toString();

function verdict(value: number, limit: number | undefined): string {
  if (limit === undefined) return number(value);
  return value <= limit ? `reached: ${number(value)}` : `**not reached: ${number(value)}** of ${number(limit)}`;
}

function goalCell(results: Results, { row, ours, others, limits }: Goal): string {
  const own = resultOf(results, row, ours);
  const other = quickest(others.flatMap((name) => resultOf(results, row, name) ?? []));
  return own && other ? verdict(share(own, other), limits[results.runtime.name]) : 'not measured';
}

function againCell(results: Results): string {
  const own = resultOf(results, AGAIN_ROW, PORT);
  if (!own) return 'not measured';
  const text = figure(own.median, 'us');
  return own.median <= AGAIN_MAX_US ? `reached: ${text}` : `**not reached: ${text}**`;
}

/** Who is quickest in a row, and by how much when that is none of ours. */
function winnerCell(results: Results, label: string): string {
  const found =
    rowsOf(results)
      .find((row) => row.label === label)
      ?.results.filter(counts) ?? [];
  const ours = quickest(found.filter(({ subject }) => kindOf(subject) === 'ours'));
  const other = quickest(found.filter(({ subject }) => kindOf(subject) === 'rival'));
  if (!ours || !other) return 'not measured';
  const taken = share(ours, other);
  return taken <= 1
    ? `ours, ${number(taken)} of ${other.label}`
    : `**${other.label} wins**, ours takes ${number(taken)}`;
}

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

function table(
  files: readonly Results[],
  first: string,
  rows: readonly (readonly [string, (of: Results) => string])[],
) {
  const head = [first, ...files.map(runtimeName)];
  const body = rows.map(([name, cell]) => line([name, ...files.map(cell)]));
  return [line(head), line(head.map(() => '---')), ...body].join('\n');
}

/** Three tables: the seed's, the goals, and who wins each row. Figures are microseconds, medians with what lies between their quartiles. */
export function goalsTable(files: readonly Results[]): string {
  const seats = new Map<string, string>();
  for (const file of files) {
    for (const row of rowsOf(file)) {
      if (row.label === SEED_ROW) for (const { subject, label } of row.results) seats.set(subject, label);
    }
  }
  const figures = [...seats].map(([subject, label]): [string, (of: Results) => string] => [
    label,
    (file) => {
      const found = resultOf(file, SEED_ROW, subject);
      return found ? `${figure(found.median, 'us')} (${figure(found.low, 'us')} to ${figure(found.high, 'us')})` : '–';
    },
  ]);
  const labels = [...new Set(files.flatMap((file) => rowsOf(file).map(({ label }) => label)))];
  const noisy = files.filter(({ noise }) => noise.bad).map(runtimeName);
  return [
    table(files, SEED_ROW, figures),
    table(files, 'goal, as a share of the time of the other', [
      ...GOALS.map((one): [string, (of: Results) => string] => [one.text, (file) => goalCell(file, one)]),
      ['3 MB text, the same again: at most 1 ms', againCell],
    ]),
    table(
      files,
      'quickest, in any way of waiting',
      labels.map((label) => [label, (file) => winnerCell(file, label)]),
    ),
    ...(noisy.length > 0 ? [`The machine was busy in the runs of ${noisy.join(', ')}.`] : []),
  ].join('\n\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(goalsTable(process.argv.slice(2).map(readResults)));
}
