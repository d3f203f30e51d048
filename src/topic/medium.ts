// What a topic and its readers need beside their memory: where they sleep, and news of each other's end. Threads: thread.ts. Whoever maps
// memory into two processes supplies others; nothing else here has heard of threads.
import type { EndReason } from '../outcome.ts';
import type { ParkPlace } from '../wait/park-place.ts';
import type { LoopSleep } from './sleep.ts';

interface Medium {
  /** Where a word is slept on. */
  place(words: Int32Array, index: number): ParkPlace;
  close(): void;
}

/** The writer's. */
export interface WriterMedium extends Medium {
  /** Asks, without the event loop, whether the readers of these handles still live; whoever is gone is told of as ever. */
  probe(handles: readonly number[]): void;
}

/** A reader's. */
export interface ReaderMedium extends Medium {
  /** How its event loop sleeps. @throws UnsupportedError if it cannot */
  onLoop(words: Int32Array, index: number, woken: () => void): LoopSleep;
  /** Milliseconds between two questions after the writer's life by a thread that is blocked; Infinity where there is no answer. */
  readonly sliceMs: number;
  /** Asks, without the event loop, how the writer has ended; `undefined` if it lives, or if that cannot be known here. */
  gone(): EndReason | undefined;
  /** Holds the process, or lets it go. */
  hold(held: boolean): void;
}
