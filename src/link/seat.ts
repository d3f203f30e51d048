// Where one end of a channel sits in the link of its two agents: a place in its agent's ready set, which the other one finds in SEAT.
import { SEAT } from '../memory/layout.ts';
import type { SideWords } from '../memory/region.ts';
import type { LinkEnd, Marked } from './link-end.ts';

export class Seat {
  readonly #side: SideWords;
  #end: LinkEnd | undefined;
  #own = 0;

  constructor(side: SideWords) {
    this.#side = side;
  }

  get taken(): boolean {
    return this.#end !== undefined;
  }
  /** That of the channel's other end; below 0 while it has none. */
  get there(): number {
    // SYNC seat: stored before anybody sleeps by it; pairs with Seat.take.
    return Atomics.load(this.#side.words, this.#side.there + SEAT) - 1;
  }
  /** From here on this end may sleep above. */
  take(end: LinkEnd, channel: Marked): void {
    this.#end = end;
    this.#own = end.add(channel);
    // SYNC seat: whoever finds us asleep above finds where; pairs with Seat.there.
    Atomics.store(this.#side.words, this.#side.here + SEAT, 1 + this.#own);
  }
  leave(): void {
    this.#end?.remove(this.#own);
    this.#end = undefined;
  }
  /** The same, and the channel goes on without the link. What another seat of this end has written, on lines that it came to since, stays. */
  vacate(): void {
    if (!this.taken) return;
    this.leave();
    // SYNC seat: whoever rings from here on does so by the first line of the channel; pairs with Seat.there.
    Atomics.store(this.#side.words, this.#side.here + SEAT, 0);
  }
}
