// The side of a stream that takes values: what has come and is not read yet, and what a program reads it by.

import type { Connection } from './connection.ts';
import { protocolError } from './failures.ts';
import * as kinds from './messages.ts';

/** Somebody who waits for the next value, and what it is read by, which must not be collected meanwhile. */
interface Waiting {
  readonly by: object;
  resolve(step: IteratorResult<unknown>): void;
  reject(error: unknown): void;
}

/** What has come of a stream, and is not read yet. */
export class Reader {
  readonly #connection: Connection;
  readonly #id: number;
  readonly #over: () => void;
  readonly #window: number;
  #values: unknown[] = [];
  #at = 0;
  #owed = 0;
  #granted = 0;
  #begun = false;
  #end: { readonly error?: unknown } | undefined;
  #waiting: Waiting[] = [];

  constructor(connection: Connection, id: number, over: () => void) {
    this.#connection = connection;
    this.#id = id;
    this.#over = over;
    this.#window = connection.options.window;
  }

  get #ready(): number {
    return this.#values.length - this.#at;
  }

  /** Values that have come: `all` from `start` on. @throws CodecError ERR_PROTOCOL for more than there was credit for */
  take(all: readonly unknown[], start: number): void {
    if (this.#end !== undefined) return;
    const count = all.length - start;
    if (count > this.#granted) {
      const error = protocolError('more of a stream than there was credit for');
      this.fail(error);
      throw error;
    }
    this.#granted -= count;
    for (let i = start; i < all.length; i++) {
      const first = this.#waiting.shift();
      if (first === undefined) this.#values.push(all[i]);
      else {
        if (this.#waiting.length === 0) this.#connection.streams.waits(false);
        this.#owe();
        first.resolve({ done: false, value: all[i] });
      }
    }
  }
  #owe(): void {
    this.#owed++;
    if (this.#owed * 2 >= this.#window || this.#granted === 0) this.#grant(this.#owed);
  }
  #grant(count: number): void {
    if (this.#end !== undefined) return;
    this.#owed = 0;
    this.#granted += count;
    this.#connection.out.say(kinds.CREDIT, this.#id, count);
  }

  end(end: { readonly error?: unknown }): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#over();
    if (this.#waiting.length > 0) this.#connection.streams.waits(false);
    for (const waiting of this.#waiting.splice(0)) this.#settle(waiting);
  }
  fail(error: unknown): void {
    if (this.#end !== undefined) return;
    this.#connection.out.say(kinds.CANCEL, this.#id);
    this.end({ error });
  }
  /** Nobody reads on. */
  cancel(): void {
    this.#values = [];
    this.#at = 0;
    if (this.#end === undefined) {
      this.#connection.out.say(kinds.CANCEL, this.#id);
      this.end({});
    } else this.#end = {};
  }

  /** The next one, if it is there, or the end: what `next` of an iterator returns. @throws what has ended it */
  tryNext(): IteratorResult<unknown> | undefined {
    if (!this.#begun) {
      this.#begun = true;
      this.#grant(this.#window);
    }
    if (this.#ready > 0) {
      const value = this.#values[this.#at];
      this.#values[this.#at++] = undefined;
      if (this.#at === this.#values.length) {
        this.#values = [];
        this.#at = 0;
      }
      this.#owe();
      return { done: false, value };
    }
    if (this.#end === undefined) return undefined;
    const end = this.#end;
    // Once: who asks again is told that it is over.
    this.#end = {};
    if ('error' in end) throw end.error;
    return { done: true, value: undefined };
  }
  next(by: object): Promise<IteratorResult<unknown>> {
    return new Promise((resolve, reject) => {
      const waiting = { by, resolve, reject };
      if (this.#waiting.length === 0 && this.#settle(waiting)) return;
      if (this.#waiting.push(waiting) === 1) this.#connection.streams.waits(true);
    });
  }
  #settle(waiting: Waiting): boolean {
    try {
      const step = this.tryNext();
      if (step === undefined) return false;
      waiting.resolve(step);
    } catch (error) {
      waiting.reject(error);
    }
    return true;
  }
  /** Blocks this thread. */
  nextSync(): IteratorResult<unknown> {
    let step = this.tryNext();
    if (step === undefined) {
      this.#connection.blocking.until(() => (step = this.tryNext()) !== undefined, Number.POSITIVE_INFINITY);
    }
    return step as IteratorResult<unknown>;
  }
}

/** As an async generator that has not begun: for `for await`, `break`, `return` and `throw`. */
export class RemoteIterator {
  readonly #reader: Reader;
  constructor(reader: Reader) {
    this.#reader = reader;
  }
  next(): Promise<IteratorResult<unknown>> {
    return this.#reader.next(this);
  }
  cancel(): void {
    this.#reader.cancel();
  }
  return(value?: unknown): Promise<IteratorResult<unknown>> {
    this.#reader.cancel();
    return Promise.resolve({ done: true, value });
  }
  throw(error?: unknown): Promise<IteratorResult<unknown>> {
    this.#reader.cancel();
    return Promise.reject(error);
  }
  [Symbol.asyncIterator](): this {
    return this;
  }
  async [Symbol.asyncDispose](): Promise<void> {
    this.#reader.cancel();
  }
  get [Symbol.toStringTag](): string {
    return 'AsyncGenerator';
  }
  /** For a thread that blocks. */
  static readerOf(iterator: object): Reader | undefined {
    return #reader in iterator ? iterator.#reader : undefined;
  }
}

/** The same values for a thread that blocks for each. */
export function* blocking(iterable: object): Generator<unknown> {
  const reader = RemoteIterator.readerOf(iterable);
  if (reader === undefined) return;
  try {
    for (let step = reader.nextSync(); step.done !== true; step = reader.nextSync()) yield step.value;
  } finally {
    // Said of the iterator, which is so kept from being collected while this is read.
    (iterable as RemoteIterator).cancel();
  }
}

export function isRemoteIterator(value: unknown): value is object {
  return typeof value === 'object' && value !== null && RemoteIterator.readerOf(value) !== undefined;
}
