// A native port between the two threads of a channel, which tells a thread that is blocked whether the other one still
// lives. Who has an event loop running hears of it by other ways (peer-watch.ts).
import { platform } from '#platform';
import { PROBES_UNREAD_MAX } from '../../limits.ts';
import type { NativePort } from '../../platform/contract.ts';

/** Of many probes, one in so many is sent: the other thread may compute for an hour and take none of them. */
const RARELY = 10;

export class Lifeline {
  readonly #port: NativePort;
  readonly #taken: (message: unknown) => void;
  #probes = 0;

  /**
   * @param port this thread's end
   * @param taken is given what comes along this port and is no probe
   */
  constructor(port: NativePort, taken: (message: unknown) => void) {
    this.#port = port;
    this.#taken = taken;
  }

  /** Whether the other thread is gone; false when it cannot be known. Never blocks. */
  gone(): boolean {
    // Also what makes Node notice.
    for (let next = platform.takeMessage(this.#port); next !== undefined; next = platform.takeMessage(this.#port)) {
      this.#taken(next.message);
    }
    if (++this.#probes > PROBES_UNREAD_MAX && this.#probes % RARELY !== 0) return false;
    return platform.probeGone(this.#port);
  }
}
