// A thread of a topic's own that wakes its readers in the writer's place, which then pays for the waking of one thread however many readers sleep.
// The writer knocks (wait/knocks.ts, P7); who sleeps is woken behind that. A reader would do as well, but one that is killed, or computes, would keep all others asleep.
//
// P8. Until it runs, and once it is over, the writer wakes by itself.

import { KNOCK_WORDS, knock, OVER, RUNS } from '../wait/knocks.ts';
import type { ParkPlace } from '../wait/park-place.ts';

/** The place where readers sleep, with the thread between. */
export class WakerThread implements ParkPlace {
  readonly words: Int32Array;
  readonly index: number;
  readonly sliceMsMax: number;
  readonly blocks: number;
  readonly #place: ParkPlace;
  readonly #own: Int32Array;

  /**
   * @param place on SIGNAL
   * @param own what the two have in common, all 0
   */
  constructor(place: ParkPlace, own: Int32Array = new Int32Array(new SharedArrayBuffer(4 * KNOCK_WORDS))) {
    this.words = place.words;
    this.index = place.index;
    this.sliceMsMax = place.sliceMsMax;
    this.blocks = place.blocks;
    this.#place = place;
    this.#own = own;
  }
  /** @param make starts the thread, which is given the words; it calls `lost` should it end before `close` */
  start(make: (own: Int32Array, lost: () => void) => void): this {
    make(this.#own, () => this.#lost());
    return this;
  }
  sleep(seen: number, timeoutMs: number): boolean {
    return this.#place.sleep(seen, timeoutMs);
  }
  wake(): void {
    // SYNC topic-runs: before that nobody hears a knock (P8); pairs with obeyKnocks.
    if (Atomics.load(this.#own, RUNS) === 0 || Atomics.load(this.#own, OVER) === 1) this.#place.wake();
    else knock(this.#own);
  }
  /** The thread ends. Whoever has to be woken is woken by the caller from now on. */
  close(): void {
    // SYNC topic-over: behind the last knock that it has to hear; pairs with obeyKnocks.
    Atomics.store(this.#own, OVER, 1);
    knock(this.#own);
  }
  /** It may not have heard the last knock. */
  #lost(): void {
    if (Atomics.exchange(this.#own, OVER, 1) === 0) this.#place.wake();
  }
}
