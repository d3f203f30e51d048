// The shape of one results file: one run of the benchmark on one machine under one runtime. The frame writes it
// (--json), bench/report/ draws it. Every number keeps its samples, so that a reader can judge the spread himself.
//
//     Results
//       scenarios[]            one table of a seed, or one question of ours
//         rows[]               one line of that table: one payload, one load, one configuration
//           results[]          one contender in that line; all of them ran interleaved in the same rounds

import type { Wait } from './wait.ts';

/** Version of the shape. A reader refuses a number that it does not know. */
export const SCHEMA = 1;

export interface Results {
  readonly schema: typeof SCHEMA;
  /** When the run began, ISO 8601, UTC. */
  readonly date: string;
  /** What to type to repeat it. */
  readonly command: string;
  /** The commit that was measured; ends in `+` when the work tree had changes; '' when unknown. */
  readonly commit: string;
  /** True for a --quick run: fewer rounds, shorter ones. */
  readonly quick: boolean;
  /** True when the run was interrupted: what is here was measured, what is missing was not. */
  readonly partial: boolean;
  /** Wall time of the whole run. */
  readonly seconds: number;
  readonly machine: Machine;
  readonly runtime: Runtime;
  readonly noise: Noise;
  readonly scenarios: readonly ScenarioResults[];
  /** Contenders that could not take part in this run, and what would bring them in. */
  readonly absent: readonly Absent[];
}

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly os: string;
  readonly kernel: string;
  readonly arch: string;
}

export interface Runtime {
  /** 'node', 'bun', 'deno'; of a page 'chromium', 'firefox', 'webkit'. */
  readonly name: string;
  readonly version: string;
  /** The engine under it: 'v8 13.6.233' or 'jsc ...'; of a page what its browser says of itself. */
  readonly engine: string;
  /** Versions of the contenders' packages and servers that took part, by name. */
  readonly packages: Readonly<Record<string, string>>;
}

/**
 * A fixed piece of arithmetic, timed between rounds while nothing else of ours runs, on two threads at once. On a quiet
 * machine that takes as long as on one; where it takes longer, somebody else had the cores, and the rounds nearby are
 * worth less.
 */
export interface Noise {
  /** Milliseconds of each probe, in order. */
  readonly probesMs: readonly number[];
  readonly medianMs: number;
  /** 90th percentile over what one thread needed alone when the run began: 1 is silence. */
  readonly ratio: number;
  /** True when `ratio` passed `limit`: do not quote this run. */
  readonly bad: boolean;
  readonly limit: number;
}

export interface Absent {
  readonly subject: string;
  readonly reason: string;
  /** A command that would bring it in, when there is one. */
  readonly remedy?: string;
}

export interface ScenarioResults {
  /** `round-trip`, `shared-rate`, ... */
  readonly name: string;
  /** One sentence for a heading. */
  readonly title: string;
  /** The seed document whose table this reproduces ('000', '001', '002', '004'), or '' for our own. */
  readonly seed: string;
  /** Unit of every sample: 'msg/s', 'B/s', 'us', 'ns', 'ms', 'bytes', 'instructions/message', ... */
  readonly unit: string;
  readonly better: 'higher' | 'lower';
  /** What is measured, and what the numbers do not say. Plain text. */
  readonly note: string;
  /** The subject that `ratio` compares with, where it took part in the row. */
  readonly baseline: string;
  readonly rows: readonly Row[];
}

export interface Row {
  /** Unique within the scenario: '64 B bytes', '2x4 P=100'. */
  readonly label: string;
  readonly params: Readonly<Record<string, string | number>>;
  readonly results: readonly Result[];
}

export interface Result {
  /** Name of the file in bench/subjects, possibly with a mode: 'native-port', 'millrace-port:block'. */
  readonly subject: string;
  /** The same for people: 'MessagePort, object'. */
  readonly label: string;
  /** How its two ends waited; absent where nobody waits, and in files from before 2026-11-22. */
  readonly wait?: Wait;
  /** One number per round, in order, in the scenario's unit. Empty when the subject failed: see `note`. */
  readonly samples: readonly number[];
  readonly median: number;
  /** Lower and upper quartile from eight rounds up, smallest and largest sample below that. */
  readonly low: number;
  readonly high: number;
  /**
   * How many times better than the baseline this is, whatever the unit: 2 means twice the messages or half the time.
   * The median over rounds of the ratio within the round. Absent when the baseline did not take part.
   */
  readonly ratio?: number;
  readonly ratioLow?: number;
  readonly ratioHigh?: number;
  /** 'no difference' when the two spreads overlap. */
  readonly verdict?: Verdict;
  /** Both ends counted the same messages and the same checksum in every round. */
  readonly checked: boolean;
  readonly cpu?: CpuCost;
  readonly memory?: MemoryCost;
  /** Further figures of the same measurement, e.g. percentiles: name -> number, in the scenario's unit unless the name says another (extra.ts). */
  readonly extra?: Readonly<Record<string, number>>;
  readonly note?: string;
}

export type Verdict = 'better' | 'worse' | 'no difference' | 'baseline';

export interface CpuCost {
  /** Processor time of all threads (and processes, where the contender has some) per message or round trip, median. */
  readonly usPerMessage: number;
  /** Cores kept busy while it ran: 2 means two full cores. */
  readonly cores: number;
}

export interface MemoryCost {
  /** Highest resident size of the process seen during the measurement. */
  readonly peakBytes?: number;
  /** Memory kept per unit of the row (e.g. per port). */
  readonly perUnitBytes?: number;
  /** The part of it on the heap of the main thread's JavaScript, after a collection; absent where the runtime does not tell. */
  readonly heapUnitBytes?: number;
}
