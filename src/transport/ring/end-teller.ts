// Says in shared memory that one side of a channel has ended, and wakes the other one.

import * as layout from '../../memory/layout.ts';
import { CLOSE_CODES } from '../../memory/layout.ts';
import type { SideWords } from '../../memory/region.ts';
import { takenBy } from '../../memory/sides.ts';
import type { EndReason } from '../../outcome.ts';
import type { Parking } from '../../wait/parking.ts';
import { ANYTHING, PASSED, Waker } from '../../wait/signal.ts';

/** In SPILLED: this side has ended, and what it had accepted still follows through its lane. */
export const SPILL_FOLLOWS: number = -1;

/** How one end of a channel wakes the other, and what it closes at its end. */
export interface EndLines {
  doorbell(): void;
  above(): void;
  /** Tells of the end, however the other one sleeps, unless what is closed tells. */
  tellEnd(): void;
  /** @param attached whether a thread has the other end */
  close(attached: boolean): void;
}

export class EndTeller {
  readonly #side: SideWords;
  readonly #lines: EndLines;
  readonly #parking: Parking;

  /** @param parking where the other side sleeps */
  constructor(side: SideWords, lines: EndLines, parking: Parking) {
    this.#side = side;
    this.#lines = lines;
    this.#parking = parking;
  }

  /**
   * What was sent must be published by then.
   * @param spilled frames left in the side channel
   */
  tell(reason: EndReason, spilled: number): void {
    const { words, here, there } = this.#side;
    Atomics.store(words, here + layout.SPILLED, spilled);
    // SYNC closed: everything sent before is published, and the left-over posted (T2); pairs with Life.over.
    Atomics.store(words, here + layout.CLOSED, CLOSE_CODES[reason]);
    const doorbell = (): void => this.#lines.doorbell();
    const above = (): void => this.#lines.above();
    const place = this.#parking.place(words, there + layout.PARK);
    new Waker(place, ANYTHING | PASSED, doorbell, here + layout.WAKES, undefined, above).ring();
    this.#lines.tellEnd();
  }

  closeLines(): void {
    const { words, there } = this.#side;
    // SYNC attach-once: a plain look; pairs with claimSide. A side that is taken right now closes them itself.
    this.#lines.close(takenBy(Atomics.load(words, there + layout.ATTACHED)) !== 0);
  }
}
