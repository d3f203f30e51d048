// What changed between two runs, and was it us? A change is called only when chance would rarely make it (Mann-Whitney
// on the rounds), when it is large enough to matter, and when the rivals, whose code did not change, did not move too.
import type { Result, Results, ScenarioResults } from '../schema.ts';
import { figure, percent, spread } from './format.ts';
import { type Kind, kindOf } from './kind.ts';
import { counts, runtimeName } from './model.ts';
import { mannWhitney, median } from './stats.ts';
import { type Palette, table } from './terminal.ts';

/** Two runs with nothing changed give this share of false alarms before size is looked at. */
export const SIGNIFICANCE = 0.01;
/** Smaller changes are not reported, however certain: two runs differ by that much for no reason of ours. */
export const CHANGE_MIN = 0.05;
/** With fewer unchanged contenders than this in a scenario, their drift is not known well enough to divide by. */
const CONTROLS_MIN = 3;

export type Finding = 'regression' | 'improvement' | 'drift' | 'same' | 'undecidable' | 'other';

export interface Change {
  readonly scenario: string;
  readonly row: string;
  readonly unit: string;
  readonly subject: string;
  readonly label: string;
  readonly kind: Kind;
  readonly before: Result;
  readonly after: Result;
  /** How many times better it became, whatever the unit: 0.8 is a fifth worse. */
  readonly change: number;
  /** The same with the movement of the unchanged contenders of the scenario divided out. */
  readonly corrected: number;
  /** Two-sided p of the Mann-Whitney U test on the rounds. */
  readonly p: number;
  /** `drift`: it moved as the machine did. `other`: a rival or a limit that moved by itself. `undecidable`: too few rounds. */
  readonly finding: Finding;
}

export interface Comparison {
  readonly changes: readonly Change[];
  /** Scenario -> how many times better the contenders became that nobody touched; 1 when too few to tell. */
  readonly drift: ReadonlyMap<string, number>;
  /** `scenario, row: subject` of what the first run has and the second lacks. */
  readonly gone: readonly string[];
  /** Reasons not to trust the comparison. */
  readonly doubts: readonly string[];
}

type Raw = Omit<Change, 'corrected' | 'finding'>;

function rawChanges(before: ScenarioResults, after: ScenarioResults, gone: string[]): Raw[] {
  const found: Raw[] = [];
  for (const row of before.rows) {
    const twin = after.rows.find((candidate) => candidate.label === row.label);
    for (const old of row.results) {
      if (!counts(old)) continue;
      const now = twin?.results.find((candidate) => candidate.subject === old.subject);
      if (!counts(now)) {
        gone.push(`${before.name}, ${row.label}: ${old.label}`);
        continue;
      }
      found.push({
        scenario: before.name,
        row: row.label,
        unit: before.unit,
        subject: old.subject,
        label: old.label,
        kind: kindOf(old.subject),
        before: old,
        after: now,
        change: before.better === 'higher' ? now.median / old.median : old.median / now.median,
        p: mannWhitney(old.samples, now.samples),
      });
    }
  }
  return found;
}

/** The smallest p that so many rounds can reach: 2 over the number of ways to deal them. */
export function smallestP(n: number, m: number): number {
  let ways = 1;
  for (let i = 1; i <= n; i++) ways = (ways * (m + i)) / i;
  return Math.min(1, 2 / ways);
}

function judge(raw: Raw, corrected: number): Finding {
  if (smallestP(raw.before.samples.length, raw.after.samples.length) >= SIGNIFICANCE) return 'undecidable';
  const far = (ratio: number): boolean => ratio < 1 - CHANGE_MIN || ratio > 1 / (1 - CHANGE_MIN);
  if (raw.p >= SIGNIFICANCE || !far(raw.change)) return 'same';
  if (!far(corrected) || raw.change < 1 !== corrected < 1) return 'drift';
  if (raw.kind !== 'ours') return 'other';
  return raw.change < 1 ? 'regression' : 'improvement';
}

function doubts(before: Results, after: Results): string[] {
  const found: string[] = [];
  if (JSON.stringify(before.machine) !== JSON.stringify(after.machine)) found.push('the machines differ');
  if (runtimeName(before) !== runtimeName(after)) {
    found.push(`the runtimes differ: ${runtimeName(before)}, ${runtimeName(after)}`);
  }
  for (const [name, run] of [
    ['first', before],
    ['second', after],
  ] as const) {
    if (run.noise.bad) found.push(`the ${name} run was noisy (${run.noise.ratio.toFixed(2)}x)`);
    if (run.partial) found.push(`the ${name} run was interrupted`);
    if (run.quick) found.push(`the ${name} run is a quick one`);
  }
  return found;
}

/** Compares every figure that both runs have. */
export function compare(before: Results, after: Results): Comparison {
  const changes: Change[] = [];
  const drift = new Map<string, number>();
  const gone: string[] = [];
  for (const scenario of before.scenarios) {
    const twin = after.scenarios.find((candidate) => candidate.name === scenario.name);
    if (!twin) {
      gone.push(`${scenario.name}: the whole scenario`);
      continue;
    }
    const raw = rawChanges(scenario, twin, gone);
    const controls = raw.filter((one) => one.kind !== 'ours').map((one) => one.change);
    const moved = controls.length >= CONTROLS_MIN ? median(controls) : 1;
    drift.set(scenario.name, moved);
    for (const one of raw) {
      const corrected = one.change / moved;
      changes.push({ ...one, corrected, finding: judge(one, corrected) });
    }
  }
  return { changes, drift, gone, doubts: doubts(before, after) };
}

function chance(p: number): string {
  return p < 0.0001 ? '< 0.0001' : p.toFixed(4);
}

function section(title: string, changes: readonly Change[], paint: Palette['loss'], colours: Palette): string[] {
  if (changes.length === 0) return [];
  const worstFirst = [...changes].sort((a, b) => a.change - b.change);
  const rows = worstFirst.map((one) => [
    `  ${one.scenario}, ${one.row}`,
    one.label,
    figure(one.before.median, one.unit),
    colours.faint(spread(one.before.low, one.before.high, one.before.median, one.unit)),
    figure(one.after.median, one.unit),
    colours.faint(spread(one.after.low, one.after.high, one.after.median, one.unit)),
    paint(percent(one.change - 1)),
    percent(one.corrected - 1),
    chance(one.p),
  ]);
  const right = { align: 'right' } as const;
  const columns = [
    { title: '  row' },
    { title: 'contender' },
    { title: 'before', ...right },
    { title: '' },
    { title: 'after', ...right },
    { title: '' },
    { title: 'better by', ...right },
    { title: 'less drift', ...right },
    { title: 'p', ...right },
  ];
  return ['', colours.strong(`${title}: ${changes.length}`), ...table(columns, rows)];
}

/** How the contenders moved that nobody touched, where they did: it is the machine, or the day. */
function driftLines({ drift, changes }: Comparison, colours: Palette): string[] {
  const rows = [...drift].map(([scenario, moved]) => {
    const along = changes.filter((one) => one.scenario === scenario && one.finding === 'drift');
    const ours = along.filter((one) => one.kind === 'ours').length;
    return { moved, cells: [`  ${scenario}`, percent(moved - 1), String(ours), String(along.length - ours)] };
  });
  const moving = rows.filter(({ moved, cells }) => Math.abs(moved - 1) > CHANGE_MIN || cells[2] !== '0');
  if (moving.length === 0) return [];
  const right = { align: 'right' } as const;
  const columns = [
    { title: '  scenario' },
    { title: 'drift', ...right },
    { title: 'ours moved along', ...right },
    { title: 'others', ...right },
  ];
  const title = colours.strong('The machine moved; what moved along with it is no finding');
  return [
    '',
    title,
    ...table(
      columns,
      moving.map(({ cells }) => cells),
    ),
  ];
}

/** The comparison in words and tables, ready to print. */
export function compareText(comparison: Comparison, colours: Palette): string {
  const { changes } = comparison;
  const of = (finding: Finding): Change[] => changes.filter((one) => one.finding === finding);
  const lines: string[] = [];
  for (const doubt of comparison.doubts) lines.push(colours.loss(`Careful: ${doubt}.`));
  const regressions = of('regression');
  const head =
    regressions.length === 0 ? 'No regression' : `${regressions.length} regression${regressions.length > 1 ? 's' : ''}`;
  const ours = changes.filter((one) => one.kind === 'ours').length;
  lines.push(colours.strong(`${head} in ${ours} of our figures (${changes.length} compared in all).`));
  lines.push(...section('Regressions', regressions, colours.loss, colours));
  lines.push(...section('Improvements', of('improvement'), colours.ours, colours));
  lines.push(...section('Not ours, moved all the same', of('other'), colours.faint, colours));
  lines.push(...driftLines(comparison, colours));
  const blind = of('undecidable').length;
  if (blind > 0) lines.push('', `${blind} figures have too few rounds for any verdict (five a side are needed).`);
  if (comparison.gone.length > 0)
    lines.push('', 'Measured before, missing now:', ...comparison.gone.map((one) => `  ${one}`));
  const alarms = (SIGNIFICANCE * changes.length).toFixed(1);
  lines.push(
    '',
    `Called when p < ${SIGNIFICANCE} (two-sided Mann-Whitney U over the rounds, exact up to 40 of them), when the median moved`,
    `by ${CHANGE_MIN * 100} % or more, and when it still did after dividing out the drift of the contenders that nobody touched`,
    `(median per scenario). Not corrected for many comparisons: chance alone passes the first test ${alarms} times in ${changes.length}.`,
    'A minus is worse, whatever the unit. Rounds of one run share its luck; a regression is sure when a second pair of runs shows it again.',
  );
  return `${lines.join('\n')}\n`;
}
