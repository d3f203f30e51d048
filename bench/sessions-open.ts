// What a channel costs before its first message: made and opened at both ends, in one thread or by handing one end to a
// worker. Channels are opened in batches and closed between them; closing is timed by itself.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { BenchOptions, Contestant, Sample, Session } from './contest.ts';
import { CpuMeter } from './cpu.ts';
import { withDeadline } from './deadline.ts';
import { heapBytes } from './heap.ts';
import type { OpeningOrder } from './opening.ts';
import { ROUND_DEADLINE_MS } from './sessions.ts';
import { type Closable, labelOf, type Opener, type ThreadSubject } from './subject.ts';

const BATCH = 100;
/** Enough for the memory of one to show, few enough to be ordinary. */
const KEPT = 1000;

/** Where the other ends are opened. */
interface Place {
  /** Opens `count` channels, and resolves when all are there at both ends; adds what this thread holds to `ends`. */
  open(count: number, ends: Closable[]): Promise<boolean>;
  /** Closes the far ends; those of this thread are the caller's. */
  close(): Promise<void>;
  stop(): Promise<void>;
}

/** What was put off to the next turn is part of the price: it is paid before the program gets to anything else. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function sameThread(opener: Opener): Place {
  return {
    open: async (count, ends) => {
      for (let i = 0; i < count; i++) {
        const { near, data } = opener.open();
        ends.push(near, opener.attach(data));
      }
      await nextTurn();
      return true;
    },
    close: nextTurn,
    stop: async () => {},
  };
}

async function otherThread(opener: Opener, subject: string, options: BenchOptions): Promise<Place> {
  const worker = new Worker(new URL('./opening.js', import.meta.url), { workerData: { subject, options } });
  const answer = async (): Promise<unknown> => {
    const [value] = await withDeadline(once(worker, 'message'), ROUND_DEADLINE_MS, 'the worker did not answer');
    return value;
  };
  const post = (order: OpeningOrder, transfer: readonly unknown[] = []): void =>
    worker.postMessage(order, transfer as never);
  await answer();
  return {
    open: async (count, ends) => {
      for (let i = 0; i < count; i++) {
        const { near, data, transfer } = opener.open();
        ends.push(near);
        post({ data }, transfer);
      }
      const answered = answer();
      post({ answerAt: count });
      return (await answered) === count;
    },
    close: async () => {
      const answered = answer();
      post('close');
      await answered;
    },
    stop: async () => void (await worker.terminate()),
  };
}

class OpenSession implements Session {
  readonly #place: Place;
  readonly #batch: number;
  #heapEach: number | undefined;
  #bytesEach: number | undefined;

  constructor(place: Place, batch: number) {
    this.#place = place;
    this.#batch = batch;
  }

  /** The memory of one channel that nothing was sent through, measured once: nothing else was done in this process. */
  async weigh(heapToo: boolean): Promise<void> {
    await this.#openAndClose(this.#batch);
    const heapBefore = await heapBytes();
    const before = process.memoryUsage().rss;
    const ends: Closable[] = [];
    await this.#place.open(KEPT, ends);
    this.#bytesEach = Math.max(0, (process.memoryUsage().rss - before) / KEPT);
    const heap = await heapBytes();
    if (heapToo && heap !== undefined) this.#heapEach = Math.max(0, (heap - heapBefore!) / KEPT);
    await this.#close(ends);
  }

  async #close(ends: readonly Closable[]): Promise<number> {
    const began = performance.now();
    for (const end of ends) end.close();
    const ms = performance.now() - began;
    await this.#place.close();
    return ms;
  }

  async #openAndClose(count: number): Promise<{ openMs: number; closeMs: number; checked: boolean }> {
    const ends: Closable[] = [];
    const began = performance.now();
    const checked = await this.#place.open(count, ends);
    const openMs = performance.now() - began;
    return { openMs, closeMs: await this.#close(ends), checked };
  }

  async round(ms: number): Promise<Sample> {
    const end = performance.now() + ms;
    const meter = new CpuMeter();
    const began = performance.now();
    let openMs = 0;
    let closeMs = 0;
    let count = 0;
    let checked = true;
    do {
      const batch = await this.#openAndClose(this.#batch);
      openMs += batch.openMs;
      closeMs += batch.closeMs;
      checked &&= batch.checked;
      count += this.#batch;
    } while (performance.now() < end);
    const wallMs = performance.now() - began;
    return {
      value: (openMs * 1000) / count,
      checked,
      cpuUs: meter.stop(),
      messages: count,
      wallMs,
      extra: { 'close()': (closeMs * 1000) / count },
      ...(this.#bytesEach !== undefined && { perUnitBytes: this.#bytesEach }),
      heapUnitBytes: this.#heapEach,
    };
  }

  async stop(): Promise<void> {
    await this.#place.stop();
  }
}

export interface OpenOptions {
  readonly subject: ThreadSubject;
  readonly options: BenchOptions;
  readonly handOver: boolean;
  /** A process of its own, whose growth tells the memory of a channel. */
  readonly alone: boolean;
}

/** Microseconds per channel, both ends open. */
export function opens({ subject, options, handOver, alone }: OpenOptions): Contestant {
  return {
    subject: subject.name,
    label: labelOf(subject, options),
    start: async () => {
      const opener = await subject.opener!(options);
      const place = handOver ? await otherThread(opener, subject.name, options) : sameThread(opener);
      const session = new OpenSession(place, alone ? BATCH : 4);
      if (alone) await session.weigh(!handOver);
      return session;
    },
  };
}
