// Topics through a server: whoever publishes, and whoever listens at the time. What the server loses is noticed by the numbers of what comes next.

import { platform } from '#platform';
import { ClosedError, UsageError } from '../errors.ts';
import {
  BUDGET_MESSAGES,
  ENGINE_REQUEST_MS,
  ENGINE_SENDERS_MAX,
  ENGINE_UNFLUSHED_MAX,
  ENGINE_WAITING_BYTES,
  ENGINE_WAITING_DEFAULT,
} from '../limits.ts';
import { CLOSED, EMPTY } from '../outcome.ts';
import type { AbortSignalLike } from '../port/events.ts';
import { checked, checkNames, timeoutOf } from '../port/options.ts';
import { Waiters } from '../port/waiters.ts';
import type { Driver, Subscription } from './driver.ts';
import { inTime, lateAt } from './in-time.ts';
import { type Names, randomId } from './names.ts';
import { Numbers } from './numbers.ts';
import { FORMS, type Form, type Record, RecordReader, RecordWriter } from './record.ts';
import { Unflushed } from './unflushed.ts';

export interface EngineTopicOptions {
  /** `packed`, the default: all that structured clone carries; `json`, for readers in other languages. */
  readonly codec?: Form | undefined;
}
export interface EngineTopicStats {
  readonly published: number;
  /** Of these, such as were said while there was no server: nobody has heard them. */
  readonly unsent: number;
}

/** Publishes to one topic. */
export class EngineTopic<T = unknown> {
  readonly name: string;
  /** @internal */
  readonly form: Form;
  readonly #driver: Driver;
  readonly #subject: string;
  readonly #writer: RecordWriter;
  #published = 0;
  #unsent = 0;
  /** Published in this turn, and not said yet. */
  #pending = 0;
  #scheduled = false;
  readonly #unflushed: Unflushed;
  /** Of the driver's losses, and of what was unsent, what `flush` has told of. */
  #losses: number;
  #told = 0;

  /** @internal */
  constructor(driver: Driver, names: Names, name: string, options: EngineTopicOptions) {
    checkNames(options, ['codec']);
    const form = checked('codec', options.codec, { fallback: 'packed', names: FORMS }) as Form;
    this.name = name;
    this.form = form;
    this.#driver = driver;
    this.#subject = names.topic(name);
    this.#writer = new RecordWriter(randomId(), form, () => driver.maxBytes);
    this.#unflushed = new Unflushed(driver);
    this.#losses = driver.losses;
  }

  /**
   * To all who listen now, once at the most. It is copied, and goes at the end of the turn, with all that is published to this topic till then. Never waits: `flush` does.
   * @throws DataCloneError for what cannot be copied; UsageError ERR_TOO_LARGE above 16 MiB, in JSON above what one message takes; nothing was published;
   *   ClosedError once the engine is closed
   */
  publish(value: T): void {
    if (this.#driver.closed) throw this.#closed();
    const messages = this.#writer.gather(value, this.#published >>> 0);
    this.#published++;
    const waiting = this.#writer.waiting;
    if (messages.length > 0 && !this.#send(messages)) this.#unsent += this.#pending + 1 - waiting;
    this.#pending = messages.length > 0 ? waiting : this.#pending + 1;
    if (this.#scheduled) return;
    this.#scheduled = true;
    platform.endOfTurn(() => this.#sendGathered());
  }
  #sendGathered(): void {
    this.#scheduled = false;
    const sent = this.#send(this.#writer.gathered());
    // The numbers of those that nobody has heard tell whoever listens later that they were there.
    if (!sent) this.#unsent += this.#pending;
    this.#pending = 0;
  }
  #send(messages: readonly Uint8Array[]): boolean {
    if (!this.#driver.up) return false;
    let sent = true;
    for (const message of messages) {
      // A server that takes nothing is not to fill this side's memory.
      const goes = this.#unflushed.amount <= ENGINE_UNFLUSHED_MAX && this.#driver.publish(this.#subject, message);
      if (goes) this.#unflushed.add(message.length);
      sent &&= goes;
    }
    return sent;
  }
  /**
   * When the server has what was published before.
   * @throws (rejects) ClosedError where some of that, or of what else this side said, was lost on the way there, or there is no server; TimeoutError where the server has
   *   not answered in 10 s
   */
  async flush(): Promise<void> {
    this.#sendGathered();
    const unsent = this.#unsent;
    const said = this.#driver.flush().catch(() => {});
    const [driver, ms] = [this.#driver, ENGINE_REQUEST_MS];
    const why = `the server at ${driver.where} has not answered`;
    await inTime(said, ms, () => lateAt(driver, `Cannot flush ${this.name}`, ms, why));
    // What a client tells of errors comes a turn later.
    await new Promise<void>((resolve) => platform.turn(resolve));
    const { losses, up, closed, where } = this.#driver;
    if (closed) throw this.#closed();
    if (up && losses === this.#losses && unsent === this.#told) return;
    this.#losses = losses;
    this.#told = unsent;
    throw new ClosedError(`Some of what was published to ${this.name} was lost: the server at ${where} was`, 'lost');
  }
  #closed(): ClosedError {
    return new ClosedError(`Cannot publish to ${this.name}: the engine is closed`, 'closed');
  }
  stats(): EngineTopicStats {
    return { published: this.#published, unsent: this.#unsent };
  }
}

export interface EngineSubscribeOptions {
  /** Messages that wait while nobody reads, and of 64 MiB at the most; default 1024. */
  readonly capacity?: number | undefined;
  /** What becomes of a reader that is slow: beyond `capacity` the oldest message goes, and is missed (`skip`, the default); or it gets the newest each time, and no other (`newest`). */
  readonly slow?: 'skip' | 'newest' | undefined;
  /** Is told how many messages were missed, and of which topic, before the first one behind the gap is handed out. */
  readonly onMissed?: ((count: number, topic: string) => void) | undefined;
}
export interface EngineReceiveOptions {
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignalLike | undefined;
}
export interface EngineReaderStats {
  readonly received: number;
  /** Lost on the way, or because this reader was slow. */
  readonly missed: number;
  /** Such as came twice, and were handed out once. */
  readonly doubled: number;
  /** What was no message of this library, or of a version that it does not know. */
  readonly strange: number;
}

/** Counts by topic, of which `onMissed` is still to be told. */
class Owed {
  readonly #counts = new Map<string, number>();

  add(topic: string, count: number): void {
    this.#counts.set(topic, (this.#counts.get(topic) ?? 0) + count);
    if (this.#counts.size > ENGINE_SENDERS_MAX) this.#counts.delete(this.#counts.keys().next().value as string);
  }
  take(topic: string): number {
    const count = this.#counts.get(topic) ?? 0;
    if (count > 0) this.#counts.delete(topic);
    return count;
  }
}

interface Waiting {
  readonly topic: string;
  readonly record: Record;
  /** Of one by itself. */
  readonly pieces: readonly Uint8Array[];
  /** Of one of several: where it lies. */
  readonly from: number;
  readonly length: number;
  readonly missed: number;
  /** Of the message; of one of several, of it alone. */
  readonly bytes: number;
}

/** Reads what is published to the topics of a pattern. */
export class EngineReader<T = unknown> {
  readonly pattern: string;
  readonly #capacity: number;
  readonly #onMissed: ((count: number, topic: string) => void) | undefined;
  readonly #names: Names;
  readonly #numbers = new Numbers();
  readonly #reader = new RecordReader();
  readonly #line = new Waiters();
  /** Missed before a message that is not there yet, and by slowness before one that waits. */
  readonly #ahead = new Owed();
  readonly #skipped = new Owed();

  readonly #left: () => void;
  #subscription: Subscription | undefined;
  #waiting: Waiting[] = [];
  #first = 0;
  #waitingBytes = 0;
  #received = 0;
  #missed = 0;
  #doubled = 0;
  #strange = 0;
  #inTurn = 0;
  #serving = false;
  #closed = false;

  private constructor(names: Names, pattern: string, options: EngineSubscribeOptions, left: () => void) {
    this.#left = left;
    checkNames(options, ['capacity', 'slow', 'onMissed']);
    const slow = checked('slow', options.slow, { fallback: 'skip', names: ['skip', 'newest'] });
    const rule = { fallback: ENGINE_WAITING_DEFAULT, min: 1, max: 1_000_000 };
    const capacity = checked('capacity', options.capacity, rule) as number;
    const { onMissed } = options;
    if (onMissed !== undefined && typeof onMissed !== 'function')
      throw new UsageError('ERR_OPTION', `Option onMissed cannot be ${String(onMissed)}: it takes a function`, {
        option: 'onMissed',
        value: onMissed,
      });
    this.pattern = pattern;
    this.#capacity = slow === 'newest' ? 1 : capacity;
    this.#onMissed = onMissed;
    this.#names = names;
  }
  /** @internal */
  static async open<T>(
    driver: Driver,
    names: Names,
    pattern: string,
    options: EngineSubscribeOptions,
    left: () => void,
  ): Promise<EngineReader<T>> {
    const reader = new EngineReader<T>(names, pattern, options, left);
    reader.#subscription = await driver.subscribe(names.topic(pattern), (bytes, subject) =>
      reader.#come(bytes, subject),
    );
    return reader;
  }

  #come(message: Uint8Array, subject: string): void {
    if (this.#closed) return;
    const record = this.#reader.read(message);
    const several = record !== undefined && record.count > 0 ? this.#reader.several(record) : [];
    if (record === undefined || several === undefined || record.outcome !== 'done') {
      this.#strange++;
      return;
    }
    const topic = this.#names.topicOf(subject);
    const { missed, pieces, doubled } = this.#numbers.come(record);
    if (doubled) this.#doubled++;
    this.#missed += missed;
    if (pieces === undefined) {
      if (missed > 0) this.#ahead.add(topic, missed);
      return;
    }
    const before = missed + this.#ahead.take(topic);
    if (record.count === 0) {
      const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
      this.#wait({ topic, record, pieces, from: 0, length: 0, missed: before, bytes });
    }
    for (let i = 0; i < several.length; i += 2) {
      const [from, length] = [several[i] as number, several[i + 1] as number];
      this.#wait({ topic, record, pieces, from, length, missed: i === 0 ? before : 0, bytes: length });
    }
    this.#serve();
  }
  get #waitingCount(): number {
    return this.#waiting.length - this.#first;
  }
  #wait(waiting: Waiting): void {
    this.#waiting.push(waiting);
    this.#waitingBytes += waiting.bytes;
    if (this.#waitingCount > this.#capacity) this.#skip();
    while (this.#waitingBytes > ENGINE_WAITING_BYTES && this.#waitingCount > 1) this.#skip();
  }
  /** The oldest one goes. */
  #skip(): void {
    const { topic, missed } = this.#shift();
    this.#missed++;
    this.#skipped.add(topic, missed + 1);
  }
  #shift(): Waiting {
    const first = this.#waiting[this.#first] as Waiting;
    this.#waiting[this.#first++] = undefined as unknown as Waiting;
    this.#waitingBytes -= first.bytes;
    if (this.#first * 2 > this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#first);
      this.#first = 0;
    }
    return first;
  }

  /** Messages that were published since this reader began, and that it did not get, as far as it knows: of those behind the last one that came nobody has told yet. */
  get missed(): number {
    return this.#missed;
  }
  stats(): EngineReaderStats {
    return { received: this.#received, missed: this.#missed, doubled: this.#doubled, strange: this.#strange };
  }

  /**
   * The next message; `EMPTY`; `CLOSED` when this reader is closed. Never waits.
   * @throws CodecError for a message that could not be decoded; the next call goes on behind it
   */
  tryReceive(): T | typeof EMPTY | typeof CLOSED {
    const taken = this.#take();
    return taken === undefined ? (this.#closed ? CLOSED : EMPTY) : taken[1];
  }
  #take(): [topic: string, value: T] | undefined {
    if (this.#waitingCount === 0) return undefined;
    const { topic, record, pieces, from, length, missed: before } = this.#shift();
    this.#received++;
    const missed = before + this.#skipped.take(topic);
    if (missed > 0) this.#tell(missed, topic);
    const several = record.count > 0;
    return [topic, (several ? this.#reader.valueAt(record, from, length) : this.#reader.value(record, pieces)) as T];
  }

  /** What it throws is reported, as of any listener: the message is there all the same. */
  #tell(missed: number, topic: string): void {
    try {
      this.#onMissed?.(missed, topic);
    } catch (error) {
      platform.reportError(error);
    }
  }

  /**
   * A promise of the next message, of `EMPTY` at the time limit, or of `CLOSED`.
   * @throws (rejects) the signal's reason; CodecError
   */
  async receiveAsync(options?: EngineReceiveOptions): Promise<T | typeof EMPTY | typeof CLOSED> {
    const next = await this.#next(options);
    return Array.isArray(next) ? next[1] : next;
  }
  async #next(options?: EngineReceiveOptions): Promise<[string, T] | typeof EMPTY | typeof CLOSED> {
    const timeoutMs = timeoutOf(options, ['timeoutMs', 'signal']);
    options?.signal?.throwIfAborted();
    const taken = this.#takeNow(timeoutMs === 0);
    if (taken !== undefined) return taken;
    if (this.#closed && this.#line.length === 0) return CLOSED;
    if (timeoutMs === 0 && this.#line.length === 0) return EMPTY;
    const pending = this.#line.add(timeoutMs, EMPTY, options?.signal, () => {});
    this.#serve();
    return (await pending) as [string, T];
  }
  #serve(): void {
    // What is told of a gap may read: it stands in line behind whoever is served.
    if (this.#serving) return;
    this.#serving = true;
    try {
      this.#serveAll();
    } finally {
      this.#serving = false;
    }
  }
  #serveAll(): void {
    while (this.#line.length > 0) {
      if (this.#inTurn >= BUDGET_MESSAGES) return;
      const waiter = this.#line.first();
      try {
        const taken = this.#take() ?? (this.#closed ? CLOSED : undefined);
        if (taken === undefined) return;
        waiter.resolve(taken);
      } catch (error) {
        waiter.reject(error);
      }
      this.#count();
    }
  }
  /** Others have their turn now and then (G11). */
  #count(): void {
    if (this.#inTurn++ > 0) return;
    platform.turn(() => {
      this.#inTurn = 0;
      this.#serve();
    });
  }

  /** What is there, unless others stand in line for it, or have to have their turn. */
  #takeNow(whatever: boolean): [string, T] | undefined {
    if (this.#line.length > 0 || (!whatever && this.#inTurn >= BUDGET_MESSAGES)) return undefined;
    try {
      return this.#take();
    } finally {
      this.#count();
    }
  }

  /** `for await (const value of reader)`: until it is closed. */
  [Symbol.asyncIterator](): AsyncIterableIterator<T, void, void> {
    return this.#each(([, value]) => value);
  }
  /** `for await (const [topic, value] of reader.entries())`: also where each comes from. */
  entries(): AsyncIterableIterator<[topic: string, value: T], void, void> {
    return this.#each((entry) => entry);
  }
  /** No generator: one would take twice the time for what is there. */
  #each<R>(of: (entry: [string, T]) => R): AsyncIterableIterator<R, void, void> {
    let over = false;
    const given = (next: [string, T] | typeof EMPTY | typeof CLOSED): IteratorResult<R, void> => {
      if (Array.isArray(next)) return { value: of(next), done: false };
      over = true;
      return { value: undefined, done: true };
    };
    const iterator: AsyncIterableIterator<R, void, void> = {
      next: () => {
        try {
          const taken = over ? CLOSED : this.#takeNow(false);
          return taken === undefined ? this.#next().then(given) : Promise.resolve(given(taken));
        } catch (error) {
          return Promise.reject(error);
        }
      },
      return: () => {
        over = true;
        return Promise.resolve({ value: undefined, done: true });
      },
      [Symbol.asyncIterator]: () => iterator,
    };
    return iterator;
  }

  /** Hears no more, whatever it has not read. Promises that are pending give `CLOSED`. Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#waiting = [];
    this.#first = 0;
    this.#waitingBytes = 0;
    this.#subscription?.close();
    this.#left();
    while (this.#line.length > 0) this.#line.first().resolve(CLOSED);
  }
  [Symbol.dispose](): void {
    this.close();
  }
}
