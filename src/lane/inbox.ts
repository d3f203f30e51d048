// Messages taken out of the ring before anybody asked for them: while this thread is blocked in `send`, so that two
// senders cannot wait for each other for ever, and what an ended peer left in the side channel. FIFO.
import { Fifo } from './fifo.ts';

/** A message with the native ports that came in it. */
export interface Delivery {
  readonly value: unknown;
  readonly ports: readonly unknown[];
}

/** What stands in the place of a message that could not be decoded. */
export interface Failure {
  readonly error: unknown;
}

interface Item {
  readonly content: Delivery | Failure;
  readonly bytes: number;
}

export class Inbox {
  readonly #items = new Fifo<Item>();
  #bytes = 0;

  get length(): number {
    return this.#items.length;
  }

  /** Bytes, encoded, of what waits here. */
  get bytes(): number {
    return this.#bytes;
  }

  push(content: Delivery | Failure, bytes: number): void {
    this.#items.push({ content, bytes });
    this.#bytes += bytes;
  }

  shift(): Delivery | Failure | undefined {
    const item = this.#items.shift();
    if (item === undefined) return undefined;
    this.#bytes -= item.bytes;
    return item.content;
  }
}
