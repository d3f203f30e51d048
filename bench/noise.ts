// The machine's own noise: a fixed piece of arithmetic on two threads at once, timed while nothing else of ours runs.
// Two, because contestants need two cores: a stranger who keeps one core of two busy doesn't slow a single thread.
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { aloneMs, GO, noiseOf, spin, timed } from './noise-spin.ts';
import type { Noise } from './schema.ts';
import { settle } from './settle.ts';

const SETTLE_MS = 50;

export class NoiseProbe {
  readonly #word: Int32Array;
  readonly #helper: Worker;
  readonly #together: boolean = availableParallelism() > 1;
  readonly #aloneMs: number;
  readonly #probesMs: number[] = [];

  private constructor(word: Int32Array, helper: Worker) {
    this.#word = word;
    this.#helper = helper;
    this.#aloneMs = aloneMs();
  }

  static async start(): Promise<NoiseProbe> {
    const word = new Int32Array(new SharedArrayBuffer(4));
    const helper = new Worker(new URL('./noise-thread.js', import.meta.url), { workerData: word });
    await once(helper, 'message');
    return new NoiseProbe(word, helper);
  }

  /** Waits until this process is quiet, then measures whether the rest of the machine is. */
  async probe(): Promise<void> {
    await this.settle(SETTLE_MS);
    this.#probesMs.push(timed(() => this.#spinTogether()));
  }

  settle(limitMs: number): Promise<void> {
    return settle(limitMs);
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
    return noiseOf(this.#probesMs, this.#aloneMs);
  }
}
