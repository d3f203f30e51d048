// Values that follow a call one by one: async iterables, generators and ReadableStreams, among arguments and results. The reader gives credit, so that who
// writes is ahead of it by a window at the most; the last one ends it, once, or the reader does.
import { type ClosedError, DataCloneError, UnsupportedError, UsageError } from '../errors.ts';
import { CALLS_BATCH_MAX, CALLS_STREAMS_MAX, CALLS_WINDOW_MAX } from '../limits.ts';
import type { HostReadableStream } from '../platform/host-types.ts';
import { lostError } from './calls.ts';
import type { Connection, Outgoing } from './connection.ts';
import { failureOf, protocolError, thrownBy } from './failures.ts';
import * as kinds from './messages.ts';
import { following, isNumber, type Message } from './messages.ts';
import type { Packed } from './values.ts';

type Step = { readonly done?: boolean | undefined; readonly value?: unknown };
interface Steps {
  next(): Step | PromiseLike<Step>;
  return?(): unknown;
}

export class Streams {
  readonly #connection: Connection;
  readonly #sources: Map<number, Source> = new Map();
  readonly #readers: Map<number, Reader> = new Map();
  /** What nobody can read any more is cancelled: a function that is given a stream need not know what that is. */
  readonly #collected: FinalizationRegistry<Reader> = new FinalizationRegistry((reader) => reader.cancel());
  #last: number;
  /** Readers that somebody waits for. */
  #awaited = 0;

  constructor(connection: Connection, last: number) {
    this.#connection = connection;
    this.#last = last;
  }

  /** Streams that are not over, of both directions. */
  get size(): number {
    return this.#sources.size + this.#readers.size;
  }
  /** The same apart: those of this side, and of the other one. */
  get open(): readonly [sources: number, readers: number] {
    return [this.#sources.size, this.#readers.size];
  }
  /** Whether somebody waits for what comes. */
  get awaited(): boolean {
    return this.#awaited > 0;
  }
  waits(begins: boolean): void {
    this.#awaited += begins ? 1 : -1;
    if (begins && this.#awaited === 1) this.#connection.rehold();
    else if (this.#awaited === 0) this.#connection.reholdSoon();
  }

  /**
   * Of a value that goes out. Nothing of it runs before the other side reads.
   * @param still this thread is blocked meanwhile
   * @throws UsageError ERR_LIMIT, ERR_OPTION; UnsupportedError
   */
  source(value: object, still: boolean): number {
    if (this.#sources.size >= CALLS_STREAMS_MAX) {
      throw new UsageError('ERR_LIMIT', `Cannot send a stream: ${CALLS_STREAMS_MAX} of this side are not over`, {
        limit: CALLS_STREAMS_MAX,
      });
    }
    if (still && !isStill(value)) {
      throw new UnsupportedError(
        'Cannot send an async iterable or a ReadableStream here: it is read while this thread is blocked, and nothing of it would run; give a generator that is not async, or call without blocking',
        { feature: 'calls' },
      );
    }
    const steps = stepsOf(value);
    do this.#last = following(this.#last);
    while (this.#sources.has(this.#last));
    const id = this.#last;
    this.#sources.set(id, new Source(this.#connection, id, steps, () => this.#over(this.#sources, id)));
    return id;
  }

  /** @throws CodecError ERR_PROTOCOL */
  reader(id: number): Reader {
    if (this.#readers.has(id) || this.#readers.size >= CALLS_STREAMS_MAX) throw protocolError('one more stream');
    const reader = new Reader(this.#connection, id, () => this.#over(this.#readers, id));
    this.#readers.set(id, reader);
    return reader;
  }
  #over(streams: Map<number, unknown>, id: number): void {
    streams.delete(id);
    this.#connection.pool?.streamOver();
  }
  iterable(id: number): AsyncGenerator<unknown> {
    const reader = this.reader(id);
    const iterator = new RemoteIterator(reader);
    this.#collected.register(iterator, reader);
    return iterator as unknown as AsyncGenerator<unknown>;
  }
  readable(id: number): HostReadableStream<unknown> {
    const reader = this.reader(id);
    const stream = new ReadableStream<unknown>(
      {
        async pull(controller): Promise<void> {
          const { done, value } = await reader.next(stream);
          if (done === true) controller.close();
          else controller.enqueue(value);
        },
        cancel: () => reader.cancel(),
      },
      // What lies here counts in the window, not beside it.
      { highWaterMark: 0 },
    );
    this.#collected.register(stream, reader);
    return stream;
  }
  /** Of a stream that comes with what nobody wants. */
  refuse(id: number): void {
    if (!this.#readers.has(id)) this.#connection.say(kinds.CANCEL, id);
  }

  // ---- what the other side says: @throws CodecError ERR_PROTOCOL ----------------------------------------------

  credit(id: unknown, count: unknown): void {
    if (!isNumber(id) || !isNumber(count) || count > CALLS_WINDOW_MAX) throw protocolError('credit');
    this.#sources.get(id)?.more(count);
  }
  cancel(id: unknown): void {
    if (!isNumber(id)) throw protocolError('a stream');
    this.#sources.get(id)?.stop();
  }
  items(message: Message): void {
    // None: it was cancelled, and they were on their way.
    this.#reader(message[1])?.take(message, 2);
  }
  itemWith(id: unknown, refs: unknown, value: unknown): void {
    const reader = this.#reader(id);
    if (reader === undefined) {
      this.#connection.values.discard(refs);
      return;
    }
    const values = [value];
    try {
      this.#connection.values.unpack(values, refs);
    } catch (error) {
      reader.fail(error);
      throw error;
    }
    reader.take(values, 0);
  }
  ended(message: Message): void {
    const reader = this.#reader(message[1]);
    if (reader === undefined) return;
    try {
      reader.end(message.length > 2 ? { error: thrownBy(message[2]) } : {});
    } catch (error) {
      reader.end({ error });
      throw error;
    }
  }
  #reader(id: unknown): Reader | undefined {
    if (!isNumber(id)) throw protocolError('a stream');
    return this.#readers.get(id);
  }

  /** A message was lost, and it may have been any one's. */
  lost(): void {
    const error = lostError();
    for (const reader of [...this.#readers.values()]) reader.fail(error);
    for (const source of [...this.#sources.values()]) source.fail(error);
  }
  end(error: ClosedError | UnsupportedError): void {
    for (const reader of [...this.#readers.values()]) reader.end({ error });
    for (const source of [...this.#sources.values()]) source.stop();
  }
}

/** Whether it goes on without promises. */
function isStill(value: object): boolean {
  return Symbol.iterator in value && !(Symbol.asyncIterator in value);
}

/** @throws UsageError ERR_OPTION for a ReadableStream that somebody reads already */
function stepsOf(value: object): Steps {
  if (typeof ReadableStream === 'function' && value instanceof ReadableStream) {
    if (value.locked)
      throw new UsageError('ERR_OPTION', 'Cannot send a ReadableStream that is locked: somebody reads it already');
    const reader = (value as ReadableStream<unknown>).getReader();
    return { next: () => reader.read(), return: () => reader.cancel() };
  }
  const of = value as Partial<AsyncIterable<unknown> & Iterable<unknown>>;
  return (of[Symbol.asyncIterator]?.() ?? of[Symbol.iterator]?.()) as Steps;
}

/** What is read here and sent, as far as there is credit. */
class Source {
  readonly #connection: Connection;
  readonly #id: number;
  readonly #steps: Steps;
  readonly #over: () => void;
  #credit = 0;
  #runs = false;
  #stopped = false;
  #tries = 0;
  /** The last message, as long as it has not gone out: values that come in the same turn go with it. */
  #batch: Batch | undefined;

  constructor(connection: Connection, id: number, steps: Steps, over: () => void) {
    this.#connection = connection;
    this.#id = id;
    this.#steps = steps;
    this.#over = over;
  }

  more(count: number): void {
    this.#credit = Math.min(CALLS_WINDOW_MAX, this.#credit + count);
    if (!this.#runs) void this.#run();
  }
  async #run(): Promise<void> {
    this.#runs = true;
    try {
      while (this.#credit > 0 && !this.#stopped) {
        // Credit is given for values, and nobody who gives it need ever read one: what lies here is as much as the port takes.
        if (this.#connection.crowded) {
          this.#connection.whenRoom(() => this.more(0));
          return;
        }
        const step = this.#steps.next();
        const { done, value } = typeof (step as PromiseLike<Step>).then === 'function' ? await step : (step as Step);
        if (this.#stopped) return;
        if (done === true) return this.#end([kinds.END, this.#id]);
        this.#credit--;
        this.#put(value);
      }
    } catch (error) {
      if (!this.#stopped) this.fail(error);
    } finally {
      this.#runs = false;
    }
  }
  #put(value: unknown): void {
    const values = [value];
    const packed = this.#connection.values.pack(values, false);
    if (packed !== undefined) {
      this.#batch = undefined;
      const { refs } = packed;
      const message: Message =
        refs === undefined ? [kinds.ITEMS, this.#id, values[0]] : [kinds.ITEM_WITH, this.#id, refs, values[0]];
      this.#connection.gather(new Batch(this.#connection, message, packed, (error) => this.fail(error)));
    } else if (this.#batch?.takes(value) !== true) {
      this.#batch = new Batch(this.#connection, [kinds.ITEMS, this.#id, value], undefined, (error) => this.fail(error));
      this.#connection.gather(this.#batch);
    } else this.#connection.gathers();
  }
  #end(message: Message): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#connection.send({ message, transfer: undefined, refused: (error) => this.#endsOtherwise(message, error) });
    this.#over();
  }
  /** An end that cannot be sent, for it is too long: that is what it ends with. */
  #endsOtherwise(message: Message, error: unknown): boolean {
    if (message.length === 2) return false;
    message.splice(2, 1, failureOf(error, true, false));
    return this.#tries++ === 0;
  }
  fail(error: unknown): void {
    const returned = this.#stopped ? undefined : this.#returned();
    this.#end([kinds.END, this.#id, failureOf(error, true, this.#connection.options.stacks)]);
    void returned;
  }
  /** Nobody reads it any more. */
  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#returned();
    this.#over();
  }
  #returned(): void {
    try {
      const returned = this.#steps.return?.();
      if (returned instanceof Promise) returned.catch(() => {});
    } catch {
      // Who has cancelled it is not there to be told.
    }
  }
}

class Batch implements Outgoing {
  message: Message;
  readonly #connection: Connection;
  readonly #failed: (error: unknown) => void;
  #packed: Packed | undefined;
  #gone = false;

  constructor(connection: Connection, message: Message, packed: Packed | undefined, failed: (error: unknown) => void) {
    this.#connection = connection;
    this.message = message;
    this.#packed = packed;
    this.#failed = failed;
  }
  get transfer(): readonly unknown[] | undefined {
    return this.#packed?.transfer;
  }
  takes(value: unknown): boolean {
    if (this.#gone || this.message.length > CALLS_BATCH_MAX) return false;
    this.message.push(value);
    return true;
  }
  onSent(): void {
    this.#gone = true;
  }
  /** One of several cannot be cloned: each goes alone, and what lies deep in one is looked for. */
  refused(error: unknown): boolean {
    this.#gone = true;
    const [kind, id, ...values] = this.message as [number, number, ...unknown[]];
    if (kind === kinds.ITEMS && values.length > 1) {
      for (const value of values)
        this.#connection.postNow(new Batch(this.#connection, [kinds.ITEMS, id, value], undefined, this.#failed));
      return false;
    }
    let why = error;
    if (error instanceof DataCloneError && this.#packed?.simplify() === true) return true;
    try {
      if (kind === kinds.ITEMS && error instanceof DataCloneError) {
        const packed = this.#connection.values.pack(values, true);
        if (packed?.refs !== undefined) {
          this.#packed = packed;
          this.message = [kinds.ITEM_WITH, id, packed.refs, values[0]];
          return true;
        }
      }
    } catch (limit) {
      why = limit;
    }
    this.#packed?.undo();
    this.#failed(why);
    return false;
  }
}

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
    this.#connection.say(kinds.CREDIT, this.#id, count);
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
    this.#connection.say(kinds.CANCEL, this.#id);
    this.end({ error });
  }
  /** Nobody reads on. */
  cancel(): void {
    this.#values = [];
    this.#at = 0;
    if (this.#end === undefined) {
      this.#connection.say(kinds.CANCEL, this.#id);
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
      this.#connection.block(() => (step = this.tryNext()) !== undefined, Number.POSITIVE_INFINITY);
    }
    return step as IteratorResult<unknown>;
  }
}

/** As an async generator that has not begun: for `for await`, `break`, `return` and `throw`. */
class RemoteIterator {
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
