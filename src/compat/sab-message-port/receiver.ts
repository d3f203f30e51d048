// The reading half of a pipe: records out of the ring, parts joined, values unpacked, and the local queue.
//
// R1. Every message is given back to the writer when it is taken, not later: HEAD is where a reader that takes the place
//     of this one goes on, so that it reads nothing twice.
// R2. What cannot be read is thrown once, in its turn, and never again; what comes behind it can be read.
import type { Memory } from '../../codec/codec.ts';
import { PackedDecoder } from '../../codec/packed.ts';
import { CodecError } from '../../errors.ts';
import { KIND_JSON, KIND_PACKED, KIND_SIDE, recordBytes } from '../../frame/header.ts';
import { HEAD, TAIL } from '../../memory/layout.ts';
import type { Views } from '../../memory/region.ts';
import { Consumer, NONE } from '../../ring/consumer.ts';
import type { Bell } from '../../ring/producer.ts';
import type { PipeMemory } from './layout.ts';
import { checkLimit, type OverflowCallback, trim } from './live-queue.ts';
import { LongMessage, PARTS } from './long-message.ts';
import { ShapeLogReader } from './shape-log.ts';

/** Nothing there. A message may be null, so null cannot say it inside. */
export const NOTHING: unique symbol = Symbol('nothing');

/** Finds value `number` beside the pipe; `NOTHING` when it is not there. */
export type Beside = (number: number) => unknown;

export class Receiver {
  readonly #views: Views;
  readonly #memory: PipeMemory;
  /** Rung for a writer that waits for room, when the ring is empty and at every quarter of it. */
  readonly #bell: Bell;
  #consumer: Consumer;
  readonly #words: Int32Array;
  readonly #headWord: number = 0;
  /** HEAD as we left it. */
  #head = 0;
  #unrung = 0;
  readonly #decoder = new PackedDecoder({ knownTexts: 0 });
  readonly #log: ShapeLogReader;
  readonly #long = new LongMessage();
  /** Messages taken out of the ring and not read yet, oldest first: peeked at, or counted by a limit. */
  readonly #queue: unknown[] = [];
  /** What the next look throws that finds the queue empty. */
  #failure: { readonly error: unknown } | null = null;
  /** A TAIL that makes no sense, and was reported. The writer's next publication mends it. */
  #badTail: number | null = null;
  #limit: number | null;
  #overflow: OverflowCallback = null;
  /** Where values are found that did not come through the pipe. */
  beside: Beside | null = null;

  constructor(memory: PipeMemory, bell: Bell, queueLimit: number | null) {
    this.#views = memory.views;
    this.#memory = memory;
    this.#words = memory.lane.words;
    this.#headWord = memory.lane.block + HEAD;
    this.#bell = bell;
    this.#log = new ShapeLogReader(memory.views, memory.log, this.#decoder);
    this.#consumer = this.#begin();
    this.#limit = queueLimit;
  }

  get queueLimit(): number | null {
    return this.#limit;
  }
  set queueLimit(limit: number | null) {
    this.#limit = checkLimit(limit);
    trim(this.#queue, this.#limit, this.#overflow);
  }
  get onQueueOverflow(): OverflowCallback {
    return this.#overflow;
  }
  set onQueueOverflow(callback: OverflowCallback) {
    this.#overflow = callback ?? null;
  }

  /** Whether a look may find a message, a part of one, or something to throw. Never throws. */
  get ready(): boolean {
    if (this.#queue.length > 0 || this.#failure !== null) return true;
    try {
      this.#catchUp();
      return this.#consumer.ready;
    } catch (error) {
      const report = this.#recover(error);
      if (report !== null) this.#failure = { error: report };
      return report !== null;
    }
  }
  /** Whether the first parts of a message are here and the rest must come. */
  get midway(): boolean {
    return this.#long.open;
  }
  /** The rest will not come: whoever wrote the first parts is gone, and the message was never sent. */
  breakOff(): void {
    this.#long.drop();
  }

  /** The next message, or `NOTHING`. Never waits. */
  take(): unknown {
    if (this.#limit !== null) this.fill();
    if (this.#queue.length > 0) return this.#queue.shift();
    return this.#next();
  }

  /** The next message, which stays, or `NOTHING`. */
  peek(): unknown {
    if (this.#limit !== null) this.fill();
    if (this.#queue.length === 0) {
      const message = this.#next();
      if (message === NOTHING) return NOTHING;
      this.#queue.push(message);
    }
    return this.#queue[0];
  }

  /** Up to `max` messages, the newest first, as documented. */
  takeMany(max: number): unknown[] {
    const messages: unknown[] = [];
    try {
      while (messages.length < max) {
        const message = this.take();
        if (message === NOTHING) break;
        messages.push(message);
      }
    } catch (error) {
      if (messages.length === 0) throw error;
      this.#failure = { error };
    }
    return messages.reverse();
  }

  /** Puts a message behind what waits in the queue. */
  push(message: unknown): void {
    this.#queue.push(message);
  }

  /** Takes in all that is there, so that the limit can be applied to it. What cannot be read waits for its turn. */
  fill(): void {
    try {
      while (this.#failure === null) {
        const message = this.#fromRing();
        if (message === NOTHING) break;
        this.#queue.push(message);
      }
    } catch (error) {
      this.#failure = { error };
    }
    trim(this.#queue, this.#limit, this.#overflow);
  }

  #next(): unknown {
    const failure = this.#failure;
    if (failure === null) return this.#fromRing();
    this.#failure = null;
    throw failure.error;
  }

  #fromRing(): unknown {
    for (;;) {
      const offset = this.#look();
      const consumer = this.#consumer;
      if (offset === NONE) {
        // A pad may have been passed over.
        if (consumer.held > 0 || this.#unrung > 0) this.#giveBack(true);
        return NOTHING;
      }
      const { kind: tag, length } = consumer;
      if ((tag & PARTS) !== 0) {
        if (!this.#addPart(tag, offset, length)) continue;
        return this.#long.take((kind, whole, total) => this.#unpack(kind, whole, 0, total));
      }
      if (this.#long.expected) this.#long.begin();
      try {
        const value = this.#unpack(tag, this.#views, offset, length);
        if (value !== NOTHING) return value;
      } finally {
        this.#advance(length);
      }
    }
  }

  /** Offset of the next record, or `NONE`. */
  #look(): number {
    try {
      this.#catchUp();
      return this.#consumer.peek();
    } catch (error) {
      const report = this.#recover(error);
      if (report !== null) throw report;
      return NONE;
    }
  }

  #addPart(tag: number, offset: number, length: number): boolean {
    try {
      return this.#long.add(tag, this.#views, offset, length);
    } finally {
      this.#consumer.advance();
      // Room for the next part, at once: the sender of a large message waits for it.
      this.#giveBack(true);
    }
  }

  #advance(length: number): void {
    const consumer = this.#consumer;
    consumer.advance();
    this.#unrung += recordBytes(length);
    this.#giveBack(consumer.caughtUp || this.#unrung * 4 >= consumer.capacity);
  }

  #giveBack(ring: boolean): void {
    this.#consumer.release();
    this.#head = this.#words[this.#headWord] as number;
    if (!ring) return;
    this.#unrung = 0;
    this.#bell.ring();
  }

  #begin(): Consumer {
    this.#head = Atomics.load(this.#words, this.#headWord);
    return new Consumer(this.#memory.lane);
  }

  /** Goes on behind what another reader has taken from this pipe: two that take turns may do so. */
  #catchUp(): void {
    // Whoever makes sure that they take turns has ordered this; a plain load will do.
    const head = this.#words[this.#headWord] as number;
    if (head !== this.#head) this.#follow(head);
  }
  #follow(head: number): void {
    const further = (head & 7) === 0 && ((head - this.#head) | 0) > 0;
    if (further && this.#ahead(head) <= this.#memory.lane.capacity) {
      this.#consumer = this.#begin();
      this.#long.drop();
    } else {
      // SYNC room-visible: mends damage, what we gave back was this much; pairs with Producer.tryClaim.
      Atomics.store(this.#words, this.#headWord, this.#head);
    }
  }
  /** Bytes from `head` to TAIL; more than there can be if one of them makes no sense. */
  #ahead(head: number): number {
    const tail = Atomics.load(this.#words, this.#memory.lane.block + TAIL);
    return (tail & 7) !== 0 ? Number.POSITIVE_INFINITY : (tail - head) >>> 0;
  }

  /**
   * The ring is damaged here: goes on where it is whole again. Where records end cannot be known behind one whose
   * header is damaged, so that is TAIL.
   * @returns what to throw, `null` if that was thrown before
   */
  #recover(error: unknown): unknown {
    const tail = Atomics.load(this.#words, this.#memory.lane.block + TAIL);
    if (this.#ahead(Atomics.load(this.#words, this.#headWord)) > this.#memory.lane.capacity) {
      if (tail === this.#badTail) return null;
      this.#badTail = tail;
      return error;
    }
    // SYNC room-visible: nothing before TAIL is read any more; pairs with Producer.tryClaim.
    Atomics.store(this.#words, this.#headWord, tail);
    this.#consumer = this.#begin();
    this.#long.lose();
    this.#unrung = 0;
    this.#bell.ring();
    return error;
  }

  #unpack(kind: number, memory: Memory, offset: number, length: number): unknown {
    if (kind === KIND_PACKED) {
      this.#log.catchUp();
      return this.#decoder.decode(memory, offset, length);
    }
    if (kind === KIND_JSON) return parse(memory.text.utf8Slice(offset, offset + length));
    if (kind === KIND_SIDE && this.beside !== null) return this.beside(memory.words[offset >>> 2] as number);
    throw new CodecError('ERR_DECODE', `Cannot read a message of kind ${kind}`);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new CodecError('ERR_DECODE', `Cannot read the message as JSON: ${(cause as Error).message}`, { cause });
  }
}
