// Wakes the agent at the other end of a link, and says for which of their channels.
import type { ParkPlace } from '../wait/park-place.ts';
import { DATA, Waker } from '../wait/signal.ts';
import type { ReadySet } from './ready-set.ts';

export class LinkBell {
  readonly #ready: ReadySet;
  readonly #rest: Waker;

  /**
   * @param ready the other agent's ready set in the page of this link
   * @param rest where the other agent rests as far as this link goes
   * @param doorbell wakes the other agent's event loop
   * @param agent wakes the other agent where it sleeps for all its links, on its own page
   */
  constructor(ready: ReadySet, rest: ParkPlace, doorbell: () => void, agent: () => void) {
    this.#ready = ready;
    this.#rest = new Waker(rest, DATA, doorbell, undefined, undefined, agent);
  }

  /** The channel at `seat` of the other agent has slept ABOVE and is to be looked at. After what it is to see. */
  ring(seat: number): void {
    this.#ready.mark(seat);
    this.#rest.ring();
  }
}
