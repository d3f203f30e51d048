// How one agent rests as far as one link goes, and wakes the other one of the pair: both halves of a link page (layout.ts), made
// of whatever the two have to sleep on and to ring with.
import type { EventLoopWait } from '../wait/async.ts';
import type { Parking } from '../wait/parking.ts';
import { READY, REST, RESTS, SIDE_0, SIDE_1 } from './layout.ts';
import { LinkBell } from './link-bell.ts';
import { LinkEnd } from './link-end.ts';
import { ReadySet } from './ready-set.ts';

/** What wakes the other agent of a link. */
export interface LinkBells {
  /** Its event loop, which is to call `rung` over there. */
  doorbell(): void;
  /** Its thread, where that sleeps for all its links. */
  agent(): void;
}

export class Resting {
  readonly end: LinkEnd;
  readonly #loop: EventLoopWait;
  readonly #bell: LinkBell;
  readonly #there: ReadySet;

  /** @param words of the link page; this agent has the block of `side` */
  constructor(words: Int32Array, side: 0 | 1, parking: Parking, bells: LinkBells) {
    const [here, there] = side === 0 ? [SIDE_0, SIDE_1] : [SIDE_1, SIDE_0];
    const rest = parking.place(words, here + REST);
    this.end = new LinkEnd(new ReadySet(words, here + READY), rest);
    this.#loop = parking.onLoop(rest, here + RESTS, () => this.rung());
    this.#there = new ReadySet(words, there + READY);
    this.#bell = new LinkBell(
      this.#there,
      parking.place(words, there + REST),
      () => bells.doorbell(),
      () => bells.agent(),
    );
  }

  /** Rests on the event loop, for all channels together. */
  rest(): void {
    this.end.restOnLoop(this.#loop);
  }
  /** The other agent has rung for this event loop. */
  rung(): void {
    this.end.rung(this.#loop);
  }
  /** One bell of this event loop's, which rings for all its links, was rung. */
  heard(): void {
    this.end.heard(this.#loop);
  }
  /** The channel at `seat` over there sleeps above. */
  ring(seat: number): void {
    this.#bell.ring(seat);
  }
  /** It is to be looked at, and its agent is rung by other means. */
  mark(seat: number): void {
    this.#there.mark(seat);
  }
}
