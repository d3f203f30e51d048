// The loops of the scenarios, the same for every contender that does not bring its own.
import type { Load, Tally } from './loads.ts';
import type { End, Progress } from './subject.ts';

/** Receivers publish their count every so many messages: often enough to keep a sender going, rare enough to be free. */
const REPORT_EVERY = 32;

/** Messages that may be under way when the contender has no bound of its own: about 4 MiB of payload. */
export function windowOf(load: Load): number {
  return Math.max(64, Math.min(4096, Math.floor((4 << 20) / load.sizeBytes)));
}

/**
 * Streams with `post`, staying within the window: without it, most contenders would be timed growing a queue.
 * @param from messages sent before under the same order, for streams in several parts
 */
export async function stream(end: End, load: Load, count: number, progress: Progress, from = 0): Promise<void> {
  if (end.send) return end.send(load, count, progress, from);
  if (end.ask) return streamCalls(end, load, count);
  const { items, mask } = load;
  const window = windowOf(load);
  let allowed = window;
  for (let i = from; i < from + count; i++) {
    if (i >= allowed) allowed = awaitProgress(progress, i - window) + window;
    end.post!(items[i & mask]);
  }
}

/** Calls need no answer to go on: a window of them stays open. */
async function streamCalls(end: End, load: Load, count: number): Promise<void> {
  const { items, mask } = load;
  const open: Promise<unknown>[] = [];
  for (let i = 0; i < count; i++) {
    open.push(end.ask!(items[i & mask]));
    if (open.length === 256 || i === count - 1) {
      await Promise.all(open);
      open.length = 0;
    }
  }
}

/**
 * Blocks until the receiver has seen more than `seen` messages; returns how many it has seen. Throws when nothing
 * moves for 10 s: this thread's timers do not run meanwhile, so no other watchdog could.
 */
export function awaitProgress(progress: Progress, seen: number): number {
  for (let idleCount = 0; idleCount < 100; ) {
    const now = Atomics.load(progress, 0);
    if (now > seen) return now;
    if (Atomics.wait(progress, 0, now, 100) === 'timed-out') idleCount++;
  }
  throw new Error(`the receiver stands still after ${Atomics.load(progress, 0)} messages`);
}

/** Consumes a stream with `read` or `listen`. */
export function consume(end: End, load: Load, count: number, progress: Progress): Tally | Promise<Tally> {
  if (end.receive) return end.receive(load, count, progress);
  if (end.read && !end.listen) return consumeReads(end, load, count, progress);
  return new Promise((resolve) => {
    let seen = 0;
    let sum = 0;
    end.listen!((value) => {
      sum = (sum + load.weigh(value)) | 0;
      seen++;
      if ((seen & (REPORT_EVERY - 1)) === 0) report(progress, seen);
      if (seen === count) {
        end.listen!(null);
        resolve({ count: seen, sum });
      }
    });
  });
}

function consumeReads(end: End, load: Load, count: number, progress: Progress): Tally {
  let sum = 0;
  for (let seen = 1; seen <= count; seen++) {
    sum = (sum + load.weigh(end.read!())) | 0;
    if ((seen & (REPORT_EVERY - 1)) === 0) report(progress, seen);
  }
  return { count, sum };
}

function report(progress: Progress, seen: number): void {
  Atomics.store(progress, 0, seen);
  Atomics.notify(progress, 0);
}

/** Answers `count` messages, with themselves or what `answer` makes of them. `read` is used when this side of the configuration blocks. */
export function echo(
  end: End,
  load: Load,
  count: number,
  blocks: boolean,
  answer: (value: unknown) => unknown = (value) => value,
): Tally | Promise<Tally> {
  if (blocks) return echoBlocked(end, load, count, answer);
  let sum = 0;
  return new Promise((resolve) => {
    let seen = 0;
    end.listen!((value) => {
      sum = (sum + load.weigh(value)) | 0;
      end.post!(answer(value));
      if (++seen === count) {
        end.listen!(null);
        resolve({ count, sum });
      }
    });
  });
}

async function echoBlocked(end: End, load: Load, count: number, answer: (value: unknown) => unknown): Promise<Tally> {
  let sum = 0;
  for (let i = 0; i < count; i++) {
    const value = end.read!();
    sum = (sum + load.weigh(value)) | 0;
    const left = end.post!(answer(value));
    if (left instanceof Promise) await left;
  }
  return { count, sum };
}

/** Sends, waits for the answer, sends the next: `count` times. */
export async function roundTrips(end: End, load: Load, count: number, blocks: boolean): Promise<Tally> {
  const { items, mask } = load;
  let sum = 0;
  if (blocks) {
    for (let i = 0; i < count; i++) {
      const left = end.post!(items[i & mask]);
      if (left instanceof Promise) await left;
      sum = (sum + load.weigh(end.read!())) | 0;
    }
    return { count, sum };
  }
  if (end.ask) {
    for (let i = 0; i < count; i++) sum = (sum + load.weigh(await end.ask(items[i & mask]))) | 0;
    return { count, sum };
  }
  return new Promise((resolve) => {
    let seen = 0;
    end.listen!((value) => {
      sum = (sum + load.weigh(value)) | 0;
      if (++seen < count) return void end.post!(items[seen & mask]);
      end.listen!(null);
      resolve({ count, sum });
    });
    end.post!(items[0]);
  });
}

/** One round trip with a pause before it, timed without the pause: nanoseconds. Both readers are parked by then. */
export async function parkedRoundTrip(end: End, value: unknown, blocks: boolean, pauseMs: number): Promise<number> {
  if (blocks) {
    Atomics.wait(idle(), 0, 0, pauseMs);
    const start = performance.now();
    const left = end.post!(value);
    if (left instanceof Promise) await left;
    end.read!();
    return (performance.now() - start) * 1e6;
  }
  if (end.ask) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    const start = performance.now();
    await end.ask(value);
    return (performance.now() - start) * 1e6;
  }
  return new Promise((resolve) => {
    let start = 0;
    end.listen!(() => {
      const elapsed = (performance.now() - start) * 1e6;
      end.listen!(null);
      resolve(elapsed);
    });
    setTimeout(() => {
      start = performance.now();
      end.post!(value);
    }, pauseMs);
  });
}

let idleWord: Int32Array | undefined;

/** Made when it is needed: not every page has shared memory. */
function idle(): Int32Array {
  idleWord ??= new Int32Array(new SharedArrayBuffer(4));
  return idleWord;
}
