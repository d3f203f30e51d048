// The reading half of a pipe: its lane, and the messages that were taken out of it before they were read: peeked at, or
// counted by a limit.
import type { Beside } from '../../lane/beside.ts';
import { EMPTY } from '../../outcome.ts';
import type { Bell } from '../../ring/producer.ts';
import type { PipeMemory } from './layout.ts';
import { Limited, trim } from './live-queue.ts';
import { PipeInbound } from './pipe-inbound.ts';

export class Receiver extends Limited {
  readonly #lane: PipeInbound;
  /** Oldest first: the live queue that the overflow callback is shown. */
  readonly #queue: unknown[] = [];
  /** What the next look throws that finds the queue empty. */
  #failure: { readonly error: unknown } | null = null;

  /** @param beside where values are found that did not come through the pipe */
  constructor(memory: PipeMemory, bell: Bell, queueLimit: number | null, beside: Beside) {
    super(queueLimit);
    this.#lane = new PipeInbound(memory, bell, beside);
  }

  /** Whether a look may find a message, a part of one, or something to throw. Never throws. */
  get ready(): boolean {
    if (this.#queue.length > 0 || this.#failure !== null) return true;
    try {
      return this.#lane.ready;
    } catch (error) {
      this.#failure = { error };
      return true;
    }
  }
  /** Whether the first parts of a message are here and the rest must come. */
  get midway(): boolean {
    return this.#lane.midway;
  }
  /** The rest will not come: whoever wrote the first parts is gone, and the message was never sent. */
  breakOff(): void {
    this.#lane.breakOff();
  }

  /** The next message, or `EMPTY`. Never waits. */
  take(): unknown {
    if (this.limit !== null) this.fill();
    if (this.#queue.length > 0) return this.#queue.shift();
    return this.#next();
  }

  /** The next message, which stays, or `EMPTY`. */
  peek(): unknown {
    if (this.limit !== null) this.fill();
    if (this.#queue.length === 0) {
      const message = this.#next();
      if (message === EMPTY) return EMPTY;
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
        if (message === EMPTY) break;
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
        const message = this.#lane.take();
        if (message === EMPTY) break;
        this.#queue.push(message);
      }
    } catch (error) {
      this.#failure = { error };
    }
    this.applyLimit();
  }
  protected applyLimit(): void {
    trim(this.#queue, this.limit, this.overflow);
  }

  #next(): unknown {
    const failure = this.#failure;
    if (failure === null) return this.#lane.take();
    this.#failure = null;
    throw failure.error;
  }
}
