// What the frame asks of a scenario: rows, and in each row contestants that can be started, run for a round, stopped.
// The frame knows nothing about threads, processes or compilers; the scenarios know nothing about rounds or medians.

import type { Wait } from './wait.ts';

/** One measurement, in the scenario's unit. */
export interface Sample {
  readonly value: number;
  /** Both ends agreed on the number of messages and on their checksum. */
  readonly checked: boolean;
  /** Processor microseconds of everybody involved, and over how many messages and how much time. */
  readonly cpuUs?: number | undefined;
  readonly messages?: number;
  readonly wallMs?: number;
  readonly peakBytes?: number;
  readonly perUnitBytes?: number;
  readonly heapUnitBytes?: number | undefined;
  readonly extra?: Readonly<Record<string, number>>;
  /** `extra` covers all rounds so far, so that the last one stands for the row. */
  readonly cumulative?: boolean;
}

/** A contestant at the start line: threads or processes run, nothing is measured yet. */
export interface Session {
  /** Runs for about `ms` (a session with a fixed amount of work may ignore it) and reports. */
  round(ms: number): Promise<Sample>;
  /** Rounds so far were warm-up: forgets what it gathered over rounds. */
  warmedUp?(): void;
  /** Each round begins with new workers, or in a process of its own: there is nothing to warm up. */
  readonly cold?: boolean;
  stop(): Promise<void> | void;
}

export interface Contestant {
  readonly subject: string;
  readonly label: string;
  readonly note?: string;
  /** How its ends wait, where they do. */
  readonly wait?: Wait;
  start(): Promise<Session>;
}

export interface RowPlan {
  readonly label: string;
  readonly params: Readonly<Record<string, string | number>>;
  readonly contestants: readonly Contestant[];
}

/** What the user asked for, resolved once by the command line. */
export interface Setting {
  readonly size: 'full' | 'quick' | 'smoke';
  /** Names or name prefixes (`native-port` takes all its variants); empty means everybody. */
  readonly subjects: readonly string[];
  /** Payload names; empty means the scenario's own choice. */
  readonly payloads: readonly string[];
  readonly options: BenchOptions;
  /** Name of the scenario whose rows are being planned. */
  readonly scenario?: string;
}

export interface BenchOptions {
  /** Where the original packages are, when the user has them. */
  readonly sabMessagePort?: string | undefined;
  readonly nxteditionShared?: string | undefined;
}

export interface Pace {
  readonly rounds: number;
  readonly roundMs: number;
  /** Work before the first round that counts: until everything is compiled, which takes round trips longer. */
  readonly warmMs: number;
  /** What starting and stopping a contestant takes, for the plan. */
  readonly startMs: number;
}

export interface Scenario {
  readonly name: string;
  readonly title: string;
  readonly seed: string;
  readonly unit: string;
  readonly better: 'higher' | 'lower';
  readonly note: string;
  readonly baseline: string;
  /** Another number or length of rounds than usual, where the table asks for it. */
  pace?(setting: Setting): Partial<Pace>;
  /** The scenario whose samples, scaled, are this table too: with both in one run, only that one is measured. */
  readonly derived?: { readonly from: string; scale(params: Readonly<Record<string, string | number>>): number };
  rows(setting: Setting): RowPlan[] | Promise<RowPlan[]>;
  /** The rows as they run in a process of their own, for scenarios whose `rows` only start such processes. */
  readonly inner?: (setting: Setting) => Promise<RowPlan[]>;
}

/** Picks by size of the run, so that a scenario reads as a table of its sizes. */
export function sized<T>(setting: Setting, choices: { full: T; quick: T; smoke: T }): T {
  return choices[setting.size];
}
