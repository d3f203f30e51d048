// A bell that rings once for everything that one turn of the event loop has sent. Each message is visible at once; only
// waking a reader that sleeps waits, because waking it once a message costs more than the message.
import type { Bell } from '../../ring/producer.ts';
import { atEndOfTurn, type PutOff } from '../end-of-turn.ts';

/** Publications after which a sleeping reader is woken without waiting for the end of the turn. */
const PUBLICATIONS_MAX = 32;

export class TickBell implements Bell, PutOff {
  readonly #bell: Bell;
  #waiting = 0;
  #scheduled = false;

  constructor(bell: Bell) {
    this.#bell = bell;
  }

  ring(): void {
    if (++this.#waiting >= PUBLICATIONS_MAX) this.#ringNow();
    else if (!this.#scheduled) {
      atEndOfTurn(this);
      this.#scheduled = true;
    }
  }

  endTurn(): void {
    this.#scheduled = false;
    this.#ringNow();
  }

  #ringNow(): void {
    if (this.#waiting === 0) return;
    this.#waiting = 0;
    this.#bell.ring();
  }
}
