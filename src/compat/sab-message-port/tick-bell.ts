// A bell that rings once for everything that one turn of the event loop has sent. Each message is visible at once; only
// waking a reader that sleeps waits, because waking it once a message costs more than the message.
import type { Bell } from '../../ring/producer.ts';

/** Publications after which a sleeping reader is woken without waiting for the end of the turn. */
const PUBLICATIONS_MAX = 32;

export class TickBell implements Bell {
  readonly #bell: Bell;
  #waiting = 0;
  #scheduled = false;
  readonly #endTick = (): void => {
    this.#scheduled = false;
    this.ringNow();
  };

  constructor(bell: Bell) {
    this.#bell = bell;
  }

  ring(): void {
    if (++this.#waiting >= PUBLICATIONS_MAX) this.ringNow();
    else if (!this.#scheduled) {
      this.#scheduled = true;
      queueMicrotask(this.#endTick);
    }
  }

  /** For a thread that will not come to the end of its turn, or not soon. */
  ringNow(): void {
    if (this.#waiting === 0) return;
    this.#waiting = 0;
    this.#bell.ring();
  }
}
