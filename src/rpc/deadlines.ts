// When calls are late.
import { TIMER_MS_MAX } from '../limits.ts';

/** What may be late, and by when, by `performance.now`. */
export interface Timed {
  readonly deadline: number;
}

/** The times at which calls are late, and one timer for all of them. */
export class Deadlines<T extends Timed> {
  readonly #late: (timed: T) => void;
  readonly #with: Set<T> = new Set();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #at: number = Number.POSITIVE_INFINITY;

  constructor(late: (timed: T) => void) {
    this.#late = late;
  }

  add(timed: T, deadline: number): void {
    this.#with.add(timed);
    if (deadline < this.#at) this.#set(deadline);
  }
  delete(timed: T): void {
    if (!this.#with.delete(timed) || this.#with.size > 0) return;
    clearTimeout(this.#timer);
    this.#at = Number.POSITIVE_INFINITY;
  }
  #set(at: number): void {
    clearTimeout(this.#timer);
    this.#at = at;
    this.#timer = setTimeout(
      () => this.#look(),
      Math.min(TIMER_MS_MAX, Math.max(0, Math.ceil(at - performance.now()))),
    );
  }
  #look(): void {
    const now = performance.now();
    this.#at = Number.POSITIVE_INFINITY;
    for (const timed of [...this.#with]) if (timed.deadline <= now) this.#late(timed);
    let next = Number.POSITIVE_INFINITY;
    for (const timed of this.#with) next = Math.min(next, timed.deadline);
    if (next < Number.POSITIVE_INFINITY) this.#set(next);
  }
}
