// The side of a stream that gives values: what is read here is sent, as far as the reader has given credit.

import { DataCloneError, UsageError } from '../errors.ts';
import { CALLS_BATCH_MAX, CALLS_WINDOW_MAX } from '../limits.ts';
import type { Connection } from './connection.ts';
import type { Outgoing } from './envelopes.ts';
import { failureOf } from './failures.ts';
import type { Message } from './messages.ts';
import * as kinds from './messages.ts';
import type { Packed } from './values.ts';

type Step = { readonly done?: boolean | undefined; readonly value?: unknown };
interface Steps {
  next(): Step | PromiseLike<Step>;
  return?(): unknown;
}

/** Whether it goes on without promises. */
export function isStill(value: object): boolean {
  return Symbol.iterator in value && !(Symbol.asyncIterator in value);
}

/** @throws UsageError ERR_OPTION for a ReadableStream that somebody reads already */
export function stepsOf(value: object): Steps {
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
export class Source {
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
        if (this.#connection.out.crowded) {
          this.#connection.out.whenRoom(() => this.more(0));
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
      this.#connection.out.gather(new Batch(this.#connection, message, packed, (error) => this.fail(error)));
    } else if (this.#batch?.takes(value) !== true) {
      this.#batch = new Batch(this.#connection, [kinds.ITEMS, this.#id, value], undefined, (error) => this.fail(error));
      this.#connection.out.gather(this.#batch);
    } else this.#connection.out.gathers();
  }
  #end(message: Message): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#connection.out.send({
      message,
      transfer: undefined,
      refused: (error) => this.#endsOtherwise(message, error),
    });
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
        this.#connection.out.postNow(new Batch(this.#connection, [kinds.ITEMS, id, value], undefined, this.#failed));
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
