// Encodes outside the ring what has to wait, or may be longer than any record. Its memory is used again.

import { type Encoder, REFUSED } from '../codec/codec.ts';
import { UsageError } from '../errors.ts';
import { ASIDE_BYTES_FIRST, ASIDE_BYTES_KEPT } from '../limits.ts';
import type { Views } from '../memory/region.ts';
import { scratch } from '../memory/scratch.ts';

/** A message encoded outside the ring, and the memory around it if that is to be used again. */
export interface Aside {
  readonly bytes: Uint8Array;
  readonly home: Views | undefined;
}

export class AsideEncoder {
  /** Bytes of the longest message. */
  messageMax: number;
  readonly #encoder: Encoder;
  /** Bytes that the last message took. */
  #asideBytes: number = ASIDE_BYTES_FIRST;

  constructor(encoder: Encoder, messageMax: number) {
    this.#encoder = encoder;
    this.messageMax = messageMax;
  }

  /**
   * What it returns is the caller's until `giveBack`. Undefined: refused, the native clone may carry it.
   * @param learn whether the message may teach the receiver something: it will arrive, in its order
   * @throws DataCloneError, UsageError ERR_TOO_LARGE
   */
  encode(value: unknown, learn: boolean): Aside | undefined {
    let home = scratch.take(Math.min(this.#asideBytes, this.messageMax));
    for (;;) {
      const room = Math.min(home.bytes.length, this.messageMax);
      let length: number = REFUSED;
      try {
        length = this.#encoder.encodeInto(value, home, 0, room, learn);
      } finally {
        if (length === REFUSED) scratch.give(home, room);
      }
      if (length === REFUSED) return undefined;
      if (length >= 0) return this.#keep(home, length, room);
      scratch.give(home, room);
      if (room === this.messageMax) {
        throw new UsageError(
          'ERR_TOO_LARGE',
          `Cannot send: the message takes more than ${this.messageMax} bytes; raise the channel's maxMessageBytes`,
          // How much more is not known: nobody has counted it.
          { length: this.messageMax + 1, limit: this.messageMax },
        );
      }
      home = scratch.take(Math.min(room * 4, this.messageMax));
    }
  }

  /** The message has gone where it belongs, or nowhere. */
  giveBack({ bytes, home }: Aside): void {
    if (home !== undefined) scratch.give(home, bytes.length);
  }

  #keep(home: Views, length: number, room: number): Aside {
    this.#asideBytes = Math.max(length, ASIDE_BYTES_FIRST);
    if (length >= ASIDE_BYTES_KEPT) return { bytes: home.bytes.subarray(0, length), home };
    const bytes = home.bytes.slice(0, length);
    scratch.give(home, room);
    return { bytes, home: undefined };
  }
}
