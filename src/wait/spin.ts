// Whether to look again for a while before sleeping. A wake-up costs 5 to 50 microseconds on both sides; when the
// next message is likely to come sooner, looking for it is cheaper. When it is not, looking burns a core for nothing,
// and on a machine whose cores are all busy it even takes the core that the peer needs to answer.
//
// So it adapts, by two measures. Trust: short sleeps earn it, long ones cost it; a port that goes quiet stops
// spinning after one or two futile windows, and an idle port never spins. Penalty: every futile window makes the next
// ones rarer, twice as rare each time, until one is successful.
import { SPIN_LOOKS_PER_US } from '../limits.ts';

/** Trust from which on spinning is tried, and the most there is. */
const TRUST_NEEDED = 2;
const TRUST_MAX = 3;
/** A sleep up to this many windows long would have been, or nearly been, caught by spinning. */
const SHORT_SLEEP_WINDOWS = 3;
/** Sleeps to let pass after a futile window: at first, and at the most. */
const PENALTY_FIRST = 4;
const PENALTY_MAX = 128;
/** Looks between two readings of the clock, which costs as much as several looks. */
const LOOKS_PER_CLOCK = 16;

const pause: (() => void) | undefined = (Atomics as { pause?: () => void }).pause;

export class Spin {
  /** Milliseconds of looking at the most. 0: never spin. */
  readonly windowMs: number;
  #trust: number = TRUST_NEEDED;
  #penalty: number = PENALTY_FIRST;
  /** Sleeps still to let pass before the next try. */
  #skips = 0;

  constructor(windowUs: number) {
    this.windowMs = windowUs / 1000;
  }

  /** Whether the next wait should begin with looking. */
  get worthwhile(): boolean {
    return this.windowMs > 0 && this.#skips === 0 && this.#trust >= TRUST_NEEDED;
  }

  /** Looks until `look` is true or the window has passed; says which, and learns. The thread does nothing else. */
  until(look: () => boolean): boolean {
    const end = performance.now() + this.windowMs;
    let left = this.windowMs * 1000 * SPIN_LOOKS_PER_US;
    do {
      left -= LOOKS_PER_CLOCK;
      for (let i = 0; i < LOOKS_PER_CLOCK; i++) {
        if (look()) {
          this.caught();
          return true;
        }
        if (pause !== undefined) pause();
      }
    } while (performance.now() < end && left > 0);
    this.missed();
    return false;
  }

  /** Looking paid. */
  caught(): void {
    this.#penalty = PENALTY_FIRST;
    this.#trust = TRUST_MAX;
  }

  /** A whole window of looking was futile. */
  missed(): void {
    this.#skips = this.#penalty;
    this.#penalty = Math.min(this.#penalty * 2, PENALTY_MAX);
  }

  /** A sleep has ended; `waitedMs` since there was nothing to do. */
  slept(waitedMs: number): void {
    if (this.#skips > 0) this.#skips--;
    if (waitedMs > this.windowMs * SHORT_SLEEP_WINDOWS) this.#trust = Math.max(0, this.#trust - 1);
    else this.#trust = Math.min(TRUST_MAX, this.#trust + 1);
  }
}
