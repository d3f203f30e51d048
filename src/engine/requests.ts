// Requests through a server, to one of those who answer to a name; answers come to a subject of who asks.
import { AddressError, ClosedError, RefusedError, TimeoutError, UsageError } from '../errors.ts';
import { ENGINE_PARTS_MAX, ENGINE_REQUEST_MS, ENGINE_REQUESTS_MAX, ENGINE_SERVING_DEFAULT } from '../limits.ts';
import type { AbortSignalLike } from '../port/events.ts';
import { checkSignal } from '../port/link-choice.ts';
import { checked, checkNames, timeoutOf } from '../port/options.ts';
import { type Settleable, settleable } from '../port/waiters.ts';
import { failureOf, thrownBy } from '../rpc/failures.ts';
import { CODE_FULL } from '../transport/stream/frames.ts';
import type { Driver, Subscription } from './driver.ts';
import { checkName, type Names, randomId } from './names.ts';
import { Numbers } from './numbers.ts';
import { FORMS, type Form, type Outcome, RecordReader, RecordWriter } from './record.ts';

export interface RequestOptions {
  /** Milliseconds for the answer; default 10,000. */
  readonly timeoutMs?: number | undefined;
  /** Gives up; who answers is not told. */
  readonly signal?: AbortSignalLike | undefined;
  /** `packed`, the default, or `json`, for who answers in another language. */
  readonly codec?: Form | undefined;
}
export interface ServeOptions {
  /** Requests that are answered at a time, and beyond which whoever asks is told that this side is busy; default 1024. */
  readonly concurrency?: number | undefined;
}
/** Somebody who answers. */
export interface Served {
  /** Requests that are being answered. */
  readonly pending: number;
  /** Answers no more; what has begun is answered. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

interface Pending extends Settleable<unknown> {
  readonly numbers: Numbers;
}

export class Requests {
  readonly #driver: Driver;
  readonly #names: Names;
  readonly #id = randomId();
  readonly #writers: { readonly [F in Form]: RecordWriter };
  readonly #reader = new RecordReader();
  readonly #pending = new Map<number, Pending>();
  #answers: Promise<Subscription> | undefined;
  #number = 0;

  constructor(driver: Driver, names: Names) {
    this.#driver = driver;
    this.#names = names;
    const writer = (form: Form): RecordWriter => new RecordWriter(this.#id, form, driver.maxBytes);
    this.#writers = { packed: writer('packed'), json: writer('json') };
    driver.onDown(() => {
      const text = `The server at ${driver.where} was lost before the answer came: whether the request was heard, nobody knows`;
      for (const { reject } of this.#pending.values()) reject(new ClosedError(text, 'lost'));
      this.#pending.clear();
    });
  }

  async request(name: string, value: unknown, options: RequestOptions = {}): Promise<unknown> {
    checkName('name', name);
    const timeoutMs = timeoutOf(options, ['timeoutMs', 'signal', 'codec'], ENGINE_REQUEST_MS);
    const form = checked('codec', options.codec, { fallback: 'packed', names: FORMS }) as Form;
    const signal = checkSignal(options.signal);
    signal?.throwIfAborted();
    if (this.#pending.size >= ENGINE_REQUESTS_MAX) {
      const text = `Cannot ask ${name}: ${ENGINE_REQUESTS_MAX} requests wait for an answer`;
      throw new UsageError('ERR_LIMIT', text, { limit: ENGINE_REQUESTS_MAX });
    }
    const number = this.#number;
    this.#number = (number + 1) >>> 0;
    const [message] = this.#writers[form].write(value, number, 1) as [Uint8Array];
    const pending: Pending = { ...settleable<unknown>(), numbers: new Numbers() };
    pending.promise.catch(() => {});
    this.#pending.set(number, pending);
    const aborted = (): void => pending.reject(signal?.reason);
    signal?.addEventListener('abort', aborted);
    const late = (): void =>
      pending.reject(new TimeoutError(`Nobody of ${name} has answered in ${timeoutMs} ms`, { timeoutMs }));
    const timer = timeoutMs === Number.POSITIVE_INFINITY ? undefined : setTimeout(late, timeoutMs);
    try {
      this.#send(name, message).catch(pending.reject);
      return await pending.promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', aborted);
      this.#pending.delete(number);
    }
  }
  async #send(name: string, message: Uint8Array): Promise<void> {
    // Before what a client that was closed may never answer.
    await this.#driver.ready();
    this.#answers ??= this.#listen();
    await this.#answers;
    if (await this.#driver.tellOne(this.#names.call(name), message)) return;
    const text = `Cannot ask ${name} at ${this.#driver.where}: nobody answers to that name`;
    throw new AddressError('ERR_UNREACHABLE', text, { address: name });
  }
  #listen(): Promise<Subscription> {
    const listening = this.#driver.subscribe(this.#names.reply(this.#id), (bytes) => this.#answered(bytes));
    listening.catch(() => {
      // Asked for anew with the next request.
      this.#answers = undefined;
    });
    return listening;
  }
  #answered(message: Uint8Array): void {
    const record = this.#reader.read(message);
    const pending = record === undefined ? undefined : this.#pending.get(record.number);
    if (record === undefined || pending === undefined) return;
    const { pieces, missed } = pending.numbers.come(record);
    if (missed > 0) pending.reject(new ClosedError('A part of the answer was lost on its way', 'lost'));
    if (pieces === undefined) return;
    try {
      const value = this.#reader.value(record, pieces);
      if (record.outcome === 'done') pending.resolve(value);
      else if (record.outcome === 'busy') pending.reject(busy());
      else pending.reject(record.text === undefined ? thrownBy(value) : value);
    } catch (error) {
      pending.reject(error);
    }
  }

  /** @param answer what it returns, or the promise of it, is the answer; what it throws is thrown by `request` */
  async serve(
    name: string,
    answer: (value: unknown) => unknown,
    options: ServeOptions,
    left: () => void,
  ): Promise<Served> {
    checkName('name', name);
    checkNames(options, ['concurrency']);
    if (typeof answer !== 'function')
      throw new UsageError('ERR_OPTION', `Cannot serve ${name} with ${String(answer)}: it takes a function`, {
        option: 'answer',
      });
    const rule = { fallback: ENGINE_SERVING_DEFAULT, min: 1, max: ENGINE_REQUESTS_MAX };
    const concurrency = checked('concurrency', options.concurrency, rule) as number;
    const answering = new Set<Promise<void>>();
    const subscription = await this.#driver.share(this.#names.call(name), (message) => {
      const doing = this.#answer(message, answer, answering.size >= concurrency);
      answering.add(doing);
      void doing.finally(() => answering.delete(doing));
    });
    const close = async (): Promise<void> => {
      subscription.close();
      left();
      await Promise.all(answering);
      if (this.#driver.up) await this.#driver.flush().catch(() => {});
    };
    return {
      get pending() {
        return answering.size;
      },
      close,
      [Symbol.asyncDispose]: close,
    };
  }
  async #answer(message: Uint8Array, answer: (value: unknown) => unknown, enough: boolean): Promise<void> {
    const record = this.#reader.read(message);
    // One in parts would have gone to several.
    if (record === undefined || record.outcome !== 'done' || record.parts !== 1 || record.count !== 0) return;
    const { from, number, text } = record;
    const writer = this.#writers[text === undefined ? 'packed' : 'json'];
    const say = (value: unknown, outcome: Outcome): void => {
      for (const part of writer.write(value, number, ENGINE_PARTS_MAX, outcome))
        this.#driver.publish(this.#names.reply(from), part);
    };
    try {
      if (enough) say(undefined, 'busy');
      else say(await answer(this.#reader.value(record, [record.bytes])), 'done');
    } catch (error) {
      const thrown = (plain: boolean): unknown => (text === undefined ? failureOf(error, plain, false) : error);
      try {
        say(thrown(false), 'failed');
      } catch {
        // A field of it cannot be copied.
        say(thrown(true), 'failed');
      }
    }
  }
}

function busy(): RefusedError {
  const text = 'Who answers has as many requests as it takes (concurrency): ask later, or have more of them';
  return new RefusedError('ERR_REFUSED', text, { refusal: CODE_FULL, text: '' });
}
