// Puts the parts of a large message together again. Bounded: the first part says how long the whole will be.
import { LayoutError } from '../errors.ts';
import type { BlockMemory } from '../platform/contract.ts';
import { KIND_MASK, MORE, PARTS_PREFIX_BYTES } from './header.ts';

/** Where a part stands. */
export interface PartSource {
  readonly bytes: Uint8Array;
  readonly blocks: BlockMemory;
}

export class Join {
  readonly #messageMax: number;
  #whole: Uint8Array | undefined;
  #kind = 0;
  #filled = 0;

  constructor(messageMax: number) {
    this.#messageMax = messageMax;
  }

  /** Whether parts of a message are here and more must come. */
  get open(): boolean {
    return this.#whole !== undefined;
  }

  /** Kind of the message whose parts are being collected, or were collected last. */
  get kind(): number {
    return this.#kind;
  }

  /**
   * Copies one part in. Returns the whole message when this was the last part, else `undefined`. The message belongs
   * to the caller and starts at offset 0 of its own buffer.
   * @param tag second header word of the record
   * @throws LayoutError if the parts do not add up or the whole would be longer than the channel takes
   */
  add(tag: number, views: PartSource, offset: number, length: number): Uint8Array | undefined {
    let start = offset;
    let count = length;
    let whole = this.#whole;
    if (whole === undefined) {
      const { bytes } = views;
      if (length < PARTS_PREFIX_BYTES) throw new LayoutError(`Cannot join: the first part has ${length} bytes`);
      const total =
        (bytes[offset] as number) |
        ((bytes[offset + 1] as number) << 8) |
        ((bytes[offset + 2] as number) << 16) |
        ((bytes[offset + 3] as number) << 24);
      if (total < 0 || total > this.#messageMax) {
        throw new LayoutError(`Cannot join a message of ${total} bytes: the channel takes ${this.#messageMax}`, {
          length: total,
          limit: this.#messageMax,
        });
      }
      whole = new Uint8Array((total + 7) & -8);
      this.#whole = whole;
      this.#kind = tag & KIND_MASK;
      this.#filled = 0;
      this.#total = total;
      start += PARTS_PREFIX_BYTES;
      count -= PARTS_PREFIX_BYTES;
    }
    const last = (tag & MORE) === 0;
    if ((tag & KIND_MASK) !== this.#kind || count > this.#total - this.#filled) {
      throw new LayoutError(`Cannot join: a part of ${count} bytes, kind ${tag & KIND_MASK}, does not belong here`);
    }
    views.blocks.copyOut(whole, start, count, this.#filled);
    this.#filled += count;
    if (!last) return undefined;
    if (this.#filled !== this.#total) {
      throw new LayoutError(`Cannot join: ${this.#filled} of ${this.#total} bytes came`);
    }
    this.#whole = undefined;
    return whole.subarray(0, this.#total);
  }

  #total = 0;
}
