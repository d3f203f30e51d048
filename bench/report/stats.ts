// The two questions a report asks of samples: where is the middle, and could chance alone have moved it?

/** Middle of the samples; the mean of the two middle ones when their number is even. NaN for none. */
export function median(samples: readonly number[]): number {
  if (samples.length === 0) return Number.NaN;
  const sorted = [...samples].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

/** Middle of ratios: 2 and 1/2 average to 1, which an arithmetic mean would call 1.25. */
export function geometricMean(ratios: readonly number[]): number {
  if (ratios.length === 0) return Number.NaN;
  let sum = 0;
  for (const ratio of ratios) sum += Math.log(ratio);
  return Math.exp(sum / ratios.length);
}

/** Twice the average rank of each value in the pooled sample: doubled, so that ties keep it a whole number. */
function doubledRanks(pooled: readonly number[]): number[] {
  const order = pooled.map((_, index) => index).sort((a, b) => pooled[a]! - pooled[b]!);
  const ranks = new Array<number>(pooled.length);
  for (let from = 0; from < order.length; ) {
    let to = from;
    while (to + 1 < order.length && pooled[order[to + 1]!] === pooled[order[from]!]) to++;
    for (let at = from; at <= to; at++) ranks[order[at]!] = from + to + 2;
    from = to + 1;
  }
  return ranks;
}

/** Up to this many samples in both runs together the distribution is counted out; above, it is normal enough. */
const EXACT_SAMPLES_MAX = 40;

/**
 * Two-sided Mann-Whitney U test: the probability that two sets drawn from one and the same distribution would differ
 * in rank as much as these do. It asks for no bell curve, which benchmark samples don't have. Exact, ties included,
 * by counting every way to deal the pooled ranks (a permutation test on rank sums); with many samples the normal
 * approximation with continuity and tie correction.
 * Five samples a side can reach 0.008 at best, four 0.029: fewer can never be called significant at 0.01.
 *
 * @see Mann and Whitney, On a test of whether one of two random variables is stochastically larger, 1947
 */
export function mannWhitney(a: readonly number[], b: readonly number[]): number {
  if (a.length === 0 || b.length === 0) return 1;
  const ranks = doubledRanks([...a, ...b]);
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += ranks[i]!;
  const center = a.length * (ranks.length + 1);
  const distance = Math.abs(sum - center);
  return ranks.length <= EXACT_SAMPLES_MAX
    ? exactTail(ranks, a.length, center, distance)
    : normalTail(ranks, a.length, b.length, distance);
}

/** Share of all ways to pick `count` of the ranks whose sum lies at least `distance` from `center`. */
function exactTail(ranks: readonly number[], count: number, center: number, distance: number): number {
  let total = 0;
  for (const rank of ranks) total += rank;
  // ways[k][s]: how many choices of k ranks sum to s. Counts stay exact: 40 over 20 is below 2^53.
  const ways = Array.from({ length: count + 1 }, () => new Float64Array(total + 1));
  ways[0]![0] = 1;
  for (const rank of ranks) {
    for (let k = count; k >= 1; k--) {
      const from = ways[k - 1]!;
      const to = ways[k]!;
      for (let s = total; s >= rank; s--) to[s]! += from[s - rank]!;
    }
  }
  let all = 0;
  let beyond = 0;
  ways[count]!.forEach((many, s) => {
    all += many;
    if (Math.abs(s - center) >= distance) beyond += many;
  });
  return beyond / all;
}

function normalTail(ranks: readonly number[], n: number, m: number, distance: number): number {
  // The ranks are doubled: halve the distance; the variance of the true ranks holds the tie correction by itself.
  const mean = (ranks.length + 1) / 2;
  let squares = 0;
  for (const rank of ranks) squares += (rank / 2 - mean) ** 2;
  const deviation = Math.sqrt((n * m * squares) / (ranks.length * (ranks.length - 1)));
  if (deviation === 0) return 1;
  return Math.min(1, complementaryError(Math.max(0, distance / 2 - 0.5) / deviation / Math.SQRT2));
}

/** erfc for x >= 0, to 1.2e-7. Numerical Recipes, 2nd edition, 6.2 (Chebyshev fit). */
function complementaryError(x: number): number {
  const t = 1 / (1 + x / 2);
  const fit = [
    -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587, -0.82215223,
    0.17087277,
  ];
  let sum = 0;
  for (let i = fit.length - 1; i >= 0; i--) sum = sum * t + fit[i]!;
  return t * Math.exp(-x * x + sum);
}
