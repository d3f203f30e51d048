// What the writer of a pipe has taught its reader about the keys of objects, kept in the pipe's own memory. A reader may
// be replaced by another at any time, in another thread; the new one learns from here what the old one knew.
//
// The log is a row of packed payloads that taught something, copied as they were, each behind a word with its length
// and a zero word. It only ever grows, and when it is full nothing more is taught. So whatever lies in the ring, and
// whoever reads it: the log that is there by then explains it.
import type { Decoder } from '../../codec/codec.ts';
import type { Views } from '../../memory/region.ts';

/** Where a log stands: a word that says how many bytes are in use, and the bytes. */
export interface LogMemory {
  readonly used: number;
  /** Byte offset, a multiple of 8. */
  readonly data: number;
  readonly capacity: number;
}

/** Bytes before each payload. */
const ENTRY_BYTES = 8;

/** The writer's end. */
export class ShapeLog {
  readonly #views: Views;
  readonly #memory: LogMemory;
  /** Whether more may be taught. A writer that finds a log begun by another does not know what it says, and adds nothing. */
  open: boolean;
  /** Bytes in use. The word in memory only tells readers. */
  #used = 0;

  constructor(views: Views, memory: LogMemory) {
    this.#views = views;
    this.#memory = memory;
    this.open = memory.capacity > 0 && Atomics.load(views.words, memory.used) === 0;
  }

  /** Adds a payload before it is published; false if there is no room. */
  append(payload: Uint8Array): boolean {
    const { words, blocks } = this.#views;
    const { used, data, capacity } = this.#memory;
    const { length } = payload;
    const end = this.#used;
    const next = end + ENTRY_BYTES + ((length + 7) & -8);
    if (next > capacity) return false;
    words[(data + end) >>> 2] = length;
    blocks.copyIn(payload, data + end + ENTRY_BYTES);
    // SYNC shape-log: after the entry, before the publication of what needs it; pairs with ShapeLogReader.catchUp.
    Atomics.store(words, used, next);
    this.#used = next;
    return true;
  }
}

/** The reader's end. */
export class ShapeLogReader {
  readonly #views: Views;
  readonly #memory: LogMemory;
  readonly #decoder: Decoder;
  #seen = 0;

  constructor(views: Views, memory: LogMemory, decoder: Decoder) {
    this.#views = views;
    this.#memory = memory;
    this.#decoder = decoder;
  }

  /**
   * Learns what was added. Call before decoding a payload. One load when nothing was. Never throws: what cannot be learnt
   * is missed by the payloads that need it, and by no others.
   */
  catchUp(): void {
    const { words } = this.#views;
    // SYNC shape-log: the entries before it are whole; pairs with ShapeLog.append.
    const end = Atomics.load(words, this.#memory.used);
    if (end === this.#seen || end > this.#memory.capacity) return;
    while (this.#seen < end) this.#learn(end);
  }

  #learn(end: number): void {
    const at = this.#memory.data + this.#seen;
    const length = this.#views.words[at >>> 2] as number;
    const next = this.#seen + ENTRY_BYTES + ((length + 7) & -8);
    if (length <= 0 || next > end) {
      // Damaged: where the next entry starts cannot be known.
      this.#seen = end;
      return;
    }
    this.#seen = next;
    try {
      this.#decoder.decode(this.#views, at + ENTRY_BYTES, length);
    } catch {
      // Its shapes stay unknown.
    }
  }
}
