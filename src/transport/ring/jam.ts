// Two threads that are both blocked in `send`, each with so much set aside of what the other has sent that it takes nothing
// more in: neither would ever go on. One of them is told.
//
// One word, { stage, side }, which only says anything while somebody waits so:
//
//   stage 0   nobody            1   `side` waits so, for as long as it takes
//   stage 2   `side` is asked whether it still does         3   it has tried since it was asked, and does
//
// J1. Whoever asks waits so, too, and takes nothing in meanwhile; it has told of everything it took (TAKEN) before. So a
//     try of the other side's after the question finds all the room there will ever be.
// J2. Whoever stops waiting takes its own stage away, or puts the other's back to 1: an answer is never older than the wait
//     of who asked.
import { JAM } from '../../memory/layout.ts';

const WAITS = 1;
const ASKED = 2;
const STILL = 3;

export class Jam {
  readonly #words: Int32Array;
  readonly #side: 0 | 1;
  readonly #wakePeer: () => void;
  #seen = 0;
  /** We were asked, and must try once more before we answer. */
  #asked = false;

  /** @param wakePeer wakes a peer that sleeps for room, so that it looks at this word */
  constructor(words: Int32Array, side: 0 | 1, wakePeer: () => void) {
    this.#words = words;
    this.#side = side;
    this.#wakePeer = wakePeer;
  }

  /**
   * Called by a sender that has just tried in vain, takes nothing in and has no time limit, before it sleeps.
   * @returns `sleep`, `again` to try once more first, or `jammed`: the other side waits the same way, for ever
   */
  next(): 'sleep' | 'again' | 'jammed' {
    for (;;) {
      // SYNC jam: pairs with the exchanges below, by either side.
      const state = Atomics.load(this.#words, JAM);
      this.#seen = state;
      const stage = state >>> 1;
      if (stage === 0) {
        if (this.#change(state, WAITS, this.#side)) return 'sleep';
      } else if ((state & 1) === this.#side) {
        if (stage !== ASKED) return 'sleep';
        if (!this.#asked) {
          this.#asked = true;
          return 'again';
        }
        if (this.#change(state, STILL, this.#side)) {
          this.#asked = false;
          this.#wakePeer();
          return 'sleep';
        }
      } else {
        if (stage === ASKED) return 'sleep';
        if (stage === STILL) {
          if (this.#change(state, WAITS, state & 1)) return 'jammed';
        } else if (this.#change(state, ASKED, state & 1)) {
          this.#wakePeer();
          return 'sleep';
        }
      }
    }
  }

  /** Whether the other side has asked or answered since `next`. */
  get news(): boolean {
    // SYNC jam: pairs with the exchanges in next.
    return Atomics.load(this.#words, JAM) !== this.#seen;
  }

  /** This side waits no longer, or has begun to take in again. */
  leave(): void {
    this.#asked = false;
    for (;;) {
      const state = Atomics.load(this.#words, JAM);
      const stage = state >>> 1;
      if (stage === 0) return;
      const mine = (state & 1) === this.#side;
      if (!mine && stage === WAITS) return;
      if (!this.#change(state, mine ? 0 : WAITS, mine ? 0 : state & 1)) continue;
      // Whoever asked sleeps until there is an answer.
      if (mine && stage !== WAITS) this.#wakePeer();
      return;
    }
  }

  #change(from: number, stage: number, side: number): boolean {
    const to = (stage << 1) | side;
    // SYNC jam: before the look at the park word, after which the other side looks here; pairs with next and news.
    if (Atomics.compareExchange(this.#words, JAM, from, to) !== from) return false;
    this.#seen = to;
    return true;
  }
}
