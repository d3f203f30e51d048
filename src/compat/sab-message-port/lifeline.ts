// A native port between the two threads of a channel, which tells a thread that is blocked whether the other one still
// lives. Who has an event loop running hears of it by other ways (peer-watch.ts).
import { platform } from '#platform';
import type { NativePort } from '../../platform/contract.ts';

export class Lifeline {
  readonly #port: NativePort;
  readonly #taken: (message: unknown) => void;

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
    return platform.probeGone(this.#port);
  }
}
