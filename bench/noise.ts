// The machine's own noise: a fixed piece of arithmetic on two threads at once, timed while nothing else of ours runs.
// Two, because contestants need two cores: a stranger who keeps one core of two busy doesn't slow a single thread.
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { GO, spin } from './noise-spin.ts';
import type { Noise } from './schema.ts';
import { settle } from './settle.ts';
import { median, quantile } from './stats.ts';

/** Above this the machine was not ours alone. Two idle cores here stay under 1.15, a stranger's busy loop makes it 2. */
const LIMIT = 1.25;
const SETTLE_MS = 50;
const ALONE_PROBES = 11;

export class NoiseProbe {
  readonly #word: Int32Array;
  readonly #helper: Worker;
  readonly #together: boolean = availableParallelism() > 1;
  readonly #aloneMs: number;
  readonly #probesMs: number[] = [];

  private constructor(word: Int32Array, helper: Worker) {
    this.#word = word;
    this.#helper = helper;
    for (let i = 0; i < ALONE_PROBES; i++) spin();
    this.#aloneMs = median(Array.from({ length: ALONE_PROBES }, () => timed(spin)));
  }

  static async start(): Promise<NoiseProbe> {
    const word = new Int32Array(new SharedArrayBuffer(4));
    const helper = new Worker(new URL('./noise-thread.js', import.meta.url), { workerData: word });
    await once(helper, 'message');
    return new NoiseProbe(word, helper);
  }

  /** Waits until this process is quiet, then measures whether the rest of the machine is. */
  async probe(): Promise<void> {
    await settle(SETTLE_MS);
    this.#probesMs.push(timed(() => this.#spinTogether()));
  }

  #spinTogether(): void {
    if (this.#together) {
      Atomics.store(this.#word, 0, GO);
      Atomics.notify(this.#word, 0);
    }
    spin();
    Atomics.wait(this.#word, 0, GO, 1000);
  }

  async stop(): Promise<void> {
    await this.#helper.terminate();
  }

  result(): Noise {
    const probesMs = this.#probesMs.map((ms) => Math.round(ms * 1000) / 1000);
    const ratio = probesMs.length === 0 ? 1 : quantile(probesMs, 0.9) / this.#aloneMs;
    return {
      probesMs,
      medianMs: probesMs.length === 0 ? 0 : median(probesMs),
      ratio: Math.round(ratio * 100) / 100,
      bad: ratio > LIMIT,
      limit: LIMIT,
    };
  }
}

function timed(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}
