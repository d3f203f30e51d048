// Credit beyond the usual, for channels that go over a stream and whose program names none: a message of up to half of it is written and read in one
// piece, and its sender waits for no answer in the middle. A peer may fill it while nobody reads, so that all channels of a thread have it from one
// purse (STREAM_WIDE_BYTES_MAX): the first of them do, the others have the usual, however many connections and channels there are.
import { STREAM_WIDE_BYTES_MAX, STREAM_WINDOW_WIDE } from '../../limits.ts';

export class WideCredit {
  #given = 0;

  /** Bytes of credit for a channel; undefined when too much is out. To be given back once. */
  take(): number | undefined {
    if (this.#given + STREAM_WINDOW_WIDE > STREAM_WIDE_BYTES_MAX) return undefined;
    this.#given += STREAM_WINDOW_WIDE;
    return STREAM_WINDOW_WIDE;
  }
  /** The channel that had it is over: nothing comes any more. */
  giveBack(): void {
    this.#given -= STREAM_WINDOW_WIDE;
  }
}

export const wideCredit: WideCredit = /* @__PURE__ */ new WideCredit();
