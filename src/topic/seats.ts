// Seats of readers that are not skipped: where each says how far it has come, and the writer looks before it writes over anything. A seat
// belongs to one handle (its number), so that whoever learns that the reader is gone can free it.
import { distance } from '../ring/positions.ts';
import { CURSOR, HOLDER, INTENT, SEAT_0, SEAT_WORDS } from './layout.ts';
import type { TopicLane } from './memory.ts';

const FREE = 0;

/** All of them, as the writer sees them. */
export class Seats {
  readonly #words: Int32Array;
  readonly #count: number = 0;
  readonly #capacity: number = 0;
  readonly #known: (handle: number) => boolean;
  /** Handles whose readers were skipped: they have had all of the writer's patience that there is for them. */
  readonly #skipped: Set<number> = new Set();

  /** @param known whether a handle is out: who sits there under another number lies */
  constructor({ words, seats, capacity }: TopicLane, known: (handle: number) => boolean = () => true) {
    this.#words = words;
    this.#count = seats;
    this.#capacity = capacity;
    this.#known = known;
  }

  /** Up to where the writer, which is at `tail`, may write of what lies before `intent`. INTENT says it already (P5). */
  limit(tail: number, intent: number): number {
    let limit = intent;
    for (let seat = 0; seat < this.#count; seat++) {
      const own = this.#limitOf(seat, tail);
      if (own !== undefined && ((own - limit) | 0) < 0) limit = own;
    }
    return limit;
  }

  #limitOf(seat: number, tail: number): number | undefined {
    const block = SEAT_0 + seat * SEAT_WORDS;
    // SYNC topic-seated: ordered after INTENT (P5); pairs with Seat.sit.
    const holder = Atomics.load(this.#words, block + HOLDER);
    if (holder <= FREE) return undefined;
    if (this.#skipped.has(holder) || !this.#known(holder)) {
      // SYNC topic-evicted: before anything is written over that it has not read; pairs with Seat.held.
      Atomics.compareExchange(this.#words, block + HOLDER, holder, FREE);
      return undefined;
    }
    // SYNC topic-read: its reads of what lies before are over; pairs with Seat.moved.
    const cursor = Atomics.load(this.#words, block + CURSOR);
    // What makes no sense holds the writer at its tail: until it does, or the patience with it is at its end.
    return distance(cursor, tail) > this.#capacity ? tail : (cursor + this.#capacity) | 0;
  }

  /**
   * Takes the seats of those that do not let the writer get from `tail` to `to`; how many. They are skipped from here on: no handle costs
   * the writer its patience twice.
   */
  evict(tail: number, to: number): number {
    let count = 0;
    for (let seat = 0; seat < this.#count; seat++) {
      const own = this.#limitOf(seat, tail);
      if (own !== undefined && ((own - to) | 0) < 0 && this.#evictFrom(SEAT_0 + seat * SEAT_WORDS + HOLDER)) count++;
    }
    return count;
  }

  /** Unless it has left by itself, and somebody else sits there. */
  #evictFrom(word: number): boolean {
    const holder = Atomics.load(this.#words, word);
    // SYNC topic-evicted: before anything is written over that it has not read; pairs with Seat.held.
    if (holder <= FREE || Atomics.compareExchange(this.#words, word, holder, FREE) !== holder) return false;
    this.#skipped.add(holder);
    return true;
  }

  /** Numbers of the handles whose readers hold one. */
  holders(): number[] {
    const holders: number[] = [];
    for (let seat = 0; seat < this.#count; seat++) {
      const holder = Atomics.load(this.#words, SEAT_0 + seat * SEAT_WORDS + HOLDER);
      if (holder !== FREE) holders.push(Math.abs(holder));
    }
    return holders;
  }

  /** Frees the seat that the reader of this handle has, if it has one: it is gone. */
  free(handle: number): void {
    this.#skipped.delete(handle);
    for (let seat = 0; seat < this.#count; seat++) {
      const holder = SEAT_0 + seat * SEAT_WORDS + HOLDER;
      for (const stands of [handle, -handle]) {
        // SYNC topic-evicted: pairs with Seat.held, if it is not gone after all.
        Atomics.compareExchange(this.#words, holder, stands, FREE);
      }
    }
  }
}

/** One of them, as its reader has it. */
export class Seat {
  readonly #words: Int32Array;
  readonly #block: number;
  readonly #handle: number;
  readonly #tell: () => void;

  private constructor(words: Int32Array, block: number, handle: number, tell: () => void) {
    this.#words = words;
    this.#block = block;
    this.#handle = handle;
    this.#tell = tell;
  }

  /**
   * Takes a free seat, which holds nobody back before `sit`; `undefined` if there is none.
   * @param handle number of the handle that this reader came with, above 0
   * @param tell wakes a writer that waits for readers
   */
  static take({ words, seats }: TopicLane, handle: number, tell: () => void): Seat | undefined {
    for (let seat = 0; seat < seats; seat++) {
      const block = SEAT_0 + seat * SEAT_WORDS;
      // SYNC topic-seat-free: who changes 0 has the seat; pairs with the same exchange of another reader.
      if (Atomics.compareExchange(words, block + HOLDER, FREE, -handle) === FREE)
        return new Seat(words, block, handle, tell);
    }
    return undefined;
  }

  /** Holds the writer from `cursor` on; INTENT as it was then: what lies further back than the capacity may be gone already. */
  sit(cursor: number): number {
    Atomics.store(this.#words, this.#block + CURSOR, cursor);
    // SYNC topic-seated: before INTENT is looked at (P5); pairs with TopicProducer.#intend and Seats.limit.
    Atomics.store(this.#words, this.#block + HOLDER, this.#handle);
    return Atomics.load(this.#words, INTENT);
  }

  /** Whether it is still this reader's. What was copied before may be believed then. */
  get held(): boolean {
    // SYNC topic-evicted: pairs with Seats.evict.
    return Atomics.load(this.#words, this.#block + HOLDER) === this.#handle;
  }

  /** Everything before `cursor` was copied. */
  moved(cursor: number): void {
    // SYNC topic-read: our reads of it are over; pairs with Seats.limit.
    Atomics.store(this.#words, this.#block + CURSOR, cursor);
    this.#tell();
  }

  leave(): void {
    for (const stands of [this.#handle, -this.#handle]) {
      // SYNC topic-seat-free: our reads are over; pairs with Seat.take.
      Atomics.compareExchange(this.#words, this.#block + HOLDER, stands, FREE);
    }
    this.#tell();
  }
}
