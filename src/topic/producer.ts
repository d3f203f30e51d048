// The writing end of a topic's ring: one writer, who never asks where the readers are. Never sleeps, never allocates.
//
// Invariants (with consumer.ts and seats.ts; positions are 32 bits wide and wrap, compare them by difference):
// P1. Before it changes a byte of the ring the writer stores an INTENT that is past that byte by the capacity or less. So whoever finds,
//     after it has copied, that INTENT is no further than the capacity from where it began, has copied what nobody was writing.
// P2. A record exists once TAIL has passed it. A writer that dies in between leaves nothing behind but an INTENT, which is
//     true: some of the oldest may be gone.
// P3. The newest record stands until the next one does: it, a pad, the room of the next and the step that INTENT goes ahead take 13/16 of the
//     ring at the most. So a reader that begins with the newest always finds it, whenever the writer dies.
// P4. NEWEST is stored behind TAIL, so what lies there was published.
// P5. No byte behind the CURSOR of a seat that is held is written: the writer says what it intends, and looks at the seats then.
//     Whoever sits down looks at INTENT then. One of the two sees the other.
import { UsageError } from '../errors.ts';
import { KIND_PACKED, KIND_PAD } from '../frame/header.ts';
import { TOPIC_STEP_SHARE } from '../limits.ts';
import { distance } from '../ring/positions.ts';
import { INTENT, NEWEST, TAIL } from './layout.ts';
import type { TopicLane } from './memory.ts';
import { BACK, HEADER_BYTES, KIND, LENGTH, NUMBER, recordBytes } from './record.ts';
import type { Seats } from './seats.ts';

/** `tryClaim` would have to write over what a reader that is not to be skipped has not read. */
export const HELD = -1;

// Copies: see frame/header.ts.
const HEADER: number = HEADER_BYTES;
const intentWord: number = INTENT;
const tailWord: number = TAIL;
const newestWord: number = NEWEST;

export class TopicProducer {
  readonly #words: Int32Array;
  readonly #data: number = 0;
  readonly #capacity: number = 0;
  readonly #step: number = 0;
  readonly #seats: Seats;
  /** Where the next record goes, behind a pad if there is one. */
  #tail = 0;
  /** Where the newest record starts. */
  #newest = 0;
  #number = 0;
  #intent = 0;
  /** Up to here the seats let us write; INTENT is there, or past it. */
  #granted = 0;

  /** Takes the writer's role on a topic that has had none. One, in one thread; a second one corrupts it. */
  constructor(lane: TopicLane, seats: Seats) {
    this.#words = lane.words;
    this.#data = lane.data;
    this.#capacity = lane.capacity;
    this.#step = Math.floor(lane.capacity / TOPIC_STEP_SHARE) & -8;
    this.#seats = seats;
  }

  /** Messages ever published, modulo 2^32. */
  get published(): number {
    return this.#number >>> 0;
  }

  /** Payload bytes in one piece before the end of the data area; below 0 when not even a header fits. */
  get stretch(): number {
    return this.#capacity - (this.#tail & (this.#capacity - 1)) - HEADER;
  }

  /**
   * Byte offset at which a payload of at most `length` bytes may be written, or `HELD` (-1). It is the caller's until `commit`; a claim
   * that is not committed is forgotten by the next one.
   * @param length bytes, at most `stretch`
   */
  tryClaim(length: number): number {
    if (!this.#grant(recordBytes(length))) return HELD;
    return this.#data + (this.#tail & (this.#capacity - 1)) + HEADER;
  }

  /** Publishes what was written: `length` bytes, at most those claimed. */
  commit(length: number): void {
    const start = this.#tail;
    this.#header(length, KIND_PACKED, this.#number === 0 ? 0 : distance(this.#newest, start));
    this.#tail = (start + recordBytes(length)) | 0;
    this.#newest = start;
    this.#number = (this.#number + 1) | 0;
    // SYNC topic-visible: publishes the plain writes of header and payload above; pairs with TopicConsumer.take.
    Atomics.store(this.#words, tailWord, this.#tail);
    // SYNC topic-newest: a record that TAIL has passed (P4); pairs with TopicConsumer.#goToNewest.
    Atomics.store(this.#words, newestWord, start);
  }

  /**
   * Fills the rest of the data area, so that the next record starts at its beginning; `HELD` if that is not possible yet. Nobody sees
   * the pad before there is a record behind it.
   */
  tryPad(): number {
    const bytes = this.stretch + HEADER;
    if (!this.#grant(bytes)) return HELD;
    this.#header(bytes, KIND_PAD, 0);
    this.#tail = (this.#tail + bytes) | 0;
    return 0;
  }

  /** Skips the readers that hold back a claim of `length` bytes, or a pad; how many there are. */
  evict(length: number): number {
    return this.#seats.evict(this.#tail, (this.#tail + recordBytes(length)) | 0);
  }

  #header(length: number, kind: number, back: number): void {
    const at = (this.#data + (this.#tail & (this.#capacity - 1))) >>> 2;
    this.#words[at + LENGTH] = length;
    this.#words[at + KIND] = kind;
    this.#words[at + NUMBER] = this.#number;
    this.#words[at + BACK] = back;
  }

  /** Whether `bytes` from the tail on may be written. */
  #grant(bytes: number): boolean {
    const to = (this.#tail + bytes) | 0;
    if (((to - this.#granted) | 0) <= 0) return true;
    if (((to - this.#intent) | 0) > 0) this.#intend((to + this.#step) | 0);
    this.#granted = this.#seats.limit(this.#tail, this.#intent);
    return ((to - this.#granted) | 0) <= 0;
  }

  #intend(intent: number): void {
    this.#intent = intent;
    // SYNC topic-intent: before any byte is written that it covers (P1); pairs with TopicConsumer.#stands.
    // SYNC topic-seated: and before the seats are looked at (P5); pairs with Seat.sit.
    Atomics.store(this.#words, intentWord, intent);
    // On ARM a plain write may overtake an atomic store before it. It overtakes no atomic load, which in turn overtakes no atomic store.
    Atomics.load(this.#words, intentWord);
  }
}

/** @throws UsageError ERR_TOO_LARGE */
export function tooLarge(limit: number): UsageError {
  return new UsageError(
    'ERR_TOO_LARGE',
    `Cannot publish a value that takes more than ${limit} bytes encoded: raise maxMessageBytes, which may be a quarter of capacityBytes`,
    { limit },
  );
}
