// A message longer than a record may be, in a pipe whose reader and writer may be replaced at any moment: its parts say
// whether they are the first. So a reader that begins in the middle of one knows it, and so does one that meets the
// beginning of a message where the rest of another should come.
//
//   first part        KIND | MORE          eight bytes before its payload: the length of the whole, and a zero word
//   further parts     KIND | REST | MORE   the last one without MORE
//   no more of it     KIND | REST          without payload: the writer gave the message up
import { CodecError } from '../../errors.ts';
import { KIND_JSON, KIND_MASK, KIND_PACKED, MORE, PARTS_PREFIX_BYTES } from '../../frame/header.ts';
import { MESSAGE_BYTES_MAX, SCRATCH_BYTES_KEPT } from '../../limits.ts';
import type { Views } from '../../memory/region.ts';
import { Scratch } from '../../memory/scratch.ts';

/** Beside the kind, in the second word of a record's header: this part goes on with what others began. */
export const REST = 0x200;
/** What a record that is the whole of its message has none of. */
export const PARTS: number = MORE | REST;

/** The rest of a message came whose beginning went to a reader that is no more. */
export class LostMessage extends CodecError {
  constructor() {
    super('ERR_DECODE', 'Cannot read a message: its beginning was taken by a reader before this one');
  }
}

/** Puts the parts together again. */
export class LongMessage {
  readonly #scratch = new Scratch();
  #whole: Views | null = null;
  #kind = 0;
  #total = 0;
  #filled = 0;
  /** What comes now is the rest of a message that is lost, and known to be. */
  #adrift = false;

  /** Whether parts of a message are here and more must come. */
  get open(): boolean {
    return this.#whole !== null;
  }
  /** Whether the beginning of another message would change anything. */
  get expected(): boolean {
    return this.#whole !== null || this.#adrift;
  }

  /** The rest of the message that is open will not come. */
  drop(): void {
    if (this.#whole !== null) this.#scratch.give(this.#whole, this.#filled);
    this.#whole = null;
  }
  /** Records were lost; if the rest of a message comes next, that is known already. */
  lose(): void {
    this.drop();
    this.#adrift = true;
  }
  /** A message begins: the one that is open, if any, was never finished. */
  begin(): void {
    this.drop();
    this.#adrift = false;
  }

  /**
   * Takes one part in, from `offset` of `source`. Returns true when it was the last: `take` the message then.
   * @param tag second header word of the record
   * @throws CodecError once for a message that cannot be had; the rest of it is then passed over
   */
  add(tag: number, source: Views, offset: number, length: number): boolean {
    const more = (tag & MORE) !== 0;
    let start = offset;
    let count = length;
    if ((tag & REST) === 0) {
      this.begin();
      this.#begin(tag & KIND_MASK, source, offset, length);
      start += PARTS_PREFIX_BYTES;
      count -= PARTS_PREFIX_BYTES;
    } else if (this.#whole === null) {
      // One that was given up is missed by nobody.
      if (this.#adrift || (!more && length === 0)) return false;
      this.#adrift = true;
      throw new LostMessage();
    } else if (!more && length === 0) {
      this.drop();
      return false;
    }
    if (count === 0 || (tag & KIND_MASK) !== this.#kind || count > this.#total - this.#filled) {
      throw this.#damaged(`a part of ${count} bytes, kind ${tag & KIND_MASK}, does not belong there`);
    }
    const whole = this.#roomFor(count);
    source.blocks.copyOut(whole.bytes, start, count, this.#filled);
    this.#filled += count;
    if (more) return false;
    if (this.#filled !== this.#total) throw this.#damaged(`${this.#filled} of ${this.#total} bytes came`);
    return true;
  }

  /** Hands the whole message, which starts at offset 0, to `use`; its memory is used again afterwards. */
  take<R>(use: (kind: number, whole: Views, length: number) => R): R {
    const whole = this.#whole as Views;
    this.#whole = null;
    try {
      return use(this.#kind, whole, this.#total);
    } finally {
      this.#scratch.give(whole, this.#total);
    }
  }

  #begin(kind: number, source: Views, offset: number, length: number): void {
    const total = length < PARTS_PREFIX_BYTES ? -1 : (source.words[offset >>> 2] as number);
    if (total <= 0 || total > MESSAGE_BYTES_MAX || (kind !== KIND_JSON && kind !== KIND_PACKED)) {
      throw this.#damaged(`its first part of ${length} bytes, kind ${kind}, claims ${total}`);
    }
    this.#kind = kind;
    this.#total = total;
    this.#filled = 0;
    // Four bytes may claim gigabytes: beyond what is kept anyway, memory is had as parts really come.
    this.#whole = this.#scratch.take(Math.min(total, SCRATCH_BYTES_KEPT));
  }

  #roomFor(count: number): Views {
    const whole = this.#whole as Views;
    const needed = this.#filled + count;
    if (needed <= whole.bytes.length) return whole;
    let larger: Views;
    try {
      larger = this.#scratch.take(Math.min(this.#total, Math.max(needed, whole.bytes.length * 2)));
    } catch (cause) {
      throw this.#damaged(`there is no memory for ${this.#total} bytes`, cause);
    }
    whole.blocks.copyOut(larger.bytes, 0, this.#filled);
    this.#whole = larger;
    return larger;
  }

  #damaged(what: string, cause?: unknown): CodecError {
    this.lose();
    return new CodecError('ERR_DECODE', `Cannot read a long message: ${what}`, { cause });
  }
}
