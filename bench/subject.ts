// What a contender brings. One file per contender under subjects/; it says what it can carry and gives both ends.
// Drivers (drivers.ts) turn the small calls of an End into the loops of a scenario; a contender whose best use needs
// its own loop (batches, zero copy, back-pressure of its own) brings `send` and `receive` itself.
import type { Worker } from 'node:worker_threads';
import type { BenchOptions } from './contest.ts';
import type { Form, Load, Tally } from './loads.ts';
import type { Wait } from './wait.ts';

export type { Wait };

/** A shared counter with which receivers tell how far they are, for senders that have no back-pressure of their own. */
export type Progress = Int32Array;

/** One side of a channel, in the thread that calls it. */
export interface End {
  /**
   * Hands over one message now; does not wait for the reader. A promise says that it leaves behind the microtasks only: who blocks next awaits it.
   */
  post?(value: unknown): void | Promise<void>;
  /** Delivers by the event loop until the next call of `listen`. */
  listen?(handler: ((value: unknown) => void) | null): void;
  /** Blocks this thread until there is a message. */
  read?(): unknown;
  /** A call that is answered with its argument, where the contender thinks in calls. */
  ask?(value: unknown): Promise<unknown>;
  /** Streams `count` messages of the load from number `from` on, in the contender's best way. */
  send?(load: Load, count: number, progress: Progress, from: number): void | Promise<void>;
  /** Consumes `count` messages of the load, likewise. */
  receive?(load: Load, count: number, progress: Progress): Tally | Promise<Tally>;
  close(): void | Promise<void>;
}

export interface Connection {
  readonly end: End;
  /** Travels to the worker, where `attach` gets it. */
  readonly data: unknown;
  readonly transfer?: readonly unknown[];
}

export interface ThreadSubject {
  readonly name: string;
  readonly label: string;
  /** How it is used here and why that is its best use: one sentence, printed in the docs and the report. */
  readonly use: string;
  /** What it can stream. */
  readonly forms: readonly Form[];
  /** How its ends can wait in a round trip; empty when it only goes one way. */
  readonly waits: readonly Wait[];
  /** Beginnings of the names of the scenarios it belongs into, unless it is asked for by its full name. */
  readonly onlyIn?: readonly string[];
  /** Likewise for quick and smoke runs, which have no time for near relatives everywhere. */
  readonly quickIn?: readonly string[];
  /** One post reaches every worker that holds the channel. */
  readonly broadcasts?: boolean;
  /** Any number of channels may lead to the same worker. */
  readonly perChannel?: boolean;
  /** How its receiver waits while a stream comes in. */
  readonly streamWait?: Wait;
  /** The modules that a worker loads to use it, as URLs. */
  imports?(options: BenchOptions): readonly string[];
  /** A worker that is written to once, for programs that make many; where the contender has such a use. */
  life?(options: BenchOptions): Promise<Life> | Life;
  /** A channel with both ends and nothing around them, to time its opening. */
  opener?(options: BenchOptions): Promise<Opener> | Opener;
  /** Why it cannot take part, or undefined when it can. */
  absent?(options: BenchOptions): Promise<Missing | undefined>;
  /** Whether a stand-in has taken the original's seat; its label says so. */
  standIn?(options: BenchOptions): boolean;
  /** Main thread. `worker` is for contenders that are the worker's own channel. */
  connect(context: ConnectContext): Promise<Connection> | Connection;
  /** Worker thread. */
  attach(context: AttachContext): Promise<End> | End;
}

/** A worker that reads one message, tells its parent the `id` of it by parentPort, and ends by itself. */
export interface Life {
  /** The worker's whole source, an ES module. */
  readonly source: string;
  /** The parent's side of one such worker. */
  open(): {
    readonly workerOptions: object;
    write(worker: Worker, message: unknown): void;
    close(): void;
  };
}

/** An end that nothing was done with yet. */
export interface Closable {
  close(): void;
}

/** How a channel is made and its other end opened, in the contender's own words, without the frame's. */
export interface Opener {
  open(): { readonly near: Closable; readonly data: unknown; readonly transfer: readonly unknown[] };
  /** The other end, in this thread or in the one that `data` has come to. */
  attach(data: unknown): Closable;
}

export interface ConnectContext {
  readonly worker: Worker;
  readonly wait: Wait;
  readonly load: Load;
  readonly options: BenchOptions;
  /** How many channels there will be, where that is more than one: a hint to ask for small buffers. */
  readonly ports?: number;
}

export interface AttachContext {
  readonly data: unknown;
  readonly wait: Wait;
  readonly load: Load;
  readonly options: BenchOptions;
}

export interface Missing {
  readonly reason: string;
  readonly remedy?: string;
}

/** The label of a contender in this run. */
export function labelOf(subject: ThreadSubject, options: BenchOptions): string {
  return subject.standIn?.(options) ? `${subject.label} (stand-in)` : subject.label;
}
