// One end at work: asks, echoes, sends or receives, in the page or in a worker, and says what came and how long it took.
import { consume, echo, parkedRoundTrip, roundTrips, stream } from '../../drivers.ts';
import { digest, type Load, type Tally } from '../../loads.ts';
import type { PageEnd } from './subject.ts';

export interface Task {
  readonly do: 'ask' | 'echo' | 'send' | 'receive';
  /** Messages, or round trips. */
  readonly count: number;
  /** What comes back: the message itself, or only what it weighs. */
  readonly answer?: 'same' | 'weight';
  /** So many are under way at once; `count` is a multiple of it. */
  readonly batch?: number;
  /** Silence before each round trip, which is timed without it. */
  readonly pauseMs?: number;
  /** Adds up every field of what is received. */
  readonly deep?: boolean;
}

export interface Done {
  readonly tally: Tally;
  /** Of the work alone; a receiver's, from its first look on. */
  readonly seconds: number;
  /** Of each round trip after a pause. */
  readonly timesUs: readonly number[];
}

const now = (): number => performance.now();

export class Player {
  readonly end: PageEnd;
  readonly load: Load;
  readonly #blocks: boolean;

  constructor(end: PageEnd, load: Load, blocks: boolean) {
    this.end = end;
    this.load = load;
    this.#blocks = blocks;
  }

  /** @param load other messages than the player's own, for what nobody has seen */
  async play(task: Task, load: Load = this.load): Promise<Done> {
    await this.end.ready;
    const timesUs: number[] = [];
    const start = now();
    const tally = await this.#tally(task, task.deep ? { ...load, weigh: digest } : load, timesUs);
    return { tally, seconds: (now() - start) / 1000, timesUs };
  }

  #tally(task: Task, load: Load, timesUs: number[]): Tally | Promise<Tally> {
    const { end } = this;
    const { count } = task;
    switch (task.do) {
      case 'send':
        return stream(end, load, count, nobodyLooks).then(() => ({ count, sum: 0 }));
      case 'receive':
        return end.serve ? serve(end, load, count, () => undefined) : consume(end, load, count, nobodyLooks);
      case 'echo': {
        const answer = (value: unknown): unknown => (task.answer === 'weight' ? load.weigh(value) : value);
        return end.serve ? serve(end, load, count, answer) : echo(end, load, count, this.#blocks, answer);
      }
      case 'ask': {
        const answers = task.answer === 'weight' ? { ...load, weigh: (value: unknown) => value as number } : load;
        if (task.pauseMs !== undefined) return this.#afterPauses(task.pauseMs, answers, count, timesUs);
        if (task.batch !== undefined && task.batch > 1) return batches(end, answers, count, task.batch, this.#blocks);
        return roundTrips(end, answers, count, this.#blocks);
      }
    }
  }

  async #afterPauses(pauseMs: number, load: Load, count: number, timesUs: number[]): Promise<Tally> {
    let sum = 0;
    for (let i = 0; i < count; i++) {
      const item = load.items[i & load.mask];
      timesUs.push((await parkedRoundTrip(this.end, item, this.#blocks, pauseMs)) / 1000);
      sum = (sum + load.weigh(item)) | 0;
    }
    return { count, sum };
  }
}

/** `consume` publishes its progress for senders that have no bound; here what is under way is bounded by the task. */
const nobodyLooks = new Int32Array(1);

/** Answers calls until `count` of them have come. */
function serve(end: PageEnd, load: Load, count: number, answer: (value: unknown) => unknown): Promise<Tally> {
  return new Promise((resolve) => {
    let seen = 0;
    let sum = 0;
    end.serve!((value) => {
      sum = (sum + load.weigh(value)) | 0;
      if (++seen === count) resolve({ count, sum });
      return answer(value);
    });
  });
}

/** Posts `batch` messages in one go, waits until all have come back, and goes on with the next. */
async function batches(end: PageEnd, load: Load, count: number, batch: number, blocks: boolean): Promise<Tally> {
  const { items, mask } = load;
  let sum = 0;
  if (end.ask) {
    for (let i = 0; i < count; i += batch) {
      const calls = Array.from({ length: batch }, (_, j) => end.ask!(items[(i + j) & mask]));
      for (const value of await Promise.all(calls)) sum = (sum + load.weigh(value)) | 0;
    }
    return { count, sum };
  }
  const post = (i: number): void | Promise<void> => {
    const last = i + batch - 1;
    for (let j = i; j < last; j++) end.post!(items[j & mask]);
    return end.post!(items[last & mask]);
  };
  if (blocks) {
    for (let i = 0; i < count; i += batch) {
      const left = post(i);
      if (left instanceof Promise) await left;
      for (let j = 0; j < batch; j++) sum = (sum + load.weigh(end.read!())) | 0;
    }
    return { count, sum };
  }
  return new Promise((resolve) => {
    let seen = 0;
    end.listen!((value) => {
      sum = (sum + load.weigh(value)) | 0;
      if (++seen === count) {
        end.listen!(null);
        resolve({ count, sum });
      } else if (seen % batch === 0) post(seen);
    });
    post(0);
  });
}
