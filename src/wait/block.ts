// Sleeping with the thread: spin, announce, look again, sleep.
import { TIMEOUT_MS_MAX } from '../limits.ts';
import type { ParkPlace } from './park-place.ts';
import { announce, withdraw } from './signal.ts';
import type { Spin } from './spin.ts';
import { Waited } from './waited.ts';

export class BlockingWait {
  readonly #place: ParkPlace;
  readonly #sleeps: number;
  readonly #spin: Spin;
  readonly #sliceMs: () => number;
  readonly #slice: () => void;

  /**
   * @param place where this side sleeps, and can
   * @param sleeps word index of this side's counter of sleeps
   * @param sliceMs longest sleep between two calls of `slice`, asked before each; Infinity to sleep through
   * @param slice looks after what nobody rings for: whether the peer's thread still lives
   */
  constructor(place: ParkPlace, sleeps: number, spin: Spin, sliceMs: () => number, slice: () => void) {
    this.#place = place;
    this.#sleeps = sleeps;
    this.#spin = spin;
    this.#sliceMs = sliceMs;
    this.#slice = slice;
  }

  /**
   * Blocks this thread until `look` is true (returns true) or `timeoutMs` have passed (returns false).
   * @param interest what to be woken for; `look` must become true through nothing else, or through `slice`
   * @param timeoutMs 0 looks once and never sleeps; Infinity waits for ever
   * @param lookBeforeSleep the look between announcement and sleep, where it has more to do
   */
  wait(interest: number, look: () => boolean, timeoutMs: number, lookBeforeSleep: () => boolean = look): boolean {
    if (look()) return true;
    if (timeoutMs <= 0) return false;
    const place = this.#place;
    const time = new Waited();
    if (this.#spin.worthwhile && this.#spin.until(look)) return true;
    // Also by the clock: whoever is woken for nothing, again and again, is to ask for the peer's life all the same (G10).
    let sliceAt = this.#sliceMs();
    for (;;) {
      const waited = time.look();
      if (waited >= timeoutMs) return false;
      const state = announce(place, place.blocks, interest);
      if (!lookBeforeSleep()) {
        place.words[this.#sleeps] = (place.words[this.#sleeps] as number) + 1;
        const sliceMs = Math.min(this.#sliceMs(), place.sliceMsMax);
        const left = Math.min(timeoutMs - waited, sliceMs, TIMEOUT_MS_MAX);
        const woken = place.sleep(state, left);
        if (!woken) time.sleptOut(left);
        if (!woken || place.asks === true || waited > sliceAt) {
          sliceAt = waited + sliceMs;
          this.#slice();
        }
      }
      withdraw(place);
      if (look()) {
        this.#spin.slept(time.byClock);
        return true;
      }
    }
  }
}
