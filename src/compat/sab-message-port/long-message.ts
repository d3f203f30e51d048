// A message longer than a record may be, in a pipe whose reader and writer may be replaced at any moment: its parts say
// whether they are the first. So a reader that begins in the middle of one knows it, and so does one that meets the
// beginning of a message where the rest of another should come.
//
//   first part        KIND | MORE          eight bytes before its payload: the length of the whole, and a zero word
//   further parts     KIND | REST | MORE   the last one without MORE
//   no more of it     KIND | REST          without payload: the writer gave the message up
import { CodecError } from '../../errors.ts';
import { MORE } from '../../frame/header.ts';
import { Join, type PartJoin, type PartSource } from '../../frame/join.ts';
import { MESSAGE_BYTES_MAX, SCRATCH_BYTES_KEPT } from '../../limits.ts';
import type { Views } from '../../memory/region.ts';

/** Beside the kind, in the second word of a record's header: this part goes on with what others began. */
export const REST = 0x200;
/** What a record that is the whole of its message has none of. */
const PARTS: number = MORE | REST;

/** The rest of a message came whose beginning went to a reader that is no more. */
export class LostMessage extends CodecError {
  constructor() {
    super('ERR_DECODE', 'Cannot read a message: its beginning was taken by a reader before this one');
  }
}

/** Puts the parts together again. */
export class LongMessage implements PartJoin {
  // Four bytes may claim gigabytes: beyond what is kept anyway, memory is had as parts really come.
  readonly #join = new Join(MESSAGE_BYTES_MAX, SCRATCH_BYTES_KEPT);
  /** What comes now is the rest of a message that is lost, and known to be. */
  #adrift = false;

  /** Whether parts of a message are here and more must come. */
  get open(): boolean {
    return this.#join.open;
  }
  /** Whether the beginning of another message would change anything. */
  get expected(): boolean {
    return this.#join.open || this.#adrift;
  }

  takes(tag: number): boolean {
    if ((tag & PARTS) !== 0) return true;
    if (this.expected) this.#begin();
    return false;
  }

  /** The rest of the message that is open will not come. */
  drop(): void {
    this.#join.drop();
  }
  /** Records were lost; if the rest of a message comes next, that is known already. */
  lose(): void {
    this.drop();
    this.#adrift = true;
  }
  /** A message begins: the one that is open, if any, was never finished. */
  #begin(): void {
    this.drop();
    this.#adrift = false;
  }

  /** @throws CodecError once for a message that cannot be had; the rest of it is then passed over */
  add(tag: number, source: PartSource, offset: number, length: number): boolean {
    const givenUp = (tag & MORE) === 0 && length === 0;
    if ((tag & REST) === 0) this.#begin();
    else if (!this.#join.open) {
      // One that was given up is missed by nobody.
      if (this.#adrift || givenUp) return false;
      this.#adrift = true;
      throw new LostMessage();
    } else if (givenUp) {
      this.drop();
      return false;
    }
    try {
      return this.#join.add(tag, source, offset, length);
    } catch (cause) {
      this.lose();
      throw new CodecError('ERR_DECODE', `Cannot read a long message: ${(cause as Error).message}`, { cause });
    }
  }

  take<R>(use: (kind: number, whole: Views, length: number) => R): R {
    return this.#join.take(use);
  }
}
