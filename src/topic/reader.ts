// A reading end of a topic.
import { platform } from '#platform';
import { packed } from '../codec/packed.ts';
import { ClosedError, LayoutError, UnsupportedError, UsageError } from '../errors.ts';
import { BUDGET_MESSAGES, SPIN_US_DEFAULT } from '../limits.ts';
import { type Views, viewsOf } from '../memory/region.ts';
import { CLOSED, EMPTY, type EndReason } from '../outcome.ts';
import type { AbortSignalLike } from '../port/events.ts';
import { timeoutOf } from '../port/options.ts';
import { type Settleable, settleable, Waiters } from '../port/waiters.ts';
import { SPACE, Waker } from '../wait/signal.ts';
import { Spin } from '../wait/spin.ts';
import { TopicBell } from './bell.ts';
import { NONE, TopicConsumer } from './consumer.ts';
import { TopicEnd } from './end.ts';
import { SIGNAL, WRITER_PARK } from './layout.ts';
import type { ReaderMedium } from './medium.ts';
import type { TopicMemory } from './memory.ts';
import { type ResolvedSubscription, resolveSubscription, type SubscribeOptions } from './options.ts';
import { isProcessHandle, openProcessHandle } from './process.ts';
import { recordBytes } from './record.ts';
import { Seat } from './seats.ts';
import { type LoopSleep, sleepBlocked } from './sleep.ts';
import { openTopicHandle, Tether } from './thread.ts';

const INTO_BYTES_FIRST = 4096;

/** Time limit of a call: milliseconds; 0 looks once, Infinity (the default) waits for ever. */
export interface TopicReceiveOptions {
  readonly timeoutMs?: number | undefined;
}
export interface TopicReceiveAsyncOptions extends TopicReceiveOptions {
  /** Takes the caller out of the line: its promise rejects with the signal's reason, and no message is lost. */
  readonly signal?: AbortSignalLike | undefined;
}

/** What a reader is made of that its medium supplies. */
export interface ReaderParts {
  readonly memory: TopicMemory;
  /** Number of its handle. */
  readonly number: number;
  /** @param broken as Tether has it */
  medium(broken: (how: EndReason) => void): ReaderMedium;
}

/** One reader of a topic, in one thread. `close()` it, or say `using`, when it is done. */
export class TopicReader<T = unknown> implements Disposable {
  readonly #consumer: TopicConsumer;
  readonly #decoder = packed.createDecoder({ knownTexts: 0 });
  readonly #words: Int32Array;
  readonly #end: TopicEnd;
  readonly #medium: ReaderMedium;
  readonly #onMissed: ((count: number) => void) | undefined;
  readonly #spin: Spin = new Spin(SPIN_US_DEFAULT);
  readonly #line: Waiters = new Waiters();
  readonly #look = (): boolean => this.#consumer.ready || this.#end.reason !== undefined;
  /** What a record is copied to before it is believed. */
  #into: Views = viewsOf(new ArrayBuffer(INTO_BYTES_FIRST));
  #sleep: LoopSleep | undefined;
  #closed: Settleable<EndReason> | undefined;
  #told: EndReason | undefined;
  #shut = false;
  /** Bytes of records that there can be behind the writer's end. */
  #left = 0;
  /** When a thread that blocks asks after the writer's life, whatever it finds to read. */
  #askAt = 0;
  /** Messages handed out since other work had its turn. */
  #inTurn = 0;
  #turning = false;

  /** @internal */
  constructor({ memory, number, medium }: ReaderParts, { start, slow, onMissed }: ResolvedSubscription) {
    const { words } = memory;
    this.#words = words;
    this.#left = memory.capacity;
    this.#onMissed = onMissed;
    // Nobody else looks at it.
    const fence = new Int32Array(new SharedArrayBuffer(4));
    this.#consumer = new TopicConsumer(memory, (bytes) => this.#room(bytes), fence, slow === 'newest');
    const own = new WeakRef(this);
    this.#medium = medium((how) => {
      const reader = own.deref();
      if (reader !== undefined) reader.#broken(how);
    });
    this.#askAt = performance.now() + this.#medium.sliceMs;
    this.#end = new TopicEnd(words, new TopicBell(words, this.#medium.place(words, SIGNAL)), this.#medium.endsAll);
    try {
      this.#consumer.join(start, slow === 'reliable' ? this.#sitDown(memory, number) : undefined);
    } catch (error) {
      this.#medium.close();
      throw error;
    }
    dropped.register(this, { medium: this.#medium, consumer: this.#consumer }, this);
  }

  #sitDown(memory: TopicMemory, number: number): Seat {
    const writer = new Waker(this.#medium.place(memory.words, WRITER_PARK), SPACE, () => {});
    const seat = Seat.take(memory, number, () => writer.ring());
    if (seat !== undefined) return seat;
    throw new UsageError(
      'ERR_OPTION',
      `Cannot subscribe as a reliable reader: the topic has room for ${memory.seats} of them; raise reliableReaders`,
      { limit: memory.seats },
    );
  }

  /** Messages that were published since this reader began, and that it did not get because it was too slow, or wanted the newest only. */
  get missed(): number {
    return this.#consumer.missed;
  }

  /** Whether the writer still waits for this reader, where it was asked to (`slow: 'reliable'`). */
  get reliable(): boolean {
    return this.#consumer.seated;
  }

  /** Why the writer has ended, if it has: there may be messages to read all the same. One atomic load. */
  get reason(): EndReason | undefined {
    return this.#end.reason;
  }

  /** Why the writer has ended, when it has; `closed` if this reader was closed before. */
  get closed(): Promise<EndReason> {
    this.#closed ??= settleable();
    const known = this.#told ?? this.#end.reason;
    if (known !== undefined) this.#closed.resolve(known);
    return this.#closed.promise;
  }

  /**
   * The next message; `EMPTY`; `CLOSED` behind the last one. Never waits.
   * @throws CodecError for a message that could not be decoded (the next call goes on behind it); LayoutError if the memory is
   *   damaged (this reader is at its end then); ClosedError after this reader's own close()
   */
  tryReceive(): T | typeof EMPTY | typeof CLOSED {
    if (this.#shut) throw new ClosedError('Cannot receive: this reader was closed', 'closed');
    const { reason } = this.#end;
    const before = this.#consumer.missed;
    // More than a ring of them, or outrun: memory that lies, or our way to a writer that goes on has ended alone.
    const length = this.#left < 0 ? NONE : this.#take();
    if (length < 0) return reason === undefined ? EMPTY : CLOSED;
    if (reason !== undefined) this.#left -= recordBytes(length);
    const into = this.#into;
    const missed = this.#consumer.missed - before;
    if (missed > 0) this.#onMissed?.(missed);
    return this.#decoder.decode(into, 0, length) as T;
  }

  /**
   * The next message; blocks this thread until there is one. `EMPTY` when the time limit passed, `CLOSED` behind the last one.
   * @throws UnsupportedError where this thread may not block; else as tryReceive
   */
  receive(): T | typeof CLOSED;
  receive(options: TopicReceiveOptions): T | typeof EMPTY | typeof CLOSED;
  receive(options?: TopicReceiveOptions): T | typeof EMPTY | typeof CLOSED {
    const timeoutMs = timeoutOf(options, ['timeoutMs']);
    const begin = performance.now();
    // As the sleep has it, which ends also where the clock does not move.
    let over = false;
    for (let now = begin; ; now = performance.now()) {
      const left = timeoutMs - (now - begin);
      // Who always finds a message, or is outrun again and again, would not sleep, and so not ask either.
      if (now > this.#askAt) {
        this.#askAt = now + this.#medium.sliceMs;
        this.#ask();
      }
      const value = this.tryReceive();
      if (value !== EMPTY || over || left <= 0) return value;
      if (!platform.canBlock)
        throw new UnsupportedError('Cannot receive here: this thread may not block; use receiveAsync');
      const place = this.#medium.place(this.#words, SIGNAL);
      over = !sleepBlocked(place, this.#spin, this.#look, left, this.#medium.sliceMs, () => this.#ask());
    }
  }

  /**
   * A promise of the next message, of `EMPTY` at the time limit, or of `CLOSED`. Those that are pending are kept in their order, and
   * keep the process alive.
   * @throws (rejects) the signal's reason; else as tryReceive
   */
  receiveAsync(): Promise<T | typeof CLOSED>;
  receiveAsync(options: TopicReceiveAsyncOptions): Promise<T | typeof EMPTY | typeof CLOSED>;
  receiveAsync(options?: TopicReceiveAsyncOptions): Promise<T | typeof EMPTY | typeof CLOSED> {
    try {
      const timeoutMs = timeoutOf(options, ['timeoutMs', 'signal']);
      options?.signal?.throwIfAborted();
      if (this.#line.length === 0 && (timeoutMs === 0 || this.#inTurn < BUDGET_MESSAGES)) {
        const value = this.tryReceive();
        if (value !== EMPTY || timeoutMs === 0) {
          this.#count();
          return Promise.resolve(value);
        }
      } else if (this.#shut) this.tryReceive();
      const pending = this.#line.add(timeoutMs, EMPTY, options?.signal, () => this.#rest()) as Promise<T>;
      this.#serve();
      return pending;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** `for await (const value of reader)`: until the writer has ended and everything was read, or this reader is closed. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    while (!this.#shut) {
      const value = await this.receiveAsync();
      if (value === CLOSED) return;
      yield value;
    }
  }

  /** `for (const value of reader.blocking())`: blocks between messages. */
  *blocking(): Generator<T, void, void> {
    while (!this.#shut) {
      const value = this.receive();
      if (value === CLOSED) return;
      yield value;
    }
  }

  /** Ends this reader, whatever it has not read. Promises that are pending give `CLOSED`. Idempotent. */
  close(): void {
    if (this.#shut) return;
    this.#shut = true;
    dropped.unregister(this);
    this.#consumer.leave();
    this.#tell(this.#end.reason ?? 'closed');
    while (this.#line.length > 0) this.#line.first().resolve(CLOSED);
    this.#medium.close();
  }
  [Symbol.dispose](): void {
    this.close();
  }

  // ---- taking -------------------------------------------------------------------------------------------------

  #take(): number {
    try {
      return this.#consumer.take();
    } catch (error) {
      if (error instanceof LayoutError) this.close();
      throw error;
    }
  }

  #room(bytes: number): Views {
    if (bytes > this.#into.bytes.length) {
      let size = this.#into.bytes.length;
      while (size < bytes) size *= 2;
      this.#into = viewsOf(new ArrayBuffer(size));
    }
    return this.#into;
  }

  // ---- waiting ------------------------------------------------------------------------------------------------

  /** Hands out what is there to those who wait, and rests. */
  #serve(): void {
    while (this.#line.length > 0 && !this.#turning) {
      if (this.#inTurn >= BUDGET_MESSAGES) {
        this.#takeTurn();
        return;
      }
      let value: unknown;
      try {
        value = this.tryReceive();
      } catch (error) {
        this.#line.first().reject(error);
        continue;
      }
      if (value === EMPTY) break;
      this.#count();
      this.#line.first().resolve(value);
    }
    this.#rest();
  }

  #rest(): void {
    const waiting = this.#line.length > 0 && !this.#shut;
    this.#medium.hold(waiting);
    if (!waiting || this.#turning) return;
    this.#sleep ??= this.#medium.onLoop(this.#words, SIGNAL, () => this.#serve());
    // What is there now came just now, or we are overtaken again and again: others first.
    if (!this.#sleep.park(this.#look)) this.#takeTurn();
  }

  /** A loop over messages that are there would keep everybody else from running. */
  #count(): void {
    if (++this.#inTurn === BUDGET_MESSAGES) this.#takeTurn();
  }
  #takeTurn(): void {
    if (this.#turning) return;
    this.#turning = true;
    platform.turn(() => {
      this.#turning = false;
      this.#inTurn = 0;
      this.#serve();
    });
  }

  // ---- the writer's end -----------------------------------------------------------------------------------------

  /** Asks after the writer's life, while this thread is blocked. */
  #ask(): void {
    const how = this.#medium.gone();
    if (how !== undefined) this.#end.tell(how);
  }
  #broken(how: EndReason): void {
    // It has said so itself, unless it was killed. Whoever learns it tells all.
    this.#end.tell(how);
    this.#tell(this.#end.reason ?? how);
    this.#serve();
  }
  #tell(reason: EndReason): void {
    this.#told ??= reason;
    this.#closed?.resolve(this.#told);
  }
}

/** A reader that nobody holds any more: its native port would stay, and a seat would hold the writer up until its patience is at its end. */
const dropped = new FinalizationRegistry<{ readonly medium: ReaderMedium; readonly consumer: TopicConsumer }>(
  ({ medium, consumer }) => {
    consumer.leave();
    medium.close();
  },
);

/**
 * Opens a handle of a topic: a reader, in this thread. A topic of another process comes by `subscribe(await port.link.topic(name))`.
 * @throws UsageError ERR_HANDLE if it is none, came without its transfer list, or has a reader already; ERR_OPTION
 * @throws LayoutError if it comes from another version, or its memory is damaged
 */
export function subscribe<T = unknown>(handle: unknown, options?: SubscribeOptions): TopicReader<T> {
  const choice = resolveSubscription(options);
  if (isProcessHandle(handle)) return new TopicReader<T>(openProcessHandle(handle), choice);
  const opened = openTopicHandle(handle);
  return new TopicReader<T>({ ...opened, medium: (broken) => new Tether(opened, broken) }, choice);
}
