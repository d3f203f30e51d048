// The frame: rounds of all contestants of a row, interleaved, so that a slow minute of the machine hits everybody.
//
//     for each scenario, for each row:   start all, warm up each -> N rounds, each: settle, probe, C, A, B ... -> stop all
//
// The order is drawn anew in each round: nobody is always the one who comes after the loudest.
import type { Contestant, Pace, RowPlan, Sample, Scenario, Session } from './contest.ts';
import { withDeadline } from './deadline.ts';
import type { Result, Row, ScenarioResults } from './schema.ts';
import { median, ratios, spread, verdict } from './stats.ts';
import { warmUp } from './warm-up.ts';

export interface PlannedScenario {
  readonly scenario: Scenario;
  readonly rows: readonly RowPlan[];
  readonly pace: Pace;
}

/** What tells whether the machine is quiet: noise.ts, or its like in a page. */
export interface Quiet {
  probe(): Promise<void>;
  /** Waits until what this process left running has come to rest, `limitMs` at most. */
  settle(limitMs: number): Promise<void>;
}

/** Who is told how far the work is. */
export interface Watcher {
  title(text: string): void;
  advance(units: number): void;
  /** A round of a contender is over. */
  sampled?(subject: string, value: number): void;
}

/** Asked between rounds: true once the user wants to see what there is. */
export type Stopping = () => boolean;

/** Settling and probing before each round of a row, measured. */
const BETWEEN_MS = 25;
/** Warm-up goes on until it is steady. */
const WARM_SHARE = 1.25;

/** Milliseconds that a plan will take, also the unit of the progress bar. */
export function costOf(plans: readonly PlannedScenario[]): number {
  let cost = 0;
  for (const { rows, pace } of plans) {
    const lane = startCost(pace) + pace.rounds * pace.roundMs;
    for (const row of rows) cost += row.contestants.length * lane + pace.rounds * BETWEEN_MS;
  }
  return cost;
}

function startCost(pace: Pace): number {
  return pace.startMs + pace.warmMs * WARM_SHARE;
}

export async function runScenario(
  plan: PlannedScenario,
  noise: Quiet,
  progress: Watcher,
  stopping: Stopping,
): Promise<ScenarioResults> {
  const { scenario, pace } = plan;
  const rows: Row[] = [];
  for (const row of plan.rows) {
    if (stopping()) break;
    progress.title(`${scenario.name}: ${row.label}`);
    const lanes = await runInterleaved(row.contestants, pace, noise, progress, stopping);
    const results = judge(scenario, lanes);
    // Stopped while its contestants were starting, a row has nothing to show.
    if (results.length > 0) rows.push({ label: row.label, params: row.params, results });
  }
  const { name, title, seed, unit, better, note, baseline } = scenario;
  return { name, title, seed, unit, better, note, baseline, rows };
}

/** One contestant's way through a row. */
interface Lane {
  readonly contestant: Contestant;
  readonly samples: Sample[];
  session: Session | undefined;
  failure: string | undefined;
}

const START_DEADLINE_MS = 60_000;

/** What compiler and collector threads may still have to do once everybody is warm. */
const WARM_SETTLE_MS = 200;

async function runInterleaved(
  contestants: readonly Contestant[],
  pace: Pace,
  noise: Quiet,
  progress: Watcher,
  stopping: Stopping,
): Promise<Lane[]> {
  const lanes: Lane[] = contestants.map((contestant) => ({
    contestant,
    samples: [],
    session: undefined,
    failure: undefined,
  }));
  for (const lane of lanes) {
    if (stopping()) break;
    await guarded(lane, stopping, async () => {
      lane.session = await withDeadline(lane.contestant.start(), START_DEADLINE_MS, 'did not start');
      await warmUp(lane.session, pace);
    });
    progress.advance(startCost(pace));
  }
  await noise.settle(WARM_SETTLE_MS);
  for (let round = 0; round < pace.rounds && !stopping(); round++) {
    await noise.probe();
    for (const lane of shuffled(lanes)) {
      if (stopping()) break;
      if (lane.session && !lane.failure) {
        await guarded(lane, stopping, async () => {
          const sample = await lane.session!.round(pace.roundMs);
          lane.samples.push(sample);
          progress.sampled?.(lane.contestant.subject, sample.value);
        });
      }
      progress.advance(pace.roundMs);
    }
    progress.advance(BETWEEN_MS);
  }
  for (const lane of lanes) await stopQuietly(lane);
  return lanes;
}

/** The same lanes in an order drawn by chance. */
function shuffled(lanes: readonly Lane[]): Lane[] {
  const drawn = lanes.map((lane) => ({ lane, ticket: Math.random() }));
  return drawn.sort((a, b) => a.ticket - b.ticket).map(({ lane }) => lane);
}

/** What was measured stays measured, however a contestant ends. */
async function stopQuietly(lane: Lane): Promise<void> {
  try {
    await withDeadline(Promise.resolve(lane.session?.stop()), 10_000, 'did not stop');
  } catch (error) {
    lane.failure ??= lane.samples.length > 0 ? undefined : String(error);
  }
}

/** A contestant that fails is reported in its place; the others go on. */
async function guarded(lane: Lane, stopping: Stopping, body: () => Promise<void>): Promise<void> {
  try {
    await body();
  } catch (error) {
    // Ctrl-C reaches the processes of contenders as well: that they end is no failure of theirs.
    if (stopping()) return;
    lane.failure = error instanceof Error ? error.message : String(error);
  }
}

function judge(scenario: Scenario, lanes: readonly Lane[]): Result[] {
  const base = lanes.find((lane) => lane.contestant.subject === scenario.baseline && lane.samples.length > 0);
  return lanes.filter((lane) => lane.samples.length > 0 || lane.failure).map((lane) => judgeLane(scenario, lane, base));
}

function judgeLane(scenario: Scenario, lane: Lane, base: Lane | undefined): Result {
  const { subject, label, note, wait } = lane.contestant;
  const who = { subject, label, ...(wait && { wait }) };
  const samples = lane.samples.map((sample) => rounded(sample.value));
  if (lane.failure !== undefined || samples.length === 0) {
    const failure = `failed: ${lane.failure?.split('\n')[0] ?? 'no samples'}`;
    return { ...who, samples: [], median: 0, low: 0, high: 0, checked: false, note: failure };
  }
  const own = spread(samples);
  const checked = lane.samples.every((sample) => sample.checked);
  const result = { ...who, samples, ...own, checked, ...costs(lane.samples) };
  const noted = note === undefined ? result : { ...result, note };
  if (!base) return noted;
  const baseSamples = base.samples.map((sample) => rounded(sample.value));
  const times = spread(ratios(samples, baseSamples, scenario.better));
  return {
    ...noted,
    ratio: rounded(times.median),
    ratioLow: rounded(times.low),
    ratioHigh: rounded(times.high),
    verdict: lane === base ? 'baseline' : verdict(own, spread(baseSamples), scenario.better),
  };
}

function costs(samples: readonly Sample[]): Partial<Result> {
  const found: { -readonly [K in 'cpu' | 'memory' | 'extra']?: Result[K] } = {};
  const metered = samples.filter((sample) => sample.cpuUs !== undefined && sample.messages && sample.wallMs);
  if (metered.length > 0) {
    found.cpu = {
      usPerMessage: rounded(median(metered.map((sample) => sample.cpuUs! / sample.messages!))),
      cores: rounded(median(metered.map((sample) => sample.cpuUs! / 1000 / sample.wallMs!))),
    };
  }
  const peaks = samples.flatMap((sample) => sample.peakBytes ?? []);
  const units = samples.flatMap((sample) => sample.perUnitBytes ?? []);
  if (peaks.length > 0) found.memory = { peakBytes: Math.max(...peaks) };
  if (units.length > 0) found.memory = { ...found.memory, perUnitBytes: Math.round(median(units)) };
  const heaps = samples.flatMap((sample) => sample.heapUnitBytes ?? []);
  if (heaps.length > 0) found.memory = { ...found.memory, heapUnitBytes: Math.round(median(heaps)) };
  const keys = Object.keys(samples[0]?.extra ?? {});
  if (keys.length > 0) {
    const last = samples.at(-1)!;
    const middle = (key: string): number =>
      rounded(last.cumulative ? last.extra![key]! : median(samples.flatMap((sample) => sample.extra?.[key] ?? [])));
    found.extra = Object.fromEntries(keys.map((key) => [key, middle(key)]));
  }
  return found;
}

/** Five significant digits: more would only be noise in the committed files. */
function rounded(value: number): number {
  return Number(value.toPrecision(5));
}

/** The same samples as another table. */
export function deriveScenario(scenario: Scenario, source: ScenarioResults): ScenarioResults {
  const rows = source.rows.map((row) => {
    const scale = scenario.derived!.scale(row.params);
    const results = row.results.map((result) => ({
      ...result,
      samples: result.samples.map((sample) => rounded(sample * scale)),
      median: rounded(result.median * scale),
      low: rounded(result.low * scale),
      high: rounded(result.high * scale),
    }));
    return { ...row, results };
  });
  const { name, title, seed, unit, better, note, baseline } = scenario;
  return { name, title, seed, unit, better, note, baseline, rows };
}
