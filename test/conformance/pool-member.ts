// A member of the pools of pool.test.ts, as a thread or as a process; `workerData` says how it begins.
import process from 'node:process';
import { isMainThread, threadId, workerData } from 'node:worker_threads';
import { parentPort } from '../../src/index.ts';
import { parentPort as parentProcess } from '../../src/process/index.ts';
import { currentCall, expose, type Reference, reference } from '../../src/rpc/index.ts';

/** Where this thread says what it does, and waits: words that the test has, too. */
type Words = Int32Array;

export class MemberApi {
  #running = 0;
  /** The most tasks that have run here at once. */
  #most = 0;

  echo<T>(value: T): T {
    return value;
  }
  same(value: number): number {
    return value;
  }
  who(): number {
    return isMainThread ? process.pid : threadId;
  }
  /** Counts that it runs, at `words[0]`, and computes until `words[1]` is set. Looks at no signal. */
  compute(words: Words): number {
    Atomics.add(words, 0, 1);
    while (Atomics.load(words, 1) === 0);
    return this.who();
  }
  /** The same, and ends when it is interrupted. */
  obedient(words: Words): string {
    const call = currentCall();
    Atomics.add(words, 0, 1);
    while (!call.interrupted);
    Atomics.add(words, 2, 1);
    return 'interrupted';
  }
  /** Waits until `words[1]` is set, or its signal says so if `obeys`. */
  async wait(words: Words, obeys = true): Promise<number> {
    const { signal } = currentCall();
    this.#running++;
    this.#most = Math.max(this.#most, this.#running);
    Atomics.add(words, 0, 1);
    while (Atomics.load(words, 1) === 0 && !(obeys && signal.aborted)) await new Promise((turn) => setTimeout(turn, 1));
    if (signal.aborted) Atomics.add(words, 2, 1);
    this.#running--;
    return this.who();
  }
  most(): number {
    return this.#most;
  }
  /** Does not end when it is told so, nor by itself. */
  deaf(): number {
    process.on('SIGTERM', () => {});
    setInterval(() => {}, 1000);
    return this.who();
  }
  crash(words: Words): Promise<never> {
    Atomics.add(words, 0, 1);
    setTimeout(() => {
      throw new RangeError('on purpose');
    });
    return new Promise(() => {});
  }
  exit(): Promise<never> {
    setTimeout(() => process.exit(3));
    return new Promise(() => {});
  }
  fail(): never {
    throw new TypeError('it failed');
  }
  async ask<R>(callback: () => R): Promise<R> {
    return await callback();
  }
  async meet(callback: () => unknown): Promise<number> {
    await callback();
    return this.who();
  }
  async *count(to: number): AsyncGenerator<number> {
    for (let i = 0; i < to; i++) yield i;
  }
  async *slowly(to: number): AsyncGenerator<number> {
    for (let i = 0; i < to; i++) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      yield i;
    }
  }
  async sum(values: AsyncIterable<number>): Promise<number> {
    let all = 0;
    for await (const value of values) all += value;
    return all;
  }
  home(): Reference<{ who(): number }> {
    return reference({ who: () => this.who() });
  }
}

if (isMainThread) expose(new MemberApi(), parentProcess());
else if (workerData === 'throws') throw new RangeError('cannot begin');
else if (workerData === 'hangs') for (;;);
else if (workerData === 'throws late') {
  parentPort();
  throw new RangeError('cannot go on');
} else expose(new MemberApi(), parentPort());
