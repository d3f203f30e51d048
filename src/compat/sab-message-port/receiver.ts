// The reading half of a pipe: records out of the ring, parts joined, values unpacked, and the local queue.
import type { Memory } from '../../codec/codec.ts';
import { PackedDecoder } from '../../codec/packed.ts';
import { CodecError } from '../../errors.ts';
import { KIND_PACKED, KIND_SIDE, MORE } from '../../frame/header.ts';
import { Join } from '../../frame/join.ts';
import { MESSAGE_BYTES_MAX } from '../../limits.ts';
import type { Views } from '../../memory/region.ts';
import { type Consumer, NONE } from '../../ring/consumer.ts';
import type { PipeMemory } from './layout.ts';
import { checkLimit, type OverflowCallback, trim } from './live-queue.ts';
import { ShapeLogReader } from './shape-log.ts';

/** Nothing there. A message may be null, so null cannot say it inside. */
export const NOTHING: unique symbol = Symbol('nothing');

/** Finds value `number` beside the pipe; `NOTHING` when it is not there. */
export type Beside = (number: number) => unknown;

export class Receiver {
  readonly #views: Views;
  readonly #consumer: Consumer;
  readonly #decoder = new PackedDecoder({ knownTexts: 0 });
  readonly #log: ShapeLogReader;
  readonly #join = new Join(MESSAGE_BYTES_MAX);
  /** Messages taken out of the ring and not read yet, oldest first: peeked at, or counted by a limit. */
  readonly #queue: unknown[] = [];
  #limit: number | null;
  #overflow: OverflowCallback = null;
  /** Where values are found that did not come through the pipe. */
  beside: Beside = () => NOTHING;

  constructor(memory: PipeMemory, consumer: Consumer, queueLimit: number | null) {
    this.#views = memory.views;
    this.#log = new ShapeLogReader(memory.views, memory.log, this.#decoder);
    this.#consumer = consumer;
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

  /** Whether a look may find a message, or a part of one. */
  get ready(): boolean {
    return this.#queue.length > 0 || this.#consumer.ready;
  }
  /** Whether the first parts of a message are here and the rest must come. */
  get midway(): boolean {
    return this.#join.open;
  }

  /** The next message, or `NOTHING`. Never waits. */
  take(): unknown {
    if (this.#limit !== null) this.fill();
    if (this.#queue.length > 0) return this.#queue.shift();
    return this.#fromRing();
  }

  /** The next message, which stays, or `NOTHING`. */
  peek(): unknown {
    if (this.#limit !== null) this.fill();
    if (this.#queue.length === 0) {
      const message = this.#fromRing();
      if (message === NOTHING) return NOTHING;
      this.#queue.push(message);
    }
    return this.#queue[0];
  }

  /** Up to `max` messages, the newest first, as documented. */
  takeMany(max: number): unknown[] {
    const messages: unknown[] = [];
    while (messages.length < max) {
      const message = this.take();
      if (message === NOTHING) break;
      messages.push(message);
    }
    return messages.reverse();
  }

  /** Puts a message behind what waits in the queue. */
  push(message: unknown): void {
    this.#queue.push(message);
  }

  /** Takes in all that is there, so that the limit can be applied to it. */
  fill(): void {
    for (let message = this.#fromRing(); message !== NOTHING; message = this.#fromRing()) this.#queue.push(message);
    trim(this.#queue, this.#limit, this.#overflow);
  }

  #fromRing(): unknown {
    const consumer = this.#consumer;
    for (;;) {
      const offset = consumer.peek();
      if (offset === NONE) {
        consumer.release();
        return NOTHING;
      }
      const { kind: tag, length } = consumer;
      if ((tag & MORE) !== 0 || this.#join.open) {
        const complete = this.#join.add(tag, this.#views, offset, length);
        consumer.advance();
        // Room for the next part, at once: the sender of a large message waits for it.
        consumer.release();
        if (!complete) continue;
        return this.#join.take((kind, whole, total) => this.#unpack(kind, whole, 0, total));
      }
      if (tag === KIND_SIDE) {
        const value = this.beside(this.#views.words[offset >>> 2] as number);
        consumer.advance();
        if (value === NOTHING) continue;
        return value;
      }
      try {
        return this.#unpack(tag, this.#views, offset, length);
      } finally {
        consumer.advance();
        if (consumer.caughtUp || consumer.held * 4 >= consumer.capacity) consumer.release();
      }
    }
  }

  #unpack(kind: number, memory: Memory, offset: number, length: number): unknown {
    if (kind !== KIND_PACKED) return parse(memory.text.utf8Slice(offset, offset + length));
    this.#log.catchUp();
    return this.#decoder.decode(memory, offset, length);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new CodecError('ERR_DECODE', `Cannot read the message as JSON: ${(cause as Error).message}`, { cause });
  }
}
