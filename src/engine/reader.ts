// Whoever listens to topics through a server. What the server loses is noticed by the numbers of what comes next.
import { platform } from '#platform';
import { UsageError } from '../errors.ts';
import {
  BUDGET_MESSAGES,
  ENGINE_SENDERS_MAX,
  ENGINE_THING_BYTES,
  ENGINE_WAITING_BYTES,
  ENGINE_WAITING_DEFAULT,
} from '../limits.ts';
import { CLOSED, EMPTY } from '../outcome.ts';
import type { AbortSignalLike } from '../port/events.ts';
import { checked, checkNames, timeoutOf } from '../port/options.ts';
import { Waiters } from '../port/waiters.ts';
import type { Driver, Subscription } from './driver.ts';
import type { Names } from './names.ts';
import { Numbers } from './numbers.ts';
import { own } from './own.ts';
import { type Record, RecordReader } from './record.ts';

export interface EngineSubscribeOptions {
  /** Messages that wait for a reader that has had its turn, and did not take them; of 64 MiB at the most. Default 1024. */
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

/** What each value of several weighs in memory beside its bytes. */
const VALUE_BYTES = 32;

/** One value, or several that came in one message. */
interface Waiting {
  readonly topic: string;
  record: Record;
  /** Of one by itself. */
  pieces: readonly Uint8Array[];
  /** Of several: where each lies, and how long it is. */
  readonly places: readonly number[];
  /** Where the place of the next one stands. */
  at: number;
  /** Before the next one. */
  missed: number;
}

/** Reads what is published to the topics of a pattern. */
export class EngineReader<T = unknown> {
  readonly pattern: string;
  readonly #capacity: number;
  readonly #newest: boolean;
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
  /** Values, and what they weigh with their messages. */
  #waitingCount = 0;
  #waitingBytes = 0;
  #received = 0;
  #missed = 0;
  #doubled = 0;
  #strange = 0;
  /** Handed out in this turn, at the end of which it is looked at. */
  #inTurn = 0;
  #turning = false;
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
    this.#newest = slow === 'newest';
    this.#capacity = this.#newest ? 1 : capacity;
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
    if (doubled) this.#doubled += record.count || 1;
    this.#missed += missed;
    if (pieces === undefined) {
      if (missed > 0) this.#ahead.add(topic, missed);
      return;
    }
    const waiting: Waiting = {
      topic,
      record,
      pieces,
      places: several,
      at: 0,
      missed: missed + this.#ahead.take(topic),
    };
    this.#waiting.push(waiting);
    this.#waitingBytes += ENGINE_THING_BYTES;
    if (record.count === 0) this.#waitingBytes += bytesOf(pieces);
    for (let i = 1; i < several.length; i += 2) this.#waitingBytes += VALUE_BYTES + (several[i] as number);
    this.#waitingCount += record.count || 1;
    while (this.#waitingBytes > ENGINE_WAITING_BYTES && this.#waitingCount > 1) this.#skip();
    if (this.#newest) this.#skipTo(1);
    this.#serve();
    if (waiting.at === 0 || waiting.at < several.length) keep(waiting);
    if (this.#waitingCount > this.#capacity) this.#turn();
  }
  #skipTo(count: number): void {
    while (this.#waitingCount > count) this.#skip();
  }
  /** The oldest one goes. */
  #skip(): void {
    const first = this.#waiting[this.#first] as Waiting;
    this.#missed++;
    this.#skipped.add(first.topic, first.missed + 1);
    this.#shift(first);
  }
  /** The next one is nobody's any more; it is the one of `first`. */
  #shift(first: Waiting): void {
    const { record, places, at } = first;
    this.#waitingCount--;
    this.#waitingBytes -= record.count > 0 ? VALUE_BYTES + (places[at + 1] as number) : bytesOf(first.pieces);
    first.missed = 0;
    first.at = at + 2;
    if (first.at < places.length) return;
    this.#waitingBytes -= ENGINE_THING_BYTES;
    this.#waiting[this.#first++] = undefined as unknown as Waiting;
    if (this.#first * 2 > this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#first);
      this.#first = 0;
    }
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
    this.#tellOfGap();
    if (this.#waitingCount === 0) return undefined;
    const first = this.#waiting[this.#first] as Waiting;
    const { topic, record, pieces, places, at } = first;
    this.#shift(first);
    this.#received++;
    if (record.count === 0) return [topic, this.#reader.value(record, pieces) as T];
    return [topic, this.#reader.valueAt(record, places[at] as number, places[at + 1] as number) as T];
  }
  /** Of what is missed before the next one, while that is nobody's: whoever is told may take it, may give up whoever waits for it, and may close this. */
  #tellOfGap(): void {
    while (this.#waitingCount > 0) {
      const first = this.#waiting[this.#first] as Waiting;
      const missed = first.missed + this.#skipped.take(first.topic);
      if (missed === 0) return;
      first.missed = 0;
      this.#tell(missed, first.topic);
    }
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
      this.#tellOfGap();
      if (this.#line.length === 0) return;
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
  #count(): void {
    this.#inTurn++;
    this.#turn();
  }
  /** Others have their turn now and then (G11). Much may come at once: whoever has had its turn, and left what it might have taken, is slow. */
  #turn(): void {
    if (this.#turning) return;
    this.#turning = true;
    platform.turn(() => {
      this.#turning = false;
      if (this.#inTurn < BUDGET_MESSAGES) this.#skipTo(this.#capacity);
      this.#inTurn = 0;
      this.#serve();
      if (this.#waitingCount > this.#capacity) this.#turn();
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
    this.#waitingCount = 0;
    this.#waitingBytes = 0;
    this.#subscription?.close();
    this.#left();
    while (this.#line.length > 0) this.#line.first().resolve(CLOSED);
  }
  [Symbol.dispose](): void {
    this.close();
  }
}

/** It goes on waiting. */
function keep(waiting: Waiting): void {
  const { record, pieces } = waiting;
  // The last one is what came in this very message.
  record.bytes = own(record.bytes);
  waiting.pieces = [...pieces.slice(0, -1), record.bytes];
}
function bytesOf(pieces: readonly Uint8Array[]): number {
  let bytes = 0;
  for (const { length } of pieces) bytes += length;
  return bytes;
}
