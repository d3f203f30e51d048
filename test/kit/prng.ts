// Randomness that can be had again. Every random test draws from here, so that a failure can be repeated by its seed:
//
//   SEED=123 npm test          the same draws as the run that printed 123
//   SEED=123 CASE=4567 ...     only the case that failed
//   COUNT=1000 / SOAK=1        fewer or more cases than the default
import process from 'node:process';

/** A small fast generator (sfc32): 128 bits of state, seeded from one number. Not for secrets. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number, stream: number = 0) {
    this.#a = seed | 0;
    this.#b = Math.floor(seed / 2 ** 32) | 0;
    this.#c = stream | 0;
    // The first outputs still resemble the seed; neighbouring seeds and streams must not resemble each other.
    for (let i = 0; i < 12; i++) this.bits();
  }

  /** 32 random bits as an unsigned number. */
  bits(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** A number in [0, 1). */
  unit(): number {
    return this.bits() / 2 ** 32;
  }

  /** A whole number from `low` to `high`, both included. */
  int(low: number, high: number): number {
    return low + Math.floor(this.unit() * (high - low + 1));
  }

  /** True with the given probability. */
  chance(probability: number): boolean {
    return this.unit() < probability;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.int(0, items.length - 1)] as T;
  }

  /** A whole number from 0 to `high`, small ones far more often: sizes are drawn with it. */
  skewed(high: number): number {
    return Math.floor((high + 1) ** this.unit()) - 1;
  }
}

function numberFrom(name: string): number | undefined {
  const text = process.env[name];
  if (text === undefined || text === '') return undefined;
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error(`${name}=${text} is not a whole number`);
  return value;
}

/** Whether this is the long run (`SOAK=1`). */
export const soak: boolean = (numberFrom('SOAK') ?? 0) !== 0;

/** The seed of this process: `SEED`, or a new one. */
export const seed: number = numberFrom('SEED') ?? Math.floor(Math.random() * 2 ** 48);

/**
 * How many cases a random test runs: `COUNT`, or `usual`, or `nightly` under `SOAK=1`. Tests of under a thousand cases,
 * whose cases are heavy, never run more than usual because of `COUNT`.
 */
export function cases(usual: number, nightly: number): number {
  const count = numberFrom('COUNT');
  if (count === undefined) return soak ? nightly : usual;
  return usual < 1000 ? Math.min(count, usual) : count;
}

/**
 * Calls `body` once for each case number in [from, to) with a generator of its own, and puts on any failure the line that
 * repeats just that case. `CASE` picks one case.
 */
export function eachCase(from: number, to: number, body: (random: Random, index: number) => void): void {
  const only = numberFrom('CASE');
  for (let index = from; index < to; index++) {
    if (only !== undefined && only !== index) continue;
    try {
      body(new Random(seed, index), index);
    } catch (error) {
      throw new Error(`${String((error as Error)?.message ?? error)}\n  repeat with SEED=${seed} CASE=${index}`, {
        cause: error,
      });
    }
  }
}

/** The same for a `body` that takes its time; one case after the other. */
export async function eachCaseAsync(
  from: number,
  to: number,
  body: (random: Random, index: number) => Promise<void>,
): Promise<void> {
  const only = numberFrom('CASE');
  for (let index = from; index < to; index++) {
    if (only !== undefined && only !== index) continue;
    try {
      await body(new Random(seed, index), index);
    } catch (error) {
      throw new Error(`${String((error as Error)?.message ?? error)}\n  repeat with SEED=${seed} CASE=${index}`, {
        cause: error,
      });
    }
  }
}
