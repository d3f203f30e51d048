// The arithmetic of the noise probe, for both of its threads, in every runtime.
import type { Noise } from './schema.ts';
import { median, quantile } from './stats.ts';

/** Value of the shared word while the helper has to work. */
export const GO = 1;

const STEPS = 2_000_000;

/** A chain of dependent multiplications: no memory, no allocation, nothing for the compiler to drop. */
export function spin(): void {
  let x = 1;
  for (let i = 0; i < STEPS; i++) x = (Math.imul(x, 1664525) + 1013904223) | 0;
  sink = x;
}

export let sink = 0;

/** Above this the machine was not ours alone. Two idle cores here stay under 1.15, a stranger's busy loop makes it 2. */
const LIMIT = 1.25;
const ALONE_PROBES = 11;

/** Milliseconds of `work`. */
export function timed(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

/** What the arithmetic takes one thread alone, once it is compiled. */
export function aloneMs(): number {
  for (let i = 0; i < ALONE_PROBES; i++) spin();
  return median(Array.from({ length: ALONE_PROBES }, () => timed(spin)));
}

/** What the probes say of a run, beside what one thread needed alone when it began. */
export function noiseOf(probes: readonly number[], alone: number): Noise {
  const probesMs = probes.map((ms) => Math.round(ms * 1000) / 1000);
  const ratio = probesMs.length === 0 ? 1 : quantile(probesMs, 0.9) / alone;
  return {
    probesMs,
    medianMs: probesMs.length === 0 ? 0 : median(probesMs),
    ratio: Math.round(ratio * 100) / 100,
    bad: ratio > LIMIT,
    limit: LIMIT,
  };
}
