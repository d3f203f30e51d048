// The writing half of a pipe: JSON text into the ring, at once when there is room, through the queue when there is not.
import { HEADER_BYTES, KIND_JSON, KIND_SIDE, MORE, PARTS_PREFIX_BYTES } from '../../frame/header.ts';
import type { Views } from '../../memory/region.ts';
import { type Settleable, settleable } from '../../port/waiters.ts';
import { FULL, type Producer } from '../../ring/producer.ts';
import { checkLimit, type OverflowCallback, trim } from './live-queue.ts';

/** Bytes that a code unit of text takes in UTF-8 at the most. */
const UTF8_BYTES_MAX = 3;

/** Stands before the number of a value that is beside the pipe; no JSON text starts with it. */
const BESIDE = '\0';
/** Bytes of payload of the record that keeps such a value's place: its number, and a zero word. */
const PLACE_BYTES = 8;

/** Bytes of a part at the least: a first one that held its prefix only would be refused. */
const PART_BYTES_MIN: number = 2 * PARTS_PREFIX_BYTES;

const utf8 = new TextEncoder();
const WRITTEN: Promise<void> = Promise.resolve();

export class Sender {
  readonly #views: Views;
  readonly #producer: Producer;
  /** Tells the end that the queue has to be moved on, soon (not inside the caller) or when there is room. */
  readonly #backlogged: () => void;
  /** Messages that wait, oldest first: the live queue that the overflow callback is shown. */
  readonly #queue: unknown[] = [];
  /** Their JSON text, in step. Taken when the message was posted, so that later changes to it do not show. */
  #texts: string[] = [];
  /** Settles when everything in the queue, and the message under way, is written. */
  #batch: Settleable<void> | null = null;
  /** A message that has left the queue and is on its way in parts. */
  #bytes: Uint8Array | null = null;
  /** Bytes of it that are in the ring; below 0 while its prefix is not. */
  #moved = 0;
  #limit: number | null;
  #overflow: OverflowCallback = null;

  constructor(views: Views, producer: Producer, queueLimit: number | null, backlogged: () => void) {
    this.#views = views;
    this.#producer = producer;
    this.#limit = queueLimit;
    this.#backlogged = backlogged;
  }

  get queueLimit(): number | null {
    return this.#limit;
  }
  set queueLimit(limit: number | null) {
    this.#limit = checkLimit(limit);
    this.#trim();
  }
  get onQueueOverflow(): OverflowCallback {
    return this.#overflow;
  }
  set onQueueOverflow(callback: OverflowCallback) {
    this.#overflow = callback ?? null;
  }

  /** Whether anything has not gone into the ring yet. */
  get backlog(): boolean {
    return this.#batch !== null;
  }

  /** Never blocks. The promise resolves when the message, and what waits with it, is written or dropped. */
  post(message: unknown): Promise<void> {
    let text: string;
    try {
      text = toJson(message);
    } catch (error) {
      // The original let one such value stop the pipe for ever. It is this message's affair alone.
      return Promise.reject(error);
    }
    return this.#post(message, text);
  }

  /** Keeps the place of a value that goes another way: the reader finds `number` where the value belongs. */
  postBeside(message: unknown, number: number): void {
    void this.#post(message, BESIDE + number);
  }

  #post(message: unknown, text: string): Promise<void> {
    // A limit counts what was posted in one turn, so where there is one the messages of a turn gather first.
    const gather = this.#limit !== null;
    if (this.#batch === null && !gather && this.#writeRecord(text) === 'written') return WRITTEN;
    this.#queue.push(message);
    this.#texts.push(text);
    this.#batch ??= settleable();
    const { promise } = this.#batch;
    this.#trim();
    if (gather || !this.pump()) this.#backlogged();
    return promise;
  }

  /** Moves the queue into the ring as far as it fits; whether it is empty now. */
  pump(): boolean {
    if (this.#batch === null) return true;
    let done = 0;
    try {
      for (;;) {
        if (this.#bytes !== null && !this.#writeParts()) return false;
        if (done === this.#texts.length) break;
        const text = this.#texts[done] as string;
        const outcome = this.#writeRecord(text);
        if (outcome === 'full') return false;
        if (outcome === 'long') {
          this.#bytes = utf8.encode(text);
          this.#moved = -PARTS_PREFIX_BYTES;
        }
        done++;
      }
    } finally {
      this.#texts.splice(0, done);
      this.#queue.splice(0, done);
    }
    const batch = this.#batch;
    this.#batch = null;
    batch.resolve();
    return true;
  }

  /** Nothing goes out any more; whoever waits for it learns. */
  dispose(error: () => Error): void {
    const batch = this.#batch;
    if (batch === null) return;
    this.#batch = null;
    this.#bytes = null;
    this.#queue.length = 0;
    this.#texts.length = 0;
    // Posting without looking at the promise is documented use, so nobody need be listening.
    batch.promise.catch(() => {});
    batch.reject(error());
  }

  /** Writes a message that one record takes. */
  #writeRecord(text: string): 'written' | 'full' | 'long' {
    const producer = this.#producer;
    if (text.startsWith(BESIDE)) return this.#writePlace(Number(text.slice(1)));
    const most = text.length * UTF8_BYTES_MAX;
    if (most <= producer.maxPayload) {
      const offset = producer.tryClaim(most);
      if (offset !== FULL) {
        producer.commit(this.#views.text.utf8Write(text, offset, most), KIND_JSON);
        return 'written';
      }
      if (producer.claimable(text.length) < text.length) return 'full';
    } else if (text.length > producer.maxPayload) return 'long';
    // Only its real length tells.
    const bytes = utf8.encode(text);
    if (bytes.length > producer.maxPayload) return 'long';
    const offset = producer.tryClaim(bytes.length);
    if (offset === FULL) return 'full';
    this.#views.blocks.copyIn(bytes, offset);
    producer.commit(bytes.length, KIND_JSON);
    return 'written';
  }

  #writePlace(number: number): 'written' | 'full' {
    const offset = this.#producer.tryClaim(PLACE_BYTES);
    if (offset === FULL) return 'full';
    this.#views.words[offset >>> 2] = number;
    this.#views.words[(offset >>> 2) + 1] = 0;
    this.#producer.commit(PLACE_BYTES, KIND_SIDE);
    return 'written';
  }

  /** Writes the next parts of the message under way; whether it is all there. */
  #writeParts(): boolean {
    const producer = this.#producer;
    const bytes = this.#bytes as Uint8Array;
    while (this.#moved < bytes.length) {
      const prefix = this.#moved < 0 ? PARTS_PREFIX_BYTES : 0;
      const left = bytes.length - this.#moved;
      // Parts of an eighth of the ring keep both sides busy at once.
      const smallest = Math.min(left, Math.max(PART_BYTES_MIN, (producer.capacity >>> 3) - HEADER_BYTES));
      const room = producer.claimable(smallest);
      if (room < smallest) return false;
      const length = Math.min(room, left, Math.max(smallest, producer.capacity >>> 2));
      const offset = producer.tryClaim(length);
      if (offset === FULL) return false;
      if (prefix > 0) {
        this.#views.words[offset >>> 2] = bytes.length;
        this.#views.words[(offset >>> 2) + 1] = 0;
      }
      const from = this.#moved + prefix;
      this.#moved += length;
      this.#views.blocks.copyIn(bytes.subarray(from, this.#moved), offset + prefix);
      producer.commit(length, this.#moved < bytes.length ? KIND_JSON | MORE : KIND_JSON);
    }
    this.#bytes = null;
    return true;
  }

  #trim(): void {
    if (this.#limit === null || this.#queue.length <= this.#limit) return;
    const before = this.#overflow === null ? null : [...this.#queue];
    trim(this.#queue, this.#limit, this.#overflow);
    if (before === null) {
      this.#texts = this.#texts.slice(this.#texts.length - this.#queue.length);
      return;
    }
    // The callback may have taken out, put in or replaced anything.
    const known = new Map(before.map((message, index) => [message, this.#texts[index] as string]));
    this.#texts = this.#queue.map((message) => known.get(message) ?? toJson(message));
  }
}

/** What has no JSON of its own (undefined, functions, symbols) travels as null, as in an array. */
function toJson(message: unknown): string {
  return JSON.stringify(message) ?? 'null';
}
