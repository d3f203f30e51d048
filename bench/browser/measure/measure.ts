// Measuring in a page: one contender, or several that take turns in the same rounds. bench/browser/scenario.ts has the tables of the
// repository; this is for who wants to look at one thing.
import type { Pace, Scenario } from '../../contest.ts';
import { costOf, type Quiet, runScenario } from '../../run.ts';
import type { Result, Row } from '../../schema.ts';
import { PageNoise } from './noise.ts';
import { payloadNamed } from './payloads.ts';
import { contestant, type Direction } from './sessions.ts';
import type { Place } from './subject.ts';
import { labelOf, subjectNamed, whyAbsent } from './subjects.ts';

export interface CompareOptions {
  /** Names of contenders, of `subjects`. Who cannot take part in this page is left out, and named in `absent`. */
  readonly subjects: readonly string[];
  /** Name of one of `payloads`. */
  readonly payload: string;
  /** Between the page and a worker (default), or between two workers. */
  readonly place?: Place;
  /** There and back (default); there, and only a number back; one way. */
  readonly direction?: Direction;
  /** Messages under way at once in round trips; 1 by default. */
  readonly batch?: number;
  /** Milliseconds of silence before each round trip, which is timed without them; none by default. */
  readonly pauseMs?: number;
  /** Rounds that count, 7 by default. In each, all contenders take a turn, in an order drawn anew. */
  readonly rounds?: number;
  /** Milliseconds of each contender in a round, about; 100 by default. */
  readonly millis?: number;
  /** Messages of each contender in a round, instead of `millis`. */
  readonly trips?: number;
  /** Milliseconds of rounds that do not count, for each contender; 300 by default. */
  readonly warmMs?: number;
  readonly onProgress?: (progress: Progress) => void;
  /** Ends it after the turn that runs; what was measured is returned. */
  readonly signal?: AbortSignal;
}

export interface Progress {
  /** Of the whole, 0 to 1. */
  readonly share: number;
  /** The contender whose turn is over, and what it took. */
  readonly subject?: string;
  readonly microseconds?: number;
}

export interface Compared extends Row {
  readonly absent: readonly { readonly subject: string; readonly reason: string }[];
  /** 90th percentile of the noise probe over a quiet machine: above 1.25 figures are not to be quoted. */
  readonly noiseRatio: number;
}

const START_MS = 200;

/**
 * Measures contenders in interleaved rounds. Results are microseconds for each message or round trip, less is better; a contender
 * that fails has no samples, and a note that says why.
 */
export async function compare(options: CompareOptions): Promise<Compared> {
  const { place = 'page', direction = 'round-trip', batch = 1, pauseMs = 0, trips } = options;
  const payload = payloadNamed(options.payload);
  const absent: { subject: string; reason: string }[] = [];
  const contestants = [];
  for (const name of options.subjects) {
    const subject = subjectNamed(name);
    const reason = subject.places.includes(place) ? await whyAbsent(subject) : `it is not between ${place}`;
    if (reason !== undefined) {
      absent.push({ subject: name, reason });
      continue;
    }
    const label = await labelOf(subject);
    contestants.push(contestant({ subject, label, place, payload, direction, batch, pauseMs, trips }));
  }
  const row = {
    label: payload.label,
    params: { payload: payload.name, place, direction, batch, pauseMs },
    contestants,
  };
  const pace: Pace = {
    rounds: options.rounds ?? 7,
    roundMs: options.millis ?? 100,
    warmMs: options.warmMs ?? 300,
    startMs: START_MS,
  };
  const noise = new PageNoise();
  try {
    const [found] = await runRow(pace, row, noise, options);
    return {
      ...(found ?? { ...row, results: [] }),
      absent,
      noiseRatio: noise.result().ratio,
    };
  } finally {
    noise.stop();
  }
}

async function runRow(
  pace: Pace,
  row: Awaited<ReturnType<Scenario['rows']>>[number],
  noise: Quiet,
  { onProgress, signal }: CompareOptions,
): Promise<readonly Row[]> {
  const plan = { scenario: SCENARIO, rows: [row], pace };
  const total = costOf([plan]);
  let spent = 0;
  const share = (): number => Math.min(1, spent / total);
  const watcher = {
    title: () => {},
    advance: (units: number) => {
      spent += units;
      onProgress?.({ share: share() });
    },
    sampled: (subject: string, microseconds: number) => onProgress?.({ share: share(), subject, microseconds }),
  };
  return (await runScenario(plan, noise, watcher, () => signal?.aborted === true)).rows;
}

const SCENARIO: Scenario = {
  name: 'page',
  title: 'Measured in a page',
  seed: '',
  unit: 'us',
  better: 'lower',
  note: '',
  baseline: 'native-port',
  rows: () => [],
};

export interface MeasureOptions extends Omit<CompareOptions, 'subjects'> {
  readonly subject: string;
}

export interface Measured extends Result {
  readonly perSecond: number;
  readonly bytesPerSecond: number;
}

/**
 * Measures one contender alone. Rejects with what it failed of, and with the reason of `signal` when that came before the first round
 * was over.
 */
export async function measure(options: MeasureOptions): Promise<Measured> {
  const { results, absent } = await compare({ ...options, subjects: [options.subject] });
  const [result] = results;
  if (absent.length > 0) throw new Error(`${options.subject} cannot take part: ${absent[0]!.reason}`);
  if (result === undefined || result.samples.length === 0) {
    options.signal?.throwIfAborted();
    throw new Error(`${options.subject}: ${result?.note ?? 'nothing was measured'}`);
  }
  const perSecond = 1e6 / result.median;
  return { ...result, perSecond, bytesPerSecond: perSecond * payloadNamed(options.payload).bytes };
}
