// Ends that no port is made of: their handles were lost, came to nothing, or nobody holds them any more. Who has the other end is told.
import { platform } from '#platform';
import * as layout from '../../memory/layout.ts';
import type { NativePair } from '../../memory/native-pair.ts';
import type { EndReason } from '../../outcome.ts';
import { sharedParking } from '../../wait/parking.ts';
import { type EndLines, EndTeller } from '../ring/end-teller.ts';

/** Of an end whose native ports are not here. */
export const NO_LINES: EndLines = { doorbell() {}, above() {}, tellEnd() {}, close() {} };

/** The native ports of a handle that nobody will attach. */
export class HandleLines implements EndLines {
  readonly #natives: NativePair;

  constructor(natives: NativePair) {
    this.#natives = natives;
  }
  doorbell(): void {
    this.#natives.tether.postMessage(0);
  }
  above(): void {
    this.doorbell();
  }
  tellEnd(): void {}
  close(): void {
    this.#natives.tether.close();
    this.#natives.side.close();
  }
}

/** Ends a side that this thread has claimed, and has sent nothing over. */
export function endUnused(words: Int32Array, end: 0 | 1, lines: EndLines, reason: EndReason): void {
  const [here, there] = end === 0 ? [layout.SIDE_0, layout.SIDE_1] : [layout.SIDE_1, layout.SIDE_0];
  const teller = new EndTeller({ words, here, there }, lines, sharedParking(platform.asyncPark));
  teller.tell(reason, 0);
  teller.closeLines();
}
