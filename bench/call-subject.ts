// What a contender for calls brings: functions of a worker, as its own documentation has them called.
import { once } from 'node:events';
import { type MessagePort, Worker } from 'node:worker_threads';
import { withDeadline } from './deadline.ts';
import type { Missing, Wait } from './subject.ts';

/** The caller's side of one worker (of all workers of a pool). What a contender cannot do is not there. */
export interface Caller {
  /** Adds over there. */
  add?(a: number, b: number): Promise<number>;
  /** Answered with its argument. */
  echo?(value: unknown): Promise<unknown>;
  /** `add` with this thread blocked until it is answered. */
  addBlocked?(a: number, b: number): number;
  /** What an async generator over there yields: the numbers below `count`. */
  items?(count: number): Promise<AsyncIterable<number>> | AsyncIterable<number>;
  /** One call, during which the worker calls `each` with the numbers below `count`, one after the other, and adds up what it answers. */
  callBack?(each: (n: number) => number, count: number): Promise<number>;
  /** A task with nothing to do. */
  task?(): Promise<unknown>;
  close(): Promise<void> | void;
}
export type Ability = Exclude<keyof Caller, 'close'>;

export interface CallSubject {
  readonly name: string;
  readonly label: string;
  /** How it is used here and why that is its best use. */
  readonly use: string;
  /** In which rows it takes part. */
  readonly can: readonly Ability[];
  readonly wait: Wait;
  /** Full runs only. */
  readonly fullOnly?: boolean;
  absent?(): Promise<Missing | undefined>;
  open(): Promise<Caller>;
  /** Worker thread: exposes what is called at what `open` sent over. */
  serve?(data: unknown): Promise<void> | void;
}

/** What a worker is started with. */
export interface CallWorkerData {
  readonly subject: string;
  readonly data: unknown;
}

/** A worker in which `serve` of this contender has run. */
export async function callWorker(subject: string, data: unknown, transferList: readonly unknown[]): Promise<Worker> {
  const workerData: CallWorkerData = { subject, data };
  const worker = new Worker(new URL('./call-worker.js', import.meta.url), {
    workerData,
    transferList: transferList as MessagePort[],
  });
  await withDeadline(once(worker, 'message'), 20_000, `the worker of ${subject} did not start`);
  return worker;
}

/** What all workers offer, for those who expose an object. */
export interface Api {
  add(a: number, b: number): number;
  echo(value: unknown): unknown;
  items(count: number): AsyncGenerator<number, void>;
  callBack(each: (n: number) => Promise<number>, count: number): Promise<number>;
}
export const api: Api = {
  add: (a, b) => a + b,
  echo: (value) => value,
  items: numbers,
  async callBack(each, count) {
    let sum = 0;
    for (let i = 0; i < count; i++) sum += await each(i);
    return sum;
  },
};

export async function* numbers(count: number): AsyncGenerator<number, void> {
  for (let i = 0; i < count; i++) yield i;
}
