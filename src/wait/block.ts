// Sleeping with the thread: spin, announce, look again, Atomics.wait.
import { TIMEOUT_MS_MAX } from '../limits.ts';
import { announce, BLOCKED, withdraw } from './signal.ts';
import type { Spin } from './spin.ts';

export class BlockingWait {
  readonly #words: Int32Array;
  readonly #park: number;
  readonly #sleeps: number;
  readonly #spin: Spin;
  readonly #sliceMs: number;
  readonly #slice: () => void;

  /**
   * @param park word index of this side's park word
   * @param sleeps word index of this side's counter of sleeps
   * @param sliceMs longest sleep between two calls of `slice`; Infinity to sleep through
   * @param slice looks after what nobody rings for: whether the peer's thread still lives
   */
  constructor(words: Int32Array, park: number, sleeps: number, spin: Spin, sliceMs: number, slice: () => void) {
    this.#words = words;
    this.#park = park;
    this.#sleeps = sleeps;
    this.#spin = spin;
    this.#sliceMs = sliceMs;
    this.#slice = slice;
  }

  /**
   * Blocks this thread until `look` is true (returns true) or `timeoutMs` have passed (returns false).
   * @param interest what to be woken for; `look` must become true through nothing else, or through `slice`
   * @param timeoutMs 0 looks once and never sleeps; Infinity waits for ever
   */
  wait(interest: number, look: () => boolean, timeoutMs: number): boolean {
    if (look()) return true;
    if (timeoutMs <= 0) return false;
    const start = performance.now();
    if (this.#spin.worthwhile && this.#spin.until(look)) return true;
    for (;;) {
      const waited = performance.now() - start;
      if (waited >= timeoutMs) return false;
      const state = announce(this.#words, this.#park, BLOCKED, interest);
      if (!look()) {
        this.#words[this.#sleeps] = (this.#words[this.#sleeps] as number) + 1;
        const left = Math.min(timeoutMs - waited, this.#sliceMs, TIMEOUT_MS_MAX);
        if (Atomics.wait(this.#words, this.#park, state, left) === 'timed-out') this.#slice();
      }
      withdraw(this.#words, this.#park);
      if (look()) {
        this.#spin.slept(performance.now() - start);
        return true;
      }
    }
  }
}
