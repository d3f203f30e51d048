// Messages taken out of the ring before anybody asked for them: while this thread is blocked in `send`, so that two
// senders cannot wait for each other for ever, and what an ended peer left in the side channel. FIFO.
import type { Beside } from './beside.ts';
import { Fifo } from './fifo.ts';
import type { Unread } from './unread.ts';

/** A message with what came in it by transfer: native ports, and ends of other channels, which are not open yet. */
export interface Delivery {
  readonly value: unknown;
  readonly ports: readonly unknown[];
}

/** What stands in the place of a message that could not be decoded. */
export interface Failure {
  readonly error: unknown;
}

export interface Item {
  readonly content: Delivery | Failure;
  readonly bytes: number;
}

export class Inbox implements Unread {
  readonly #items = new Fifo<Item>();
  readonly #letGo: Beside['letGo'];
  #bytes = 0;

  /** @param letGo of a message that nobody will read; does not lead to the reader */
  constructor(letGo: Beside['letGo']) {
    this.#letGo = letGo;
  }

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

  /** Hands everything over, oldest first, and is empty. */
  takeAll(): Item[] {
    this.#bytes = 0;
    return this.#items.takeAll();
  }

  letGo(): void {
    for (let content = this.shift(); content !== undefined; content = this.shift()) {
      if ('ports' in content) this.#letGo(content.value, content.ports);
    }
  }
}
