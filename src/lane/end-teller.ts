// Says in shared memory that one side of a channel has ended. Leads to nobody who uses the side: it may be garbage, or nobody's.
import type { NativePair } from '../memory/handshake.ts';
import * as layout from '../memory/layout.ts';
import { CLOSE_CODES } from '../memory/layout.ts';
import type { CloseReason } from '../outcome.ts';
import { SharedPlace } from '../wait/park-place.ts';
import { ANYTHING, PASSED, Waker } from '../wait/signal.ts';
import { NativeEnds } from './native-ends.ts';

/** Says in shared memory that one side has ended, and wakes the other one. What was sent must be published by then. */
export class EndTeller {
  readonly #words: Int32Array;
  /** Word indexes of the ending side's and the other side's block. */
  readonly #here: number;
  readonly #there: number;
  readonly natives: NativeEnds;

  constructor(words: Int32Array, here: number, there: number, natives: NativeEnds) {
    this.#words = words;
    this.#here = here;
    this.#there = there;
    this.natives = natives;
  }

  /** @param end the side that ends */
  static of(words: Int32Array, end: 0 | 1, natives: NativePair): EndTeller {
    const [here, there] = end === 0 ? [layout.SIDE_0, layout.SIDE_1] : [layout.SIDE_1, layout.SIDE_0];
    return new EndTeller(words, here, there, new NativeEnds(natives));
  }

  /** @param spilled frames left in the side channel */
  tell(reason: CloseReason, spilled: number): void {
    Atomics.store(this.#words, this.#here + layout.SPILLED, spilled);
    // SYNC closed: everything sent before is published, and the left-over posted (T2); pairs with Life.over.
    Atomics.store(this.#words, this.#here + layout.CLOSED, CLOSE_CODES[reason]);
    const doorbell = (): void => this.natives.doorbell();
    new Waker(
      new SharedPlace(this.#words, this.#there + layout.PARK),
      ANYTHING | PASSED,
      doorbell,
      this.#here + layout.WAKES,
    ).ring();
  }

  closeNatives(): void {
    // SYNC attach-once: a plain look; pairs with claimSide. A side that is taken right now closes them itself.
    this.natives.close(Atomics.load(this.#words, this.#there + layout.ATTACHED) !== 0);
  }
}
