// Requests through a server, to one of those who answer to a name; answers come to a subject of who asks.
import { AddressError, ClosedError, RefusedError, UsageError } from '../errors.ts';
import {
  ENGINE_DRAIN_MS,
  ENGINE_LAST_MS,
  ENGINE_PARTS_MAX,
  ENGINE_REQUEST_MS,
  ENGINE_REQUESTS_MAX,
  ENGINE_SERVING_DEFAULT,
  TIMEOUT_MS_MAX,
} from '../limits.ts';
import type { AbortSignalLike } from '../port/events.ts';
import { checkSignal } from '../port/link-choice.ts';
import { checked, checkNames, timeoutOf } from '../port/options.ts';
import { type Settleable, settleable } from '../port/waiters.ts';
import { failureOf, thrownBy } from '../rpc/failures.ts';
import { CODE_FULL } from '../transport/stream/frames.ts';
import type { Driver, Subscription } from './driver.ts';
import { lateAt, settledInTime } from './in-time.ts';
import { checkName, type Names, randomId } from './names.ts';
import { Numbers } from './numbers.ts';
import { FORMS, type Form, type Outcome, RecordReader, RecordWriter } from './record.ts';
import { messageOf, nameOf } from './thrown.ts';

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
/** What who answers is told of a request. */
export interface Asked {
  /** Aborted where the answer goes nowhere any more: this side is closed, and its time is over. Each request has one of its own; who asks, and gives up, is not told of by it. */
  readonly signal: AbortSignal;
}
export type Answer = (value: never, asked: Asked) => unknown;
export interface DrainOptions {
  /** Milliseconds for what is under way; default 10,000. What takes longer is told by its signal, and not waited for. */
  readonly drainMs?: number | undefined;
}
/** @throws UsageError ERR_OPTION */
export function drainOf(options: DrainOptions): number {
  checkNames(options, ['drainMs']);
  return checked('drainMs', options.drainMs, { fallback: ENGINE_DRAIN_MS, min: 0, max: TIMEOUT_MS_MAX }) as number;
}
/** Somebody who answers. */
export interface Served {
  /** Requests that are being answered. */
  readonly pending: number;
  /**
   * Takes no more requests; what was on its way to this side, and what has begun, is answered.
   * @throws (rejects) UsageError ERR_OPTION
   */
  close(options?: DrainOptions): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

interface Pending extends Settleable<unknown> {
  /** Of an answer in parts. */
  numbers: Numbers | undefined;
}

export class Requests {
  readonly #driver: Driver;
  readonly #names: Names;
  readonly #id = randomId();
  readonly #writers: { readonly [F in Form]: RecordWriter };
  readonly #reader = new RecordReader();
  readonly #pending = new Map<number, Pending>();
  #answers: Promise<Subscription> | undefined;
  /** That it listens for answers, once it does. */
  #hears = false;
  #number = 0;

  constructor(driver: Driver, names: Names) {
    this.#driver = driver;
    this.#names = names;
    const writer = (form: Form): RecordWriter => new RecordWriter(this.#id, form, () => driver.maxBytes);
    this.#writers = { packed: writer('packed'), json: writer('json') };
    driver.onDown(() => {
      const [what, reason] = driver.closed
        ? ['This engine was closed', 'closed']
        : [`The server at ${driver.where} was lost`, 'lost'];
      const text = `${what} before the answer came: whether the request was heard, nobody knows`;
      for (const { reject } of this.#pending.values()) reject(new ClosedError(text, reason));
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
    // A getter of the value may have aborted it.
    signal?.throwIfAborted();
    const pending: Pending = { ...settleable<unknown>(), numbers: undefined };
    pending.promise.catch(() => {});
    this.#pending.set(number, pending);
    const aborted = (): void => pending.reject(signal?.reason);
    signal?.addEventListener('abort', aborted);
    const late = (): void =>
      pending.reject(lateAt(this.#driver, `Cannot ask ${name}`, timeoutMs, 'nobody of that name has answered'));
    // A timer of more would be one of no time.
    const timer = timeoutMs > TIMEOUT_MS_MAX ? undefined : setTimeout(late, timeoutMs);
    try {
      const given = (): boolean => this.#pending.get(number) !== pending;
      this.#send(name, message, given).catch(pending.reject);
      return await pending.promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', aborted);
      this.#pending.delete(number);
    }
  }
  /** @param given whether nobody waits for it any more: then it does not go */
  async #send(name: string, message: Uint8Array, given: () => boolean): Promise<void> {
    if (!this.#driver.isReady || !this.#hears) {
      // Before what a client that was closed may never answer.
      await this.#driver.ready();
      this.#answers ??= this.#listen();
      await this.#answers;
    }
    if (await this.#driver.tellOne(this.#names.call(name), message, given)) return;
    const text = `Cannot ask ${name} at ${this.#driver.where}: nobody answers to that name`;
    throw new AddressError('ERR_UNREACHABLE', text, { address: name });
  }
  #listen(): Promise<Subscription> {
    const listening = this.#driver.subscribe(this.#names.reply(this.#id), (bytes) => this.#answered(bytes));
    listening.then(
      () => {
        this.#hears = true;
      },
      () => {
        // Asked for anew with the next request.
        this.#answers = undefined;
      },
    );
    return listening;
  }
  #answered(message: Uint8Array): void {
    const record = this.#reader.read(message);
    const pending = record === undefined ? undefined : this.#pending.get(record.number);
    if (record === undefined || pending === undefined) return;
    let pieces: readonly Uint8Array[] | undefined = [record.bytes];
    if (record.parts > 1) {
      const isFirst = pending.numbers === undefined;
      pending.numbers ??= new Numbers();
      const come = pending.numbers.come(record);
      if (come.missed > 0 || (isFirst && record.part > 0))
        pending.reject(new ClosedError('A part of the answer was lost on its way', 'lost'));
      pieces = come.pieces;
    }
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
    answer: (value: unknown, asked: Asked) => unknown,
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
    const running = new Set<AbortController>();
    let over: ClosedError | undefined;
    const subscription = await this.#driver.share(this.#names.call(name), (message) => {
      let controller: AbortController | undefined;
      let answered = false;
      const asked: Asked = {
        // Most look at none.
        get signal() {
          controller ??= new AbortController();
          if (!answered) running.add(controller);
          if (over !== undefined) controller.abort(over);
          return controller.signal;
        },
      };
      const doing = this.#answer(message, (value) => answer(value, asked), answering.size >= concurrency);
      answering.add(doing);
      void doing.finally(() => {
        answering.delete(doing);
        answered = true;
        if (controller !== undefined) running.delete(controller);
      });
    });
    let closing: Promise<void> | undefined;
    const close = async (drainMs: number): Promise<void> => {
      await settledInTime(subscription.drain(), ENGINE_LAST_MS);
      subscription.close();
      await settledInTime(Promise.all(answering), drainMs);
      over = new ClosedError(`Who answers to ${name} is closed`, 'closed');
      for (const each of running) each.abort(over);
      if (this.#driver.up) await settledInTime(this.#driver.flush(), ENGINE_LAST_MS);
      left();
    };
    const closes = async (options: DrainOptions = {}): Promise<void> => {
      const drainMs = drainOf(options);
      closing ??= close(drainMs);
      await closing;
    };
    return {
      get pending() {
        return answering.size;
      },
      close: closes,
      [Symbol.asyncDispose]: () => closes(),
    };
  }
  /** Never rejects. */
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
      if (enough) {
        say(undefined, 'busy');
        return;
      }
      const value = await answer(this.#reader.value(record, [record.bytes]));
      // JSON has no text for nothing.
      say(text !== undefined && value === undefined ? null : value, 'done');
    } catch (error) {
      this.#sayThrown(error, text !== undefined, say);
    }
  }
  /** Whole, or with what of its fields can be copied, or as a text alone. */
  #sayThrown(error: unknown, asText: boolean, say: (value: unknown, outcome: Outcome) => void): void {
    const plainly = (): unknown => Object.assign(new Error(messageOf(error)), { name: nameOf(error) });
    const forms = asText
      ? [() => error]
      : [
          () => failureOf(error, false, false),
          () => failureOf(error, true, false),
          () => failureOf(plainly(), true, false),
        ];
    for (const form of forms) {
      try {
        say(form(), 'failed');
        return;
      } catch {
        // The next one says less.
      }
    }
  }
}

function busy(): RefusedError {
  const text = 'Who answers has as many requests as it takes (concurrency): ask later, or have more of them';
  return new RefusedError('ERR_REFUSED', text, { refusal: CODE_FULL, text: '' });
}
