// The out-of-band words of a region: one a side, set by the other.
import * as layout from '../../memory/layout.ts';
import type { ParkPlace } from '../../wait/park-place.ts';
import { INTERRUPT, Waker } from '../../wait/signal.ts';
import type { Interrupts } from '../transport.ts';

export class WordInterrupts implements Interrupts {
  readonly #words: Int32Array;
  readonly #here: number;
  readonly #there: number;
  /** Wakes a peer that sleeps until it is interrupted. */
  readonly #caller: Waker;

  /**
   * @param here word index of this side's block
   * @param there word index of the other side's block
   * @param place where the other side sleeps
   * @param doorbell as Waker
   * @param above as Waker
   */
  constructor(
    words: Int32Array,
    here: number,
    there: number,
    place: ParkPlace,
    doorbell: () => void,
    wakes: number,
    above: () => void,
  ) {
    this.#words = words;
    this.#here = here + layout.INTERRUPT;
    this.#there = there + layout.INTERRUPT;
    this.#caller = new Waker(place, INTERRUPT, doorbell, wakes, undefined, above);
  }

  get word(): number {
    return Atomics.load(this.#words, this.#here);
  }
  raise(word: number): void {
    // SYNC interrupt: there before the ring below; a word and nothing else; pairs with clear.
    Atomics.store(this.#words, this.#there, word);
    this.#caller.ring();
  }
  clear(word?: number): number {
    // SYNC interrupt: pairs with raise; one that comes in between is not lost, it is returned, or it stays.
    if (word !== undefined) return Atomics.compareExchange(this.#words, this.#here, word, 0);
    return Atomics.exchange(this.#words, this.#here, 0);
  }
}
