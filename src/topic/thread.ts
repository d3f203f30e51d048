// Topics between threads: a native port a reader, over which nothing is said. It breaks when one of the two threads ends, which is the news.
import { platform } from '#platform';
import { LayoutError, UnsupportedError, UsageError } from '../errors.ts';
import { END_NEWS_MS, TOPIC_HANDLES_MAX, TOPIC_SLICE_MS } from '../limits.ts';
import type { TransferList } from '../memory/handle.ts';
import { endedOn, isLifePage } from '../memory/life-page.ts';
import { renewed } from '../memory/native-pair.ts';
import { checkSharedMemory, isSharedMemory } from '../memory/region.ts';
import type { EndReason } from '../outcome.ts';
import type { NativePort } from '../platform/contract.ts';
import { obeyKnocks } from '../wait/knocks.ts';
import { type ParkPlace, SharedPlace } from '../wait/park-place.ts';
import { LAYOUT_VERSION } from './layout.ts';
import type { ReaderMedium, WriterMedium } from './medium.ts';
import { openTopic, type TopicMemory } from './memory.ts';
import { tooManyReaders } from './process.ts';
import { LoopSleep } from './sleep.ts';

const HANDLE_TYPE = 'millrace-topic';

/**
 * The way of one reader to a topic: `worker.postMessage(handle, handle.transfer)`, then `subscribe(handle)` over there. It may be
 * part of a larger message.
 */
export interface TopicHandle {
  readonly type: 'millrace-topic';
  readonly version: number;
  /** Which of the topic's handles this is, from 1 on. */
  readonly number: number;
  readonly memory: SharedArrayBuffer;
  /** Native port: tells of the other thread's death. */
  readonly tether: unknown;
  /** Moves along, and is empty where the handle was. */
  readonly pass: ArrayBuffer;
  /** The page that speaks for the life of the writer's thread, if somebody watches it. */
  readonly life: SharedArrayBuffer | null;
  /** What must be transferred along. Not cloned: there where the handle was made. */
  readonly transfer: TransferList;
}

interface WakerData {
  readonly own: Int32Array;
  readonly words: Int32Array;
  readonly index: number;
}
const WAKER = `({ own, words, index }) => (${obeyKnocks})(own, () => Atomics.notify(words, index))`;

function place(words: Int32Array, index: number): ParkPlace {
  return new SharedPlace(words, index);
}

/** The writer's thread: the handles that are out. */
export class Handles implements WriterMedium {
  readonly place: typeof place = place;
  readonly #memory: SharedArrayBuffer;
  readonly #life: SharedArrayBuffer | null;
  readonly #gone: (handle: number) => void;
  readonly #tethers: Map<number, NativePort> = new Map();
  #last = 0;

  /**
   * @param life the page that speaks for this thread's life, if there is one
   * @param gone is told when a reader has closed, or its thread has ended, or a handle was lost
   */
  constructor(memory: SharedArrayBuffer, life: SharedArrayBuffer | null, gone: (handle: number) => void) {
    this.#memory = memory;
    this.#life = life;
    this.#gone = gone;
  }

  get count(): number {
    return this.#tethers.size;
  }
  has(handle: number): boolean {
    return this.#tethers.has(handle);
  }

  /** @throws UsageError ERR_OPTION if there are too many */
  make(): TopicHandle {
    if (this.#tethers.size >= TOPIC_HANDLES_MAX) throw tooManyReaders();
    const number = ++this.#last;
    const [near, tether] = platform.messageChannel();
    const pass = new ArrayBuffer(1);
    platform.listen(near, { message(): void {}, closed: () => this.#forget(number) });
    this.#tethers.set(number, near);
    const handle = {
      type: HANDLE_TYPE,
      version: LAYOUT_VERSION,
      number,
      memory: this.#memory,
      tether,
      pass,
      life: this.#life,
    } as const;
    return Object.defineProperty(handle, 'transfer', { value: [tether, pass] }) as unknown as TopicHandle;
  }

  startWaker(own: Int32Array, words: Int32Array, index: number, lost: () => void): void {
    const data: WakerData = { own, words, index };
    if (!platform.startOwn('millrace waker', WAKER, data, lost)) {
      throw new UnsupportedError(
        "Cannot make a topic with wakes: 'thread': this runtime starts no thread of a text; leave it out",
        { feature: 'threads' },
      );
    }
  }

  share(): never {
    return this.checkShared();
  }
  checkShared(): never {
    throw new UnsupportedError(
      'Cannot share this topic with another process: it lies in memory of threads; make it by createTopic({ memory: processMemory() })',
      { feature: 'memory' },
    );
  }

  probe(handles: readonly number[]): void {
    for (const handle of handles) {
      const tether = this.#tethers.get(handle);
      if (tether === undefined) continue;
      // Taking is what makes Node notice the end.
      while (platform.takeMessage(tether) !== undefined);
      if (platform.probeGone(tether)) this.#forget(handle);
    }
  }

  close(): void {
    for (const tether of this.#tethers.values()) tether.close();
    this.#tethers.clear();
  }

  #forget(handle: number): void {
    if (this.#tethers.delete(handle)) this.#gone(handle);
  }
}

/** A handle that was opened in this thread. */
export interface OpenedTopic {
  readonly number: number;
  readonly memory: TopicMemory<SharedArrayBuffer>;
  readonly tether: NativePort;
  readonly life: SharedArrayBuffer | null;
}

/**
 * Checks a handle, and takes what is in it: it is good for one reader.
 * @throws UsageError ERR_HANDLE if it is none, came without its transfer list, was handed on, or has a reader
 * @throws LayoutError if it comes from another version, or its memory is damaged
 */
export function openTopicHandle(value: unknown): OpenedTopic {
  checkSharedMemory('subscribe');
  const handle = value as Partial<TopicHandle> | null | undefined;
  if (typeof value !== 'object' || handle?.type !== HANDLE_TYPE) {
    throw new UsageError(
      'ERR_HANDLE',
      'Cannot subscribe: expected a handle of a topic, as `topic.handle()` makes them',
    );
  }
  if (handle.version !== LAYOUT_VERSION) {
    throw new LayoutError(
      `Cannot subscribe to a topic of layout version ${String(handle.version)}: this copy of millrace speaks version ${LAYOUT_VERSION}; load the same release in all threads`,
      { value: handle.version, limit: LAYOUT_VERSION },
    );
  }
  const { memory, tether, pass, life, number } = handle;
  if (!platform.isNativePort(tether) || !(pass instanceof ArrayBuffer)) {
    throw new UsageError(
      'ERR_HANDLE',
      'Cannot subscribe: the handle has lost its native port; pass `handle.transfer` as transfer list when you post it',
    );
  }
  if (pass.byteLength === 0) {
    throw new UsageError(
      'ERR_HANDLE',
      'Cannot subscribe: this handle was handed on, or has a reader already; each reader needs a `topic.handle()` of its own',
    );
  }
  if (!isSharedMemory(memory) || !Number.isSafeInteger(number) || (number as number) < 1) {
    throw new LayoutError('Cannot subscribe: the handle does not hold what a topic needs');
  }
  const opened = openTopic(memory);
  platform.cloneMoving(pass, [pass]);
  return {
    number: number as number,
    memory: opened,
    tether: platform.movesWhole ? renewed(tether as NativePort) : (tether as NativePort),
    life: isLifePage(life) ? life : null,
  };
}

/** A reader's thread: what it hears of the writer's. */
export class Tether implements ReaderMedium {
  readonly place: typeof place = place;
  readonly endsAll: boolean = true;
  readonly sliceMs: number;
  readonly #port: NativePort;
  readonly #life: SharedArrayBuffer | null;
  #closed = false;

  /** @param broken is told that the writer's thread is gone, or the topic closed, once it is known how, as far as it ever will be */
  constructor({ tether, life }: OpenedTopic, broken: (how: EndReason) => void) {
    this.#port = tether;
    this.#life = life;
    this.sliceMs = life !== null || platform.canProbe() ? TOPIC_SLICE_MS : Number.POSITIVE_INFINITY;
    platform.listen(tether, { message(): void {}, closed: () => this.#broken(broken) });
  }

  onLoop(words: Int32Array, index: number, woken: () => void): LoopSleep {
    if (!('waitAsync' in Atomics)) {
      throw new UnsupportedError(
        'Cannot wait for a topic with the event loop: this runtime has no Atomics.waitAsync; use tryReceive(), or receive() in a worker',
        { feature: 'Atomics.waitAsync' },
      );
    }
    return new LoopSleep(new SharedPlace(words, index), woken);
  }

  gone(): EndReason | undefined {
    const told = this.#life === null ? undefined : endedOn(this.#life);
    if (told !== undefined || this.#closed) return told;
    // Taking is what makes Node notice the end.
    while (platform.takeMessage(this.#port) !== undefined);
    return platform.probeGone(this.#port) ? 'terminated' : undefined;
  }

  hold(held: boolean): void {
    if (!this.#closed) platform.hold(this.#port, held);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#port.close();
  }

  #broken(told: (how: EndReason) => void): void {
    if (this.#closed) return;
    this.#closed = true;
    const life = this.#life;
    if (life === null) told('terminated');
    else if (endedOn(life) !== undefined) told(endedOn(life) as EndReason);
    // Who watches that thread hears of its end at about the same time, and writes down how it came.
    else platform.later(() => told(endedOn(life) ?? 'terminated'), END_NEWS_MS);
  }
}
