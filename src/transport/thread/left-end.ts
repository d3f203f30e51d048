// An end that has gone over to another thread, as far as it is still here: what the other side has posted for it on lines that
// lead here is sent on, over a line whose other end has travelled along (the TAIL), until nothing more can come (V6). If this
// thread ends before that, a value that is still on its way is lost, and who reads its marker is told.
import type { NativePair } from '../../memory/native-pair.ts';
import { FOUNDER } from './members.ts';
import { letGoOfMessage, nativesOfMessage } from './native-values.ts';
import { DONE, TAIL } from './stretch.ts';
import { ThreadLink } from './thread-link.ts';

export class LeftEnd {
  readonly #tail: ThreadLink;

  /**
   * @param natives of the tail; the others are in the luggage
   * @param gone called when whoever has the end now is done with it
   */
  constructor(natives: NativePair, gone: () => void) {
    this.#tail = new ThreadLink(natives);
    this.#tail.found({
      // Whoever has the end now says nothing here.
      accept: (_, message) => letGoOfMessage(message),
      arrived: () => {},
      gone,
    });
  }

  /** A value or what belongs to one, as it came; or that the other side has moved, too: who has the end now goes on with it. */
  sendOn(message: readonly unknown[], natives: readonly unknown[] = nativesOfMessage(message)): void {
    const [kind, , ...rest] = message;
    try {
      if (this.#tail.say([kind, FOUNDER, ...rest], natives)) return;
    } catch {
      // Something in it cannot be moved a second time: who asks for the value is told that it never came.
    }
    letGoOfMessage(message);
  }
  /** Its event loop is to look: it was rung here. */
  ring(): void {
    this.#tail.doorbell();
  }
  /** Nothing more can come, or nobody waits for it. */
  over(): void {
    const waits = this.#tail.say([DONE, FOUNDER, TAIL]);
    // Its other end may not have arrived yet, and closes it when it has.
    this.#tail.close(!waits);
  }
}
