// A reader asleep: with its thread, or with its event loop.
import { TIMEOUT_MS_MAX } from '../limits.ts';
import type { AsyncPlace, ParkPlace } from '../wait/park-place.ts';
import type { Spin } from '../wait/spin.ts';
import { Waited } from '../wait/waited.ts';
import { announceReader, notedSignal } from './bell.ts';

/**
 * Blocks this thread until `look` is true (returns true) or `timeoutMs` have passed.
 * @param place on SIGNAL
 * @param sliceMs longest sleep between two calls of `slice`, which looks after what nobody rings for
 */
export function sleepBlocked(
  place: ParkPlace,
  spin: Spin,
  look: () => boolean,
  timeoutMs: number,
  sliceMs: number,
  slice: () => void,
): boolean {
  if (look()) return true;
  if (timeoutMs <= 0) return false;
  const time = new Waited();
  if (spin.worthwhile && spin.until(look)) return true;
  // Also by the clock: whoever is woken for nothing, again and again, is to ask for the writer's life all the same.
  let sliceAt = sliceMs;
  for (;;) {
    const waited = time.look();
    if (waited >= timeoutMs) return false;
    const noted = notedSignal(place.words);
    announceReader(place.words);
    if (!look()) {
      const left = Math.min(timeoutMs - waited, sliceMs, place.sliceMsMax, TIMEOUT_MS_MAX);
      const woken = place.sleep(noted, left);
      if (!woken) time.sleptOut(left);
      if (!woken || waited > sliceAt) {
        sliceAt = waited + sliceMs;
        slice();
      }
    }
    if (look()) {
      spin.slept(time.byClock);
      return true;
    }
  }
}

/** The same with the event loop. At most one sleep at a time. */
export class LoopSleep {
  readonly #place: AsyncPlace;
  readonly #woken: () => void;
  /** A sleep of this kind cannot be taken back: one that is still pending is used again. */
  #pending = false;

  /** @param place on SIGNAL */
  constructor(place: AsyncPlace, woken: () => void) {
    this.#place = place;
    this.#woken = woken;
  }

  /** Arranges that `woken` is called once somebody rings; false, and nothing is arranged, if `look` is true already. */
  park(look: () => boolean): boolean {
    for (;;) {
      const noted = notedSignal(this.#place.words);
      announceReader(this.#place.words);
      if (look()) return false;
      if (this.#pending) return true;
      this.#pending = this.#place.sleepAsync(noted, () => {
        this.#pending = false;
        this.#woken();
      });
      if (this.#pending) return true;
    }
  }
}
