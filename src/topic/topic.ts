// The writing end of a topic.
import { type Encoder, REFUSED } from '../codec/codec.ts';
import { packed } from '../codec/packed.ts';
import { ClosedError, DataCloneError, UsageError } from '../errors.ts';
import { LIVENESS_SLICE_MS, SPIN_US_DEFAULT, TOPIC_OFFER_MIN } from '../limits.ts';
import type { EndReason } from '../outcome.ts';
import type { ThreadEnd } from '../platform/contract.ts';
import { ownLife } from '../port/start-data.ts';
import { endWithThread, forgetThreadEnd } from '../transport/thread-end.ts';
import type { ReaderLine, SharableTopic, TopicShare } from '../transport/topic-medium.ts';
import { BlockingWait } from '../wait/block.ts';
import { SPACE } from '../wait/signal.ts';
import { Spin } from '../wait/spin.ts';
import { TopicBell } from './bell.ts';
import { TopicEnd } from './end.ts';
import { SIGNAL, WRITER_PARK, WRITER_PARKS } from './layout.ts';
import type { WriterMedium } from './medium.ts';
import { allocateTopic, type TopicMemory } from './memory.ts';
import { type ResolvedTopic, resolveTopic, type TopicOptions } from './options.ts';
import { allocateMapped, ProcessReaders } from './process.ts';
import { HELD, TopicProducer, tooLarge } from './producer.ts';
import { Seats } from './seats.ts';
import { Handles, type TopicHandle } from './thread.ts';
import { WakerThread } from './waker.ts';

/** Bytes below which no value is tried. */
const LEAST = 8;

/** Numbers about a topic, counted since it was made. */
export interface TopicStats {
  /** Messages published. */
  readonly published: number;
  /** Messages that were published to nobody, because a reliable reader held the writer up (`whenHeld: 'drop-newest'`). */
  readonly dropped: number;
  /** Reliable readers that were skipped all the same, because the writer's patience was at its end. */
  readonly evicted: number;
  /** Times that a publication had to wake readers. */
  readonly wakes: number;
  /** Handles whose readers have not closed, and whose threads or processes live. */
  readonly handles: number;
}

/** One writer, any number of readers. Lives until it is closed, or its thread ends. */
export class Topic<T = unknown> implements Disposable, SharableTopic {
  readonly #memory: TopicMemory;
  readonly #options: ResolvedTopic;
  readonly #seats: Seats;
  readonly #producer: TopicProducer;
  readonly #encoder: Encoder;
  readonly #bell: TopicBell;
  readonly #end: TopicEnd;
  readonly #waker: WakerThread | undefined;
  readonly #readers: WriterMedium;
  #wait: BlockingWait | undefined;
  /** As it has ended itself. What stands in memory others may have written, too. */
  #over: EndReason | undefined;
  /** Bytes that the next message is offered first. */
  #offer: number = TOPIC_OFFER_MIN;
  /** Those who share it with readers that have not come yet. */
  readonly #expecting: Set<(error: ClosedError) => void> = new Set();
  #dropped = 0;
  #corks = 0;
  #evicted = 0;

  /** @internal */
  constructor(options: ResolvedTopic) {
    this.#options = options;
    const { memory, readers } = this.#make(options);
    this.#memory = memory;
    this.#readers = readers;
    const { words } = memory;
    // Payloads teach nothing: who reads one may have read no other.
    this.#encoder = packed.createEncoder({ knownTexts: 0, exactArrays: options.exactArrays });
    this.#seats = new Seats(this.#memory, (handle) => readers.has(handle));
    this.#producer = new TopicProducer(this.#memory, this.#seats);
    const place = readers.place(words, SIGNAL);
    if (options.wakes === 'thread') {
      this.#waker = new WakerThread(place).start((own, lost) => readers.startWaker(own, words, SIGNAL, lost));
    }
    this.#bell = new TopicBell(words, this.#waker ?? place);
    this.#end = new TopicEnd(words, this.#bell, true);
    endWithThread(this);
  }
  #make(options: ResolvedTopic): { readonly memory: TopicMemory; readonly readers: WriterMedium } {
    const { capacityBytes, maxMessageBytes, reliableReaders, memory: source } = options;
    const gone = (handle: number): void => this.#seats.free(handle);
    if (source === undefined) {
      const memory = allocateTopic(capacityBytes, maxMessageBytes, reliableReaders);
      return { memory, readers: new Handles(memory.memory, ownLife(), gone) };
    }
    const { memory, piece } = allocateMapped(source, capacityBytes, maxMessageBytes, reliableReaders);
    return { memory, readers: new ProcessReaders(memory, piece, gone) };
  }

  /**
   * Makes `value` the newest message, for all readers there are and will be. It is copied; nothing of it moves. Never waits, unless
   * the topic has reliable readers and was told to wait for them. Costs the same however many readers there are: encoding, two atomic stores,
   * and one load if none of them sleeps.
   * @throws DataCloneError for what cannot be copied, or only by structured clone; UsageError ERR_TOO_LARGE above maxMessageBytes,
   *   ERR_BUSY in a getter of a value that is being published; nothing was published
   * @throws ClosedError after close()
   */
  publish(value: T): void {
    this.#check();
    const length = this.#encode(value);
    // A getter may have closed it.
    this.#check();
    if (length === HELD) {
      this.#dropped++;
      return;
    }
    this.#producer.commit(length);
    if (this.#corks === 0) this.#bell.ring();
  }

  /**
   * Wakes whoever sleeps once for everything that is published inside `body`, and returns what `body` returns. Who is awake sees each message at
   * once. May nest. For bursts to readers that sleep: each wake-up costs more than many messages.
   * @throws UsageError ERR_OPTION if `body` is no function; what `body` throws
   */
  cork<R>(body: () => R): R {
    if (typeof body !== 'function') {
      throw new UsageError('ERR_OPTION', 'Cannot cork: expected a function, which publishes what goes together');
    }
    this.#corks++;
    try {
      return body();
    } finally {
      if (--this.#corks === 0 && this.#over === undefined) this.#bell.ring();
    }
  }

  /**
   * What one reader needs, to be posted to its thread: `worker.postMessage(handle, handle.transfer)`, or in `workerData` with
   * `transferList`. For one reader; another one gets another handle.
   * @throws ClosedError after close(); UsageError ERR_OPTION while 1,024 of them are out
   * @throws UnsupportedError for a topic in memory of processes
   */
  handle(): TopicHandle {
    this.#check('make a handle');
    return this.#readers.make();
  }

  /** @internal */
  checkShared(): void {
    this.#check('share');
    this.#readers.checkShared();
  }

  /** @internal */
  expect(ended: (error: unknown) => void): () => void {
    this.#expecting.add(ended);
    return () => this.#expecting.delete(ended);
  }

  /** @internal What `port.link.shareTopic(name, topic)` asks for. */
  share(line: ReaderLine): TopicShare {
    this.#check('share');
    return this.#readers.share(line);
  }

  stats(): TopicStats {
    return {
      published: this.#producer.published,
      dropped: this.#dropped,
      evicted: this.#evicted,
      wakes: this.#bell.wakes,
      handles: this.#readers.count,
    };
  }

  /** Ends it: readers get what they have not read yet, and then the end. Idempotent. */
  close(): void {
    this.#finish('closed');
  }
  [Symbol.dispose](): void {
    this.close();
  }

  /** @internal */
  endThread(how: ThreadEnd): void {
    this.#finish(how);
  }

  #finish(reason: EndReason): void {
    if (this.#over !== undefined) return;
    this.#over = reason;
    // It may be over before it has woken anybody.
    this.#waker?.close();
    this.#end.tell(reason);
    forgetThreadEnd(this);
    this.#readers.close();
    for (const ended of [...this.#expecting]) ended(over('share', reason));
  }

  #check(what = 'publish'): void {
    if (this.#over !== undefined) throw over(what, this.#over);
  }

  /** Writes the value where the next record goes; its length, or `HELD`. */
  #encode(value: unknown): number {
    const { messageMax, views } = this.#memory;
    const producer = this.#producer;
    let offer = this.#offer;
    for (;;) {
      const limit = Math.min(offer, producer.stretch);
      if (limit >= LEAST) {
        const offset = this.#granted(limit, () => producer.tryClaim(limit));
        if (offset === HELD) return HELD;
        const length = this.#encoder.encodeInto(value, views, offset, limit, false);
        if (length >= 0) {
          this.#offer = Math.min(Math.max(TOPIC_OFFER_MIN, 2 * length), messageMax);
          return length;
        }
        if (length === REFUSED) throw refused();
        if (limit === messageMax) throw tooLarge(messageMax);
      }
      if (limit === offer) offer = Math.min(offer * 4, messageMax);
      else if (this.#granted(producer.stretch, () => producer.tryPad()) === HELD) return HELD;
    }
  }

  /** Tries until reliable readers let us, as the options say. */
  #granted(length: number, attempt: () => number): number {
    let granted = attempt();
    // It may sleep, corked.
    if (granted === HELD) this.#bell.ring();
    if (granted !== HELD || this.#options.whenHeld === 'drop-newest') return granted;
    const look = (): boolean => (granted === HELD ? (granted = attempt()) : granted) !== HELD;
    this.#wait ??= this.#makeWait();
    while (!this.#wait.wait(SPACE, look, this.#options.patienceMs)) this.#evicted += this.#producer.evict(length);
    return granted;
  }

  #makeWait(): BlockingWait {
    const place = this.#readers.place(this.#memory.words, WRITER_PARK);
    const slice = (): void => this.#readers.probe(this.#seats.holders());
    return new BlockingWait(place, WRITER_PARKS, new Spin(SPIN_US_DEFAULT), () => LIVENESS_SLICE_MS, slice);
  }
}

function over(what: string, reason: EndReason): ClosedError {
  return new ClosedError(`Cannot ${what}: this topic was closed`, reason);
}

function refused(): DataCloneError {
  return new DataCloneError(
    'Cannot publish: the value, or a part of it, is carried by structured clone only (SharedArrayBuffer, Blob, CryptoKey, very deep nesting); send it over a port',
    '$',
  );
}

/**
 * Makes a topic: what this thread publishes, any number of readers get, each in its own time, in any thread that a handle was posted to.
 * Without reliable readers the writer never waits.
 * ```ts
 * import { createTopic, subscribe } from 'millrace/topic';
 *
 * const topic = createTopic<{ symbol: string; price: number }>();
 * topic.publish({ symbol: 'ABC', price: 41 });
 * topic.publish({ symbol: 'ABC', price: 42 });
 *
 * const reader = subscribe<{ symbol: string; price: number }>(topic.handle());   // in any thread
 * console.log(reader.tryReceive());                     // { symbol: 'ABC', price: 42 }: a late joiner gets the latest
 * topic.close();
 * ```
 * @throws UsageError ERR_OPTION; UnsupportedError where threads share no memory, or where this one would have to wait and cannot
 */
export function createTopic<T = unknown>(options?: TopicOptions): Topic<T> {
  return new Topic<T>(resolveTopic(options));
}
