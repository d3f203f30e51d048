// What a topic and the connections of processes know of each other. They come through different doors: what stands here are shapes.
import type { EndReason } from '../outcome.ts';
import type { Parking } from '../wait/parking.ts';

/** Memory that other processes can map, as this one has it. */
export interface TopicPiece {
  /** All zero at first. */
  readonly buffer: ArrayBuffer;
  readonly parking: Parking;
  /** Of the memory: whoever hands it on duplicates it. */
  readonly descriptor: number;
  /** Starts a thread that wakes readers. @throws what the system says */
  startWaker(plan: WakerPlan): WakerBells;
  /** Closes the descriptor: it is handed to nobody any more, and stays mapped by those who have it. */
  close(): void;
}

export interface WakerPlan {
  /** What the writer and the thread have in common (wait/knocks.ts). */
  readonly own: Int32Array;
  readonly bytes: number;
  /** Word indexes: what threads sleep on, and the first of those by which event loops do. */
  readonly signal: number;
  readonly sleeps: number;
  /** The thread has ended. */
  readonly lost: () => void;
}

/** The bells that such a thread rings, by the slots of their readers. */
export interface WakerBells {
  /** @param bell gives the descriptor of one, which is the thread's from there on */
  add(slot: number, bell: () => number): void;
  /** The thread closes it when it is knocked for. */
  remove(slot: number): void;
  isFree(slot: number): boolean;
}

/** Where `createTopic` gets memory for readers in other processes; `processMemory()` of millrace/process makes one. */
export interface TopicMemorySource {
  /** @internal @throws what the system says: no memory, or no descriptor, to be had */
  make(bytes: number): TopicPiece;
}

/** The way to one reader in another process, as the writer has it. */
export interface ReaderLine {
  /** Wakes its event loop. */
  ring(): void;
  /** A descriptor of what wakes it, which is the caller's. @throws what the system says */
  bell(): number;
  /** Whether it is gone, asked without the event loop. */
  readonly gone: boolean;
  close(): void;
}

/** What a reader in another process is given. */
export interface TopicShare {
  readonly piece: TopicPiece;
  /** Number of its handle, from 1 on. */
  readonly number: number;
  /** Word index of where its event loop says that it sleeps. */
  readonly sleeps: number;
  /** Call when it has closed, or is gone. */
  gone(): void;
}

/** A topic that a connection can share: made with memory of processes. */
export interface SharableTopic {
  /** @internal Whether it can be shared at all. @throws ClosedError; UnsupportedError: it lies in memory of threads */
  checkShared(): void;
  /** @internal Somebody waits for a reader to come, and is told if the topic ends before that. Call what it returns once nobody waits. */
  expect(ended: (error: unknown) => void): () => void;
  /** @internal @throws ClosedError; UsageError ERR_OPTION: too many readers; UnsupportedError: it lies in memory of threads */
  share(line: ReaderLine): TopicShare;
}

/** What came from a topic in another process, once it is a reader's. */
export interface TakenTopic {
  readonly buffer: ArrayBuffer;
  readonly parking: Parking;
  readonly number: number;
  readonly sleeps: number;
  /** Asks, without the event loop, how the writer's process ended; `undefined` if it lives. */
  gone(): EndReason | undefined;
  /** Keeps this process alive, or lets it go. */
  hold(held: boolean): void;
  close(): void;
}

export const PROCESS_TOPIC = 'millrace-topic-of-process';

/** The way of one reader to a topic of another process: `subscribe(await port.link.topic(name))`. Good for one reader, in this thread. */
export interface ProcessTopicHandle {
  readonly type: typeof PROCESS_TOPIC;
  /**
   * @internal
   * @param rung the bell was: somebody may have woken this reader
   * @param broken the way to the writer has ended, for this reader
   * @returns undefined if it was taken before
   */
  take(rung: () => void, broken: (how: EndReason) => void): TakenTopic | undefined;
}
