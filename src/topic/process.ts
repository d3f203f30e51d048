// Topics between processes: the ring lies in memory that all of them have mapped, and each reader has a line of its own to the writer,
// a channel of their connection. Threads sleep on SIGNAL by futex. An event loop writes its word of SLEEPS, behind the ring, and is rung for.
import { LayoutError, UnsupportedError, UsageError } from '../errors.ts';
import { TOPIC_HANDLES_MAX, TOPIC_SLICE_MS } from '../limits.ts';
import type { EndReason } from '../outcome.ts';
import {
  PROCESS_TOPIC,
  type ProcessTopicHandle,
  type ReaderLine,
  type TakenTopic,
  type TopicMemorySource,
  type TopicPiece,
  type TopicShare,
  type WakerBells,
} from '../transport/topic-medium.ts';
import type { AsyncPlace, ParkPlace } from '../wait/park-place.ts';
import { SIGNAL } from './layout.ts';
import type { ReaderMedium, WriterMedium } from './medium.ts';
import { openTopic, type TopicMemory, topicBytes, writeTopicHeader } from './memory.ts';
import { LoopSleep } from './sleep.ts';

const ASLEEP = 1;
const AWAKE = 0;

/** The memory of a topic that other processes are to map. @throws what the system says */
export function allocateMapped(
  source: TopicMemorySource,
  capacity: number,
  messageMax: number,
  seats: number,
): { readonly memory: TopicMemory; readonly piece: TopicPiece } {
  const piece = source.make(topicBytes(capacity, seats) + TOPIC_HANDLES_MAX * 4);
  writeTopicHeader(piece.buffer, capacity, messageMax, seats);
  return { memory: openTopic(piece.buffer), piece };
}

/** The writer's process: its readers. */
export class ProcessReaders implements WriterMedium {
  readonly #piece: TopicPiece;
  readonly #words: Int32Array;
  /** Word index of SLEEPS. */
  readonly #sleeps: number;
  readonly #gone: (handle: number) => void;
  /** By number of the handle. */
  readonly #lines = new Map<number, { readonly line: ReaderLine; readonly slot: number }>();
  readonly #taken = new Set<number>();
  #bells: WakerBells | undefined;
  #last = 0;

  /** @param gone is told when a reader has closed, or its process has ended */
  constructor(memory: TopicMemory, piece: TopicPiece, gone: (handle: number) => void) {
    this.#piece = piece;
    this.#words = memory.words;
    this.#sleeps = topicBytes(memory.capacity, memory.seats) >> 2;
    this.#gone = gone;
  }

  get count(): number {
    return this.#lines.size;
  }
  has(handle: number): boolean {
    return this.#lines.has(handle);
  }
  place(words: Int32Array, index: number): ParkPlace {
    const place = this.#piece.parking.place(words, index);
    return index === SIGNAL ? new AllReaders(place, () => this.#ring()) : place;
  }

  startWaker(own: Int32Array, words: Int32Array, signal: number, lost: () => void): void {
    const over = (): void => {
      this.#bells = undefined;
      lost();
    };
    const plan = { own, bytes: words.buffer.byteLength, signal, sleeps: this.#sleeps, lost: over };
    this.#bells = this.#piece.startWaker(plan);
    for (const { line, slot } of this.#lines.values()) this.#bells.add(slot, line.bell);
  }

  make(): never {
    throw new UnsupportedError(
      'Cannot make a handle of a topic in memory of processes: share it by `port.link.shareTopic(name, topic)`; a thread that is to read it connects for itself',
      { feature: 'handle' },
    );
  }

  checkShared(): void {}
  share(line: ReaderLine): TopicShare {
    if (this.#lines.size >= TOPIC_HANDLES_MAX) throw tooManyReaders();
    const number = ++this.#last;
    let slot = 0;
    while (slot < TOPIC_HANDLES_MAX && (this.#taken.has(slot) || this.#bells?.isFree(slot) === false)) slot++;
    // The thread that wakes has not let go of enough of those that are gone.
    if (slot === TOPIC_HANDLES_MAX) throw tooManyReaders();
    this.#bells?.add(slot, line.bell);
    this.#taken.add(slot);
    this.#lines.set(number, { line, slot });
    return { piece: this.#piece, number, sleeps: this.#sleeps + slot, gone: () => this.#forget(number) };
  }

  probe(handles: readonly number[]): void {
    for (const handle of handles) {
      const reader = this.#lines.get(handle);
      if (reader?.line.gone === true) this.#forget(handle);
    }
  }

  close(): void {
    for (const { line } of [...this.#lines.values()]) line.close();
    this.#lines.clear();
    this.#piece.close();
  }

  /** Those whose event loops sleep. One that has gone on since rings for nothing. */
  #ring(): void {
    for (const { line, slot } of this.#lines.values()) {
      // SYNC topic-loop: behind the change of SIGNAL; pairs with LoopPlace.sleepAsync.
      if (Atomics.exchange(this.#words, this.#sleeps + slot, AWAKE) !== AWAKE) line.ring();
    }
  }

  #forget(handle: number): void {
    const reader = this.#lines.get(handle);
    if (reader === undefined) return;
    this.#lines.delete(handle);
    this.#taken.delete(reader.slot);
    this.#bells?.remove(reader.slot);
    this.#gone(handle);
  }
}

/** @throws UsageError ERR_OPTION: there are as many readers as there may be */
export function tooManyReaders(): UsageError {
  return new UsageError(
    'ERR_OPTION',
    `Cannot take another reader: ${TOPIC_HANDLES_MAX} have a way to this topic; close() those that are done`,
    { limit: TOPIC_HANDLES_MAX },
  );
}

/** Where all readers sleep: threads on the word, event loops each by a bell. */
class AllReaders implements ParkPlace {
  readonly words: Int32Array;
  readonly index: number;
  readonly sliceMsMax: number;
  readonly blocks: number;
  readonly #place: ParkPlace;
  readonly #ring: () => void;

  constructor(place: ParkPlace, ring: () => void) {
    this.words = place.words;
    this.index = place.index;
    this.sliceMsMax = place.sliceMsMax;
    this.blocks = place.blocks;
    this.#place = place;
    this.#ring = ring;
  }
  sleep(seen: number, timeoutMs: number): boolean {
    return this.#place.sleep(seen, timeoutMs);
  }
  wake(): void {
    this.#place.wake();
    this.#ring();
  }
}

/** Where one event loop sleeps. */
export class LoopPlace implements AsyncPlace {
  readonly words: Int32Array;
  readonly index: number;
  readonly sliceMsMax: number;
  readonly blocks: number;
  readonly #place: ParkPlace;
  readonly #sleeps: number;
  #woken: (() => void) | undefined;

  /**
   * @param place on SIGNAL
   * @param sleeps word index of where it says that it sleeps
   */
  constructor(place: ParkPlace, sleeps: number) {
    this.words = place.words;
    this.index = place.index;
    this.sliceMsMax = place.sliceMsMax;
    this.blocks = place.blocks;
    this.#place = place;
    this.#sleeps = sleeps;
  }
  sleep(seen: number, timeoutMs: number): boolean {
    return this.#place.sleep(seen, timeoutMs);
  }
  wake(): void {
    this.#place.wake();
  }
  /** It never takes its word back: who has that word by then may be another one. That costs a bell for nothing. */
  sleepAsync(seen: number, woken: () => void): boolean {
    // SYNC topic-loop: before SIGNAL is looked at; pairs with ProcessReaders.#ring.
    Atomics.store(this.words, this.#sleeps, ASLEEP);
    // SYNC topic-signal: who changes it from here on finds our word; who has may not have; pairs with TopicBell.#wake.
    if (Atomics.load(this.words, this.index) !== seen) return false;
    this.#woken = woken;
    return true;
  }
  /** The bell was rung, for this reader or for something else of its process. */
  rung(): void {
    const woken = this.#woken;
    if (woken === undefined || Atomics.load(this.words, this.#sleeps) === ASLEEP) return;
    this.#woken = undefined;
    woken();
  }
}

/** A handle that was opened in this thread. */
export interface OpenedProcessTopic {
  readonly number: number;
  readonly memory: TopicMemory;
  medium(broken: (how: EndReason) => void): ReaderMedium;
}

export function isProcessHandle(handle: unknown): handle is ProcessTopicHandle {
  return typeof handle === 'object' && (handle as Partial<ProcessTopicHandle> | null)?.type === PROCESS_TOPIC;
}

/** @throws UsageError ERR_HANDLE if it has a reader; LayoutError if its memory is damaged, or of another version */
export function openProcessHandle(handle: ProcessTopicHandle): OpenedProcessTopic {
  const line = new Line();
  const taken = handle.take(
    () => line.rung(),
    (how) => line.broke(how),
  );
  if (taken === undefined) {
    throw new UsageError(
      'ERR_HANDLE',
      'Cannot subscribe: this handle has a reader already; each reader needs a `port.link.topic(name)` of its own',
    );
  }
  try {
    const memory = openTopic(taken.buffer);
    if (!(taken.sleeps >= topicBytes(memory.capacity, memory.seats) >> 2 && taken.sleeps < memory.words.length))
      throw new LayoutError(`Cannot subscribe: word ${taken.sleeps} is no place to sleep in this topic`, {
        value: taken.sleeps,
      });
    return { number: taken.number, memory, medium: (broken) => line.begin(taken, broken) };
  } catch (error) {
    taken.close();
    throw error;
  }
}

/** A reader's process: what it hears of the writer's. */
class Line implements ReaderMedium {
  readonly sliceMs: number = TOPIC_SLICE_MS;
  readonly endsAll: boolean = false;
  #taken: TakenTopic | undefined;
  #told: ((how: EndReason) => void) | undefined;
  #loop: LoopPlace | undefined;
  #held = false;

  begin(taken: TakenTopic, broken: (how: EndReason) => void): this {
    this.#taken = taken;
    this.#told = broken;
    return this;
  }
  place(words: Int32Array, index: number): ParkPlace {
    return (this.#taken as TakenTopic).parking.place(words, index);
  }
  onLoop(words: Int32Array, index: number, woken: () => void): LoopSleep {
    this.#loop = new LoopPlace(this.place(words, index), (this.#taken as TakenTopic).sleeps);
    return new LoopSleep(this.#loop, woken);
  }
  gone(): EndReason | undefined {
    return this.#taken?.gone();
  }
  hold(held: boolean): void {
    if (held === this.#held || this.#told === undefined) return;
    this.#held = held;
    this.#taken?.hold(held);
  }
  close(): void {
    this.hold(false);
    this.#told = undefined;
    this.#taken?.close();
  }

  rung(): void {
    this.#loop?.rung();
  }
  broke(how: EndReason): void {
    const told = this.#told;
    this.hold(false);
    this.#told = undefined;
    told?.(how);
  }
}
