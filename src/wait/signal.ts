// The park word: how one side of a channel sleeps and how the other wakes it. Touches no payload.
//
// A side announces that it is about to sleep by storing how it sleeps and what it waits for into its park word. Then
// it looks again, and only if there is still nothing does it sleep, on the park word itself. The waker publishes
// first and looks at the park word second; if the word announces an interest in what was published, it takes the
// announcement back (AWAKE) and wakes. Nobody pays for a wake-up that nobody waits for: one load.
//
// Invariants:
// W1. No lost wake-up. Say R announces and W publishes. Both are sequentially consistent, so one comes first. If the
//     announcement came first, W's load of the park word sees it and W wakes R. If the publication came first, R's
//     second look sees it and R does not sleep. Publishing after looking, or sleeping without the second look, breaks
//     this: test/model has both as mutants.
// W2. Between R's announcement and its sleep, W may already have stored AWAKE. Then Atomics.wait and waitAsync find
//     another value than the announced one and return at once.
// W3. The park word is changed from an announcement to AWAKE by exactly one party: by the waker through
//     compareExchange, or by the sleeper itself when it withdraws. A waker whose exchange fails has nothing to do: the
//     sleeper has woken by itself and will look before it sleeps again.

import type { ParkPlace } from './park-place.ts';

export const AWAKE = 0;
// How a side sleeps, one of:
/** In Atomics.wait: the thread stands still. */
export const BLOCKED = 1;
/** In Atomics.waitAsync: the event loop runs on. */
export const ASYNC = 2;
/** For a message on the native port: the event loop runs on. Beside ASYNC where a wake-up of the word mostly comes, and sooner. */
export const DOORBELL = 4;
/**
 * On a word further up, together with others: whoever wakes it says there which of them it was (link/). A channel's word
 * stands below that of its link, a link's below that of its agent.
 */
export const ABOVE = 8;
// What it waits for, any of:
/** A record in its inbound lane. */
export const DATA = 16;
/** Room, or progress, in its outbound lane. */
export const SPACE = 32;
/** An interrupt. Beside one of the others: who waits for this alone would sleep through the end. */
export const INTERRUPT = 64;
/** Whatever moves in a lane, and the end, which every sleeper hears of. */
export const ANYTHING: number = DATA | SPACE;
/** One position in its outbound lane, which stands in AWAITED: that the other side has taken everything before it. */
export const PASSED = 128;

const UNCOUNTED = -1;
const nobody = (): void => {};

/** Wakes the other side of a channel if it announced that it sleeps for `interest`. */
export class Waker {
  readonly #words: Int32Array;
  readonly #park: number = 0;
  readonly #interest: number = 0;
  readonly #wakes: number = 0;
  readonly #place: ParkPlace;
  readonly #doorbell: () => void;
  readonly #awaited: number = 0;
  readonly #above: () => void;
  /** What was announced by whoever was not woken, because the stack ended on the way there; the next one who rings does it. */
  #owed: number = AWAKE;

  /**
   * @param place where the other side sleeps
   * @param doorbell wakes an event loop that sleeps in DOORBELL
   * @param wakes word index of this side's counter of wake-ups, if it keeps one
   * @param awaited word index of the other side's AWAITED, for positions
   * @param above wakes a side that sleeps ABOVE
   */
  constructor(
    place: ParkPlace,
    interest: number,
    doorbell: () => void,
    wakes: number = UNCOUNTED,
    awaited = 0,
    above: () => void = nobody,
  ) {
    this.#awaited = awaited;
    this.#above = above;
    this.#place = place;
    this.#words = place.words;
    this.#park = place.index;
    this.#interest = interest;
    this.#wakes = wakes;
    this.#doorbell = doorbell;
  }

  /**
   * Call after what the sleeper looks at has been published. One load when nobody sleeps.
   * @param position published with it, where somebody may sleep for one
   */
  ring(position?: number): void {
    if (this.#owed !== AWAKE) this.#tell();
    // SYNC announce: ordered after the publication by the caller; pairs with announce (W1).
    const state = Atomics.load(this.#words, this.#park);
    if ((state & this.#interest) !== 0 || (position !== undefined && this.#passed(state, position))) this.#wake(state);
  }

  /** The same for who sleeps for one position, and for nothing else. Call after `position` has been published. */
  reached(position: number): void {
    // SYNC announce: ordered after the publication by the caller; pairs with announce (W1).
    const state = Atomics.load(this.#words, this.#park);
    if (this.#passed(state, position)) this.#wake(state);
  }

  /**
   * Whether the sleeper waits for a position that this is, or lies behind. It stores AWAITED before it announces, so whoever
   * sees the announcement sees that position, or one that is awaited later; and then the sleeper has looked again since.
   */
  #passed(state: number, position: number): boolean {
    // SYNC awaited: what the announced sleeper waits for; pairs with awaitPosition.
    return (state & PASSED) !== 0 && ((position - Atomics.load(this.#words, this.#awaited)) | 0) >= 0;
  }

  #wake(state: number): void {
    // SYNC awake: takes the announcement back; pairs with the sleeper's wait on the same word (W2, W3).
    if (Atomics.compareExchange(this.#words, this.#park, state, AWAKE) !== state) return;
    if (this.#wakes !== UNCOUNTED) this.#words[this.#wakes] = (this.#words[this.#wakes] as number) + 1;
    this.#owed = state;
    this.#tell();
  }

  #tell(): void {
    const state = this.#owed;
    this.#owed = AWAKE;
    try {
      if ((state & (BLOCKED | ASYNC)) !== 0) this.#place.wake();
      if ((state & DOORBELL) !== 0) this.#doorbell();
      else if ((state & ABOVE) !== 0) this.#above();
    } catch (error) {
      // No more than this: there may be no stack for a call.
      this.#owed = state;
      throw error;
    }
  }
}

/** Says which position this side is about to sleep for. Before `announce` with PASSED. */
export function awaitPosition(words: Int32Array, awaited: number, position: number): void {
  // SYNC awaited: ordered before the announcement; pairs with Waker.reached.
  Atomics.store(words, awaited, position | 0);
}

/** Says that this side is about to sleep. Look again after it, before sleeping (W1). Returns the word to sleep on. */
export function announce({ words, index }: ParkPlace, how: number, interest: number): number {
  const state = how | interest;
  // SYNC announce: from here on every publication rings; pairs with Waker.ring.
  Atomics.store(words, index, state);
  return state;
}

/** Takes this side's announcement back, whether it slept or not. */
export function withdraw({ words, index }: ParkPlace): void {
  // SYNC awake: wakers stop ringing; pairs with Waker.ring, which leaves a withdrawn word alone (W3).
  Atomics.store(words, index, AWAKE);
}
