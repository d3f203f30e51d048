// Where a side sleeps: the park word, and how a thread sleeps on it. What is loaded from it and stored into it is direct
// (signal.ts); only sleeping and waking go through here, because that is what differs between memories: Atomics.wait throws
// on memory that was mapped from elsewhere, where a futex call of an addon does the same. Who makes them: parking.ts.
import { platform } from '#platform';
import { BLOCKED } from './signal.ts';

export interface ParkPlace {
  readonly words: Int32Array;
  /** Of the park word. */
  readonly index: number;
  /** Milliseconds that one sleep may take at the most, where nobody can wake it; else Infinity. */
  readonly sliceMsMax: number;
  /**
   * How a thread that is to sleep here announces it: BLOCKED, where `wake` is what ends its sleep; DOORBELL, where its bell is,
   * because it waits for a descriptor and not for the word; 0 where no thread can.
   */
  readonly blocks: number;
  /** Sleeps while the word is `seen`, at most `timeoutMs`; false if it was the time that ended it. */
  sleep(seen: number, timeoutMs: number): boolean;
  /** Whoever was woken is to look after what nobody rings for: somebody has said so. */
  readonly asks?: boolean | undefined;
  /** Wakes whoever sleeps here, in whatever way. */
  wake(): void;
}

/** One that an event loop can sleep on, too. */
export interface AsyncPlace extends ParkPlace {
  /**
   * Calls `woken` once the word was `seen` and somebody has called `wake`; false, and nothing is arranged, if it is not `seen`.
   * It may hold `woken` for as long as the peer likes.
   * @param belled a bell is rung, too, whose message makes the event loop turn
   */
  sleepAsync(seen: number, woken: () => void, belled?: boolean): boolean;
}

/** A park word in memory that this runtime has shared itself. */
export class SharedPlace implements AsyncPlace {
  readonly words: Int32Array;
  readonly index: number;
  readonly sliceMsMax: number = Number.POSITIVE_INFINITY;

  constructor(words: Int32Array, index: number) {
    this.words = words;
    this.index = index;
  }

  get blocks(): number {
    return BLOCKED;
  }

  sleep(seen: number, timeoutMs: number): boolean {
    return Atomics.wait(this.words, this.index, seen, timeoutMs) !== 'timed-out';
  }

  sleepAsync(seen: number, woken: () => void, belled?: boolean): boolean {
    const sleep = Atomics.waitAsync(this.words, this.index, seen);
    if (!sleep.async) return false;
    if (!belled) platform.turnWhileAsleep?.(sleep.value);
    sleep.value.then(woken);
    return true;
  }

  wake(): void {
    Atomics.notify(this.words, this.index);
  }
}
