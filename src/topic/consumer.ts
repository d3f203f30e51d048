// A reading end of a topic's ring. Any number of them, none of which the writer knows, unless it has a seat. It copies a record out, and
// asks then whether the writer may have been there meanwhile (P1): what was overtaken is never looked at. Never sleeps.
//
// Invariants P1 to P5 stand at the top of producer.ts.
// P6. Nothing that was copied means anything before `#stands` has said so, and a record counts only if it has the number that is expected
//     there: whoever was away for 4 GiB of messages finds a position that fits, and something else behind it.
import { LayoutError } from '../errors.ts';
import { KIND_PACKED, KIND_PAD } from '../frame/header.ts';
import { TOPIC_BEGINNINGS_MAX, TOPIC_LOOP_BYTES, TOPIC_TRIES_MAX } from '../limits.ts';
import { distance } from '../ring/positions.ts';
import { INTENT, NEWEST, TAIL } from './layout.ts';
import type { TopicLane } from './memory.ts';
import { BACK, HEADER_BYTES, KIND, LENGTH, NUMBER, RECORD_ALIGN, recordBytes } from './record.ts';
import type { Seat } from './seats.ts';

/** There is no message that was not taken. */
export const NONE = -1;
/** There is one, and the writer is quicker than we can copy it: again, after others have had their turn. */
export const OUTRUN = -2;

/** Where a reader begins. */
export type StartAt = 'latest' | 'next' | 'oldest';

/** Where messages are copied to: memory of the reader's own. */
export interface Target {
  readonly words: Int32Array;
  readonly bytes: Uint8Array;
}

// Copies: see frame/header.ts.
const HEADER: number = HEADER_BYTES;
const LOOP_BYTES: number = TOPIC_LOOP_BYTES;
const TRIES: number = TOPIC_TRIES_MAX;
const BEGINNINGS: number = TOPIC_BEGINNINGS_MAX;
const tailWord: number = TAIL;
const newestWord: number = NEWEST;
const intentWord: number = INTENT;

interface Header {
  readonly length: number;
  readonly number: number;
  readonly back: number;
}

export class TopicConsumer {
  /** Messages that were published since this reader began and that it did not get. */
  missed = 0;
  readonly #words: Int32Array;
  readonly #blocks: TopicLane['blocks'];
  readonly #data: number = 0;
  readonly #capacity: number = 0;
  readonly #messageMax: number = 0;
  readonly #newestOnly: boolean;
  readonly #target: (bytes: number) => Target;
  /** A word of our own: see `#stands`. */
  readonly #fence: Int32Array;
  #seat: Seat | undefined;
  #cursor = 0;
  /** Number of the record at the cursor. */
  #expected = 0;
  /** The record at the cursor is the newest, whatever its number: we have been overtaken, or go on to it. */
  #leapt = false;

  /**
   * @param target memory for so many bytes of payload; called for each message
   * @param newestOnly whether each message that is taken is the newest, and all others are missed
   */
  constructor(lane: TopicLane, target: (bytes: number) => Target, fence: Int32Array, newestOnly: boolean) {
    this.#words = lane.words;
    this.#blocks = lane.blocks;
    this.#data = lane.data;
    this.#capacity = lane.capacity;
    this.#messageMax = lane.messageMax;
    this.#target = target;
    this.#fence = fence;
    this.#newestOnly = newestOnly;
  }

  /**
   * Begins. With a seat nothing from there on is written over before it was taken.
   * @throws LayoutError if there is nowhere to begin: memory that lies
   */
  join(start: StartAt, seat?: Seat): void {
    for (let tries = 0; tries < BEGINNINGS; tries++) {
      // What INTENT covers already may be gone (P5); the writer waits for this seat now, and for the next try.
      if (
        this.#begin(start) &&
        (seat === undefined || distance(this.#cursor, seat.sit(this.#cursor)) <= this.#capacity)
      ) {
        this.#seat = seat;
        return;
      }
    }
    seat?.leave();
    throw new LayoutError(
      `Cannot begin to read the topic: ${BEGINNINGS} times its newest message was written over at once`,
      { limit: BEGINNINGS },
    );
  }

  /** Whether there is where to. */
  #begin(start: StartAt): boolean {
    const newest = this.#newest();
    this.#cursor = newest;
    // Nothing was published: what stands there is no header yet.
    if (Atomics.load(this.#words, tailWord) === newest) return true;
    const header = this.#headerAt(newest);
    if (header === undefined) return false;
    this.#expected = header.number;
    if (start === 'next') {
      this.#cursor = (newest + recordBytes(header.length)) | 0;
      this.#expected = (header.number + 1) | 0;
    } else if (start === 'oldest') this.#goBack(header);
    return true;
  }

  /** From the newest record back, as far as records stand: not further than the ring has room for, whatever it says meanwhile. */
  #goBack(newest: Header): void {
    let { back, number } = newest;
    for (let left = this.#capacity; back >= RECORD_ALIGN && back < left && (back & (RECORD_ALIGN - 1)) === 0; ) {
      const at = (this.#cursor - back) | 0;
      left -= back;
      const before = this.#headerAt(at);
      if (before === undefined || before.number !== ((number - 1) | 0)) return;
      this.#cursor = at;
      this.#expected = before.number;
      ({ back, number } = before);
    }
  }

  /** What stands at a position, if it does. */
  #headerAt(position: number): Header | undefined {
    const at = (this.#data + (position & (this.#capacity - 1))) >>> 2;
    const words = this.#words;
    const length = words[at + LENGTH] as number;
    const number = words[at + NUMBER] as number;
    const back = words[at + BACK] as number;
    return this.#stands(position) ? { length, number, back } : undefined;
  }

  /**
   * Copies the next message into the target, and returns its length in bytes; `NONE`, or `OUTRUN`. `missed` has grown by what was
   * published before it and is lost to us.
   * @throws LayoutError if what stands there is no record; the topic is unusable from then on
   */
  take(): number {
    for (let tries = 0; tries < TRIES; tries++) {
      // SYNC topic-visible: after this load the plain reads of the records before it see what was written; pairs with TopicProducer.commit.
      const tail = Atomics.load(this.#words, tailWord);
      if (tail === this.#cursor) return NONE;
      if (this.#newestOnly) this.#goToNewest();
      const cursor = this.#cursor;
      const index = cursor & (this.#capacity - 1);
      const at = (this.#data + index) >>> 2;
      const length = this.#words[at + LENGTH] as number;
      const kind = this.#words[at + KIND] as number;
      const number = this.#words[at + NUMBER] as number;
      const isRecord =
        kind === KIND_PACKED && length >>> 0 <= this.#messageMax && length <= this.#capacity - index - HEADER;
      if (isRecord) this.#copy(at + HEADER / 4, length);
      if (!this.#stands(cursor)) {
        this.#leap();
        continue;
      }
      if (number !== this.#expected) {
        if (!this.#leapt) {
          this.#leap();
          continue;
        }
        this.missed += distance(this.#expected, number);
        this.#expected = number;
      }
      if (isRecord) {
        this.#pass(recordBytes(length));
        this.#expected = (number + 1) | 0;
        return length;
      }
      // A pad fills the end of the data area, never all of it: who follows one pad with the next would hold us here.
      if (kind !== KIND_PAD || index === 0 || length !== this.#capacity - index) throw damaged(cursor, length, kind);
      this.#pass(length);
    }
    return OUTRUN;
  }

  /** Whether `take` has something to do. */
  get ready(): boolean {
    return Atomics.load(this.#words, tailWord) !== this.#cursor;
  }

  /** Whether the writer waits for this reader, if it was promised to. */
  get seated(): boolean {
    return this.#seat?.held === true;
  }

  leave(): void {
    this.#seat?.leave();
    this.#seat = undefined;
  }

  #pass(bytes: number): void {
    this.#cursor = (this.#cursor + bytes) | 0;
    this.#leapt = false;
    this.#seat?.moved(this.#cursor);
  }

  #copy(word: number, length: number): void {
    const { words, bytes } = this.#target(length);
    if (length > LOOP_BYTES) this.#blocks.copyOut(bytes, word * 4, length);
    else for (let i = 0; i < (length + 3) >>> 2; i++) words[i] = this.#words[word + i] as number;
  }

  /**
   * Whether what was read behind `position` before this call was not being written. Nothing in the language orders a plain read before
   * an atomic load; machines order both with an atomic store between them, ARM among them.
   */
  #stands(position: number): boolean {
    // SYNC topic-fence: orders our own reads before what follows; pairs with the same, nobody else looks at it.
    Atomics.store(this.#fence, 0, 0);
    if (this.#seat !== undefined) {
      if (this.#seat.held) return true;
      this.#seat = undefined;
    }
    // SYNC topic-intent: ordered after our reads (P1); pairs with TopicProducer.#intend.
    return distance(position, Atomics.load(this.#words, intentWord)) <= this.#capacity;
  }

  #newest(): number {
    // SYNC topic-newest: it was published, and stands for a while (P3, P4); pairs with TopicProducer.commit.
    return Atomics.load(this.#words, newestWord);
  }

  /** Goes on with the newest record. Every one between is missed, and counted when that one's number is known. */
  #leap(): void {
    this.#cursor = this.#newest();
    this.#leapt = true;
  }

  /** The same where that is further on. NEWEST comes behind TAIL, so we may be further on than it says. */
  #goToNewest(): void {
    if (((this.#newest() - this.#cursor) | 0) > 0) this.#leap();
  }
}

function damaged(position: number, length: number, kind: number): LayoutError {
  return new LayoutError(`Cannot read the topic: the record at ${position} claims ${length} bytes of kind ${kind}`, {
    position,
    length,
    kind,
  });
}
