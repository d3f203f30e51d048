// What a topic and its readers need beside their memory: where they sleep, and news of each other's end. Threads: thread.ts; processes:
// process.ts. Nothing else here has heard of either.
import type { EndReason } from '../outcome.ts';
import type { ReaderLine, TopicShare } from '../transport/topic-medium.ts';
import type { ParkPlace } from '../wait/park-place.ts';
import type { LoopSleep } from './sleep.ts';
import type { TopicHandle } from './thread.ts';

interface Medium {
  /** Where a word is slept on. */
  place(words: Int32Array, index: number): ParkPlace;
  close(): void;
}

/** The writer's. */
export interface WriterMedium extends Medium {
  /** Readers that have a way to the topic, and are not gone. */
  readonly count: number;
  /** Whether this handle's is one of them. */
  has(handle: number): boolean;
  /** Starts the thread that wakes all that sleep on this word. @throws UnsupportedError where none can be started */
  startWaker(own: Int32Array, words: Int32Array, index: number, lost: () => void): void;
  /** A way for a reader in another thread. @throws UsageError ERR_OPTION if there are too many; UnsupportedError */
  make(): TopicHandle;
  /** @throws UnsupportedError where no reader can be in another process */
  checkShared(): void;
  /** A way for a reader in another process. @throws as `make` */
  share(line: ReaderLine): TopicShare;
  /** Asks, without the event loop, whether the readers of these handles still live; whoever is gone is told of as ever. */
  probe(handles: readonly number[]): void;
}

/** A reader's. */
export interface ReaderMedium extends Medium {
  /** Whether its news of the writer's end hold for all readers: else for this one alone, whose way to the writer may have ended. */
  readonly endsAll: boolean;
  /** How its event loop sleeps. @throws UnsupportedError if it cannot */
  onLoop(words: Int32Array, index: number, woken: () => void): LoopSleep;
  /** Milliseconds between two questions after the writer's life by a thread that is blocked; Infinity where there is no answer. */
  readonly sliceMs: number;
  /** Asks, without the event loop, how the writer has ended; `undefined` if it lives, or if that cannot be known here. */
  gone(): EndReason | undefined;
  /** Holds the process, or lets it go. */
  hold(held: boolean): void;
}
