// Order statistics and verdicts. No means: one disturbed round must not move a published number.
import type { Verdict } from './schema.ts';

export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/** The value below which the fraction `q` (0..1) of `samples` lies, interpolated between neighbours. */
export function quantile(samples: readonly number[], q: number): number {
  if (samples.length === 0) return Number.NaN;
  const sorted = [...samples].sort((a, b) => a - b);
  const place = (sorted.length - 1) * q;
  const below = Math.floor(place);
  const above = Math.ceil(place);
  return sorted[below]! + (sorted[above]! - sorted[below]!) * (place - below);
}

export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5);
}

/** Median with quartiles from eight samples up; with fewer, quartiles would pretend, so the extremes stand there. */
export function spread(samples: readonly number[]): Spread {
  const few = samples.length < 8;
  return {
    median: median(samples),
    low: quantile(samples, few ? 0 : 0.25),
    high: quantile(samples, few ? 1 : 0.75),
  };
}

/** How many times better `samples` are than `baseline`, round by round, so that a disturbance of both cancels out. */
export function ratios(samples: readonly number[], baseline: readonly number[], better: 'higher' | 'lower'): number[] {
  const rounds = Math.min(samples.length, baseline.length);
  const found: number[] = [];
  for (let i = 0; i < rounds; i++) {
    found.push(better === 'higher' ? samples[i]! / baseline[i]! : baseline[i]! / samples[i]!);
  }
  return found;
}

export function verdict(subject: Spread, baseline: Spread, better: 'higher' | 'lower'): Verdict {
  if (subject.low <= baseline.high && baseline.low <= subject.high) return 'no difference';
  return subject.median > baseline.median === (better === 'higher') ? 'better' : 'worse';
}
