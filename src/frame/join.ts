// Puts the parts of a large message together again. Bounded: the first part says how long the whole will be.
import { LayoutError } from '../errors.ts';
import type { Views } from '../memory/region.ts';
import { scratch } from '../memory/scratch.ts';
import type { BlockMemory } from '../platform/contract.ts';
import { KIND_MASK, MORE, PARTS_PREFIX_BYTES } from './header.ts';

/** Where a part stands. */
export interface PartSource {
  readonly bytes: Uint8Array;
  readonly blocks: BlockMemory;
}

/** Puts the parts of a message together, in the order in which a lane hands its records over. */
export interface PartJoin {
  /** Whether parts of a message are here and more must come. */
  readonly open: boolean;
  /** Whether the record with this tag, which comes next, is a part. */
  takes(tag: number): boolean;
  /**
   * Copies one part in. Returns true when this was the last part: `take` the message then.
   * @param tag second header word of the record
   * @throws LayoutError, or CodecError where the lane can go on, if the parts do not add up
   */
  add(tag: number, source: PartSource, offset: number, length: number): boolean;
  /** Hands the whole message, which starts at offset 0, to `use`; its memory is used again afterwards. */
  take<R>(use: (kind: number, whole: Views, length: number) => R): R;
  /** What has come of a message that is not whole yet. */
  readonly begun?: Begun | undefined;
  /** Goes on with what another one has begun. @throws LayoutError if there can be no such message */
  resume?(begun: Begun): void;
}

/** The part of a message that has come. */
export interface Begun {
  readonly kind: number;
  readonly total: number;
  readonly bytes: Uint8Array;
}

export class Join implements PartJoin {
  readonly #messageMax: number;
  readonly #atOnceMax: number;
  #whole: Views | undefined;
  #kind = 0;
  #total = 0;
  #filled = 0;

  /** @param atOnceMax bytes that are had on the word of the first part; beyond, memory is had as parts really come */
  constructor(messageMax: number, atOnceMax: number = messageMax) {
    this.#messageMax = messageMax;
    this.#atOnceMax = atOnceMax;
  }

  get open(): boolean {
    return this.#whole !== undefined;
  }
  takes(tag: number): boolean {
    return (tag & MORE) !== 0 || this.#whole !== undefined;
  }

  get begun(): Begun | undefined {
    if (this.#whole === undefined) return undefined;
    return { kind: this.#kind, total: this.#total, bytes: this.#whole.bytes.slice(0, this.#filled) };
  }
  resume({ kind, total, bytes }: Begun): void {
    if (!(total >= bytes.length && total <= this.#messageMax)) {
      throw new LayoutError(`Cannot join: ${bytes.length} bytes of ${total} are said to have come`, { length: total });
    }
    this.#kind = kind;
    this.#total = total;
    this.#filled = bytes.length;
    this.#whole = this.#memory(Math.max(bytes.length, Math.min(total, this.#atOnceMax)));
    this.#whole.bytes.set(bytes);
  }

  /** The rest of the message that is open will not come. */
  drop(): void {
    if (this.#whole !== undefined) scratch.give(this.#whole, this.#filled);
    this.#whole = undefined;
  }

  add(tag: number, source: PartSource, offset: number, length: number): boolean {
    let start = offset;
    let count = length;
    if (this.#whole === undefined) {
      this.#whole = this.#begin(tag, source.bytes, offset, length);
      start += PARTS_PREFIX_BYTES;
      count -= PARTS_PREFIX_BYTES;
    }
    // A part that brings nothing on, and more to come after it, could go on for ever.
    const idle = count === 0 && (tag & MORE) !== 0;
    if (idle || (tag & KIND_MASK) !== this.#kind || count > this.#total - this.#filled) {
      throw new LayoutError(`Cannot join: a part of ${count} bytes, kind ${tag & KIND_MASK}, does not belong here`);
    }
    if (this.#filled + count > this.#whole.bytes.length) this.#whole = this.#grown(this.#whole, count);
    source.blocks.copyOut(this.#whole.bytes, start, count, this.#filled);
    this.#filled += count;
    if ((tag & MORE) !== 0) return false;
    if (this.#filled !== this.#total) {
      throw new LayoutError(`Cannot join: ${this.#filled} of ${this.#total} bytes came`);
    }
    return true;
  }

  take<R>(use: (kind: number, whole: Views, length: number) => R): R {
    const whole = this.#whole as Views;
    this.#whole = undefined;
    try {
      return use(this.#kind, whole, this.#total);
    } finally {
      scratch.give(whole, this.#total);
    }
  }

  #begin(tag: number, bytes: Uint8Array, offset: number, length: number): Views {
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
    this.#kind = tag & KIND_MASK;
    this.#total = total;
    this.#filled = 0;
    return this.#memory(Math.min(total, this.#atOnceMax));
  }

  /** Larger memory for what is here and `count` bytes more. */
  #grown(whole: Views, count: number): Views {
    const larger = this.#memory(Math.min(this.#total, Math.max(this.#filled + count, whole.bytes.length * 2)));
    whole.blocks.copyOut(larger.bytes, 0, this.#filled);
    scratch.give(whole, this.#filled);
    return larger;
  }

  #memory(bytes: number): Views {
    try {
      return scratch.take(bytes);
    } catch (cause) {
      throw new LayoutError(`Cannot join a message of ${this.#total} bytes: there is no memory for it`, { cause });
    }
  }
}
