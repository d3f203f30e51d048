// The reading end of a ring: single consumer, records read in place. Never sleeps, never allocates.
// Invariants I1 to I5 stand at the top of producer.ts.
// I6. Every header word is read once, checked, and only the checked copy is used: the bytes may be hostile.
import { LayoutError } from '../errors.ts';
import { HEADER_BYTES, KIND_MASK, KIND_PAD, recordBytes } from '../frame/header.ts';
import { HEAD, TAIL, TAKEN } from '../memory/layout.ts';
import type { LaneMemory } from '../memory/region.ts';
import { distance } from './positions.ts';
import type { Bell } from './producer.ts';

const HEADER: number = HEADER_BYTES;
const MASK: number = KIND_MASK;
const PAD: number = KIND_PAD;
const STOPPED: unique symbol = Symbol('stop');

/** Nothing to take. An offset is never negative. */
export const NONE = -1;
/** A `drain` handler returns it to stop after the record at hand. */
export const STOP: typeof STOPPED = STOPPED;

/** Is given one record: `length` payload bytes at `offset` of `bytes`, valid until it returns. */
export type RecordHandler = (bytes: Uint8Array, offset: number, length: number, kind: number) => unknown;

const SILENT: Bell = { ring(): void {} };

export class Consumer {
  // Every number has a value from the start, and the views are not declared to the engine: a field that holds
  // `undefined` even for a moment is checked by V8 at each use.
  declare readonly words: Int32Array;
  declare readonly bytes: Uint8Array;
  readonly capacity: number = 0;
  /** Payload bytes of the record that `tryNext` or `peek` found last. */
  length = 0;
  /** Kind and flags of that record. */
  kind = 0;
  readonly #data: number = 0;
  readonly #mask: number = 0;
  readonly #quarter: number = 0;
  readonly #tailWord: number = 0;
  readonly #headWord: number = 0;
  readonly #takenWord: number = 0;
  readonly #bell: Bell;
  /** Bytes that TAKEN may lie behind HEAD; Infinity where nobody looks at it. */
  readonly #lagMax: number = 0;
  /** What TAKEN holds. */
  #told = 0;
  /** Position of the next record to take. */
  #cursor = 0;
  /** What HEAD holds: everything before it was given back to the producer. */
  #released = 0;
  /** TAIL as last seen; the real one is at or past it. */
  #tailSeen = 0;
  /** Records may be taken up to here: the end of the data area or `#tailSeen`, whichever comes first. */
  #end = 0;

  /**
   * Takes the consumer's role on a lane. One per lane, in one thread.
   * @param bell told after each release, so that a producer that waits for room can be woken
   * @param exact whether to keep TAKEN: for a producer made so
   */
  constructor(lane: LaneMemory, bell: Bell = SILENT, exact = false) {
    this.words = lane.words;
    this.bytes = lane.bytes;
    this.capacity = lane.capacity;
    this.#data = lane.data;
    this.#mask = lane.capacity - 1;
    this.#quarter = lane.capacity / 4;
    this.#tailWord = lane.block + TAIL;
    this.#headWord = lane.block + HEAD;
    this.#takenWord = lane.block + TAKEN;
    this.#bell = bell;
    this.#cursor = Atomics.load(lane.words, this.#headWord);
    this.#released = this.#cursor;
    this.#told = exact ? Atomics.load(lane.words, this.#takenWord) : 0;
    this.#lagMax = exact ? lane.capacity / 2 : Number.POSITIVE_INFINITY;
    this.#tailSeen = this.#cursor;
    this.#end = this.#cursor;
    if ((this.#cursor & 7) !== 0) {
      throw new LayoutError(`Cannot consume: HEAD ${this.#cursor} is not a multiple of 8`);
    }
  }

  /**
   * Moves to the next record and returns the byte offset of its payload, or `NONE` (-1); `length` and `kind` tell the
   * rest. The bytes stay valid until `release`. Consumer thread only. Never blocks, never allocates.
   * @throws LayoutError if what stands there is no record; the ring is unusable from then on
   */
  tryNext(): number {
    const offset = this.peek();
    if (offset >= 0) this.#cursor = (this.#cursor + recordBytes(this.length)) | 0;
    return offset;
  }

  /** Moves past the record that `peek` has just found. */
  advance(): void {
    this.#cursor = (this.#cursor + recordBytes(this.length)) | 0;
  }

  /** Like `tryNext`, but stays: the same record is found again. Skips pads. */
  peek(): number {
    const cursor = this.#cursor;
    if (cursor === this.#end && !this.#moveEnd()) return NONE;
    const index = cursor & this.#mask;
    const at = (this.#data + index) >>> 2;
    const length = this.words[at] as number;
    const kind = this.words[at + 1] as number;
    const stretch = distance(cursor, this.#end);
    if ((kind & MASK) === PAD) {
      // A pad fills the end of the data area, never all of it: who follows one pad with the next would hold us here.
      if (length !== this.capacity - index || length > stretch || index === 0) throw this.#damaged(length, kind);
      this.#cursor = (cursor + length) | 0;
      return this.peek();
    }
    // The stretch is a multiple of 8, so the padding fits where the payload does. A negative length is a huge one here.
    if (length >>> 0 > stretch - HEADER) throw this.#damaged(length, kind);
    this.length = length;
    this.kind = kind;
    return this.#data + index + HEADER;
  }

  /**
   * Takes what is there, record after record, and gives the room back at the end (at every quarter of the ring too).
   * A record counts as taken once the handler was called for it, also if the handler throws.
   * @param handler is given each record in place; returns STOP to stop after it
   * @param limit records at the most
   * @returns records taken
   */
  drain(handler: RecordHandler, limit: number = Number.POSITIVE_INFINITY): number {
    let count = 0;
    try {
      while (count < limit) {
        const offset = this.tryNext();
        if (offset < 0) break;
        count++;
        if (handler(this.bytes, offset, this.length, this.kind) === STOPPED) break;
        if (distance(this.#released, this.#cursor) >= this.#quarter) this.release();
      }
    } finally {
      this.release();
    }
    return count;
  }

  /** Gives the room of everything taken back to the producer, and wakes it if it announced that it waits for room. */
  release(): void {
    if (this.#released === this.#cursor) return;
    this.#released = this.#cursor;
    // SYNC taken: before HEAD, so that it never lies too far behind; pairs with Producer.releasedUpTo and Producer.#refresh.
    if (distance(this.#told, this.#cursor) > this.#lagMax) {
      this.#told = this.#cursor;
      Atomics.store(this.words, this.#takenWord, this.#cursor);
    }
    // SYNC room-visible: our reads of the released bytes are over; pairs with Producer.tryClaim.
    Atomics.store(this.words, this.#headWord, this.#cursor);
    this.#bell.ring(this.#cursor);
  }

  /**
   * Says that all reads of everything taken so far are over and its values out, where `release`, which says so too, is to
   * come for a batch of them: for a producer made `exact`. It is woken if it sleeps for a position that is reached with this.
   */
  tell(): void {
    this.#told = this.#cursor;
    // SYNC taken: our reads of the records before are over; pairs with Producer.releasedUpTo and Producer.#refresh.
    Atomics.store(this.words, this.#takenWord, this.#cursor);
    this.#bell.reached?.(this.#cursor);
  }

  /** Whether everything that was published when we last looked has been taken. Does not look anew. */
  get caughtUp(): boolean {
    return this.#cursor === this.#tailSeen;
  }

  /** Bytes taken but not yet given back. */
  get held(): number {
    return distance(this.#released, this.#cursor);
  }

  /** Whether anything was published that was not taken. Looks anew. */
  get ready(): boolean {
    return this.#cursor !== this.#tailSeen || this.#refresh();
  }

  /** Bytes published and not taken, headers and pads included. Looks anew. */
  get available(): number {
    this.#refresh();
    return distance(this.#cursor, this.#tailSeen);
  }

  /** Moves `#end` on from the cursor; false when there is nothing to take. */
  #moveEnd(): boolean {
    if (!this.ready) return false;
    const room = this.capacity - (this.#cursor & this.#mask);
    this.#end = (this.#cursor + Math.min(room, distance(this.#cursor, this.#tailSeen))) | 0;
    return true;
  }

  #refresh(): boolean {
    // SYNC record-visible: after this load the plain reads of the records before it see what was written; pairs with
    // Producer.publish.
    const tail = Atomics.load(this.words, this.#tailWord);
    const ready = distance(this.#cursor, tail);
    if (ready > this.capacity || (tail & 7) !== 0) {
      throw new LayoutError(`Cannot consume: TAIL ${tail} and HEAD ${this.#cursor} lie ${ready} bytes apart`, {
        position: tail,
        limit: this.capacity,
      });
    }
    this.#tailSeen = tail;
    return ready !== 0;
  }

  #damaged(length: number, kind: number): LayoutError {
    return new LayoutError(`Cannot consume: the record at ${this.#cursor} claims ${length} bytes of kind ${kind}`, {
      length,
      kind,
      position: this.#cursor,
    });
  }
}
