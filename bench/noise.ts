// The machine's own noise: a fixed piece of arithmetic, timed while nothing else of ours runs.
import type { Noise } from './schema.ts';
import { median, quantile } from './stats.ts';

/** Above this the machine was not ours alone. Two idle cores here stay under 1.1. */
const LIMIT = 1.25;
const STEPS = 2_000_000;

export class NoiseProbe {
  readonly #probesMs: number[] = [];

  constructor() {
    for (let i = 0; i < 5; i++) spin();
  }

  probe(): void {
    const start = performance.now();
    spin();
    this.#probesMs.push(performance.now() - start);
  }

  result(): Noise {
    const probesMs = this.#probesMs.map((ms) => Math.round(ms * 1000) / 1000);
    const ratio = probesMs.length === 0 ? 1 : quantile(probesMs, 0.9) / Math.min(...probesMs);
    return {
      probesMs,
      medianMs: probesMs.length === 0 ? 0 : median(probesMs),
      ratio: Math.round(ratio * 100) / 100,
      bad: ratio > LIMIT,
      limit: LIMIT,
    };
  }
}

/** A chain of dependent multiplications: no memory, no allocation, nothing for the compiler to drop. */
function spin(): number {
  let x = 1;
  for (let i = 0; i < STEPS; i++) x = (Math.imul(x, 1664525) + 1013904223) | 0;
  sink = x;
  return x;
}

export let sink = 0;
