// The noise probe of a page: a worker of its own spins while the page does. ../../noise.ts is the same for Node.
import { aloneMs, noiseOf, spin, timed } from '../../noise-spin.ts';
import type { Quiet } from '../../run.ts';
import type { Noise } from '../../schema.ts';

/** A page is not told how busy its process is: compilers and collectors are given this long. */
const SETTLE_MS = 20;

export class PageNoise implements Quiet {
  readonly #helper: Worker = new Worker(new URL('./workers/noise.js', import.meta.url), { type: 'module' });
  readonly #aloneMs: number = aloneMs();
  readonly #probesMs: number[] = [];

  async probe(): Promise<void> {
    await this.settle(SETTLE_MS);
    const helped = new Promise((resolve) => this.#helper.addEventListener('message', resolve, { once: true }));
    this.#helper.postMessage('spin');
    this.#probesMs.push(timed(spin));
    await helped;
  }

  settle(limitMs: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, Math.min(limitMs, SETTLE_MS)));
  }

  stop(): void {
    this.#helper.terminate();
  }

  result(): Noise {
    return noiseOf(this.#probesMs, this.#aloneMs);
  }
}
