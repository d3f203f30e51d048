// Where a side sleeps: the park word, and how a thread sleeps on it. What is loaded from it and stored into it is direct
// (signal.ts); only sleeping and waking go through here, because that is what differs between memories: Atomics.wait throws
// on memory that was mapped from elsewhere, where a futex call of an addon does the same.

export interface ParkPlace {
  readonly words: Int32Array;
  /** Of the park word. */
  readonly index: number;
  /** Milliseconds that one sleep may take at the most, where nobody can wake it; else Infinity. */
  readonly sliceMsMax: number;
  /** Sleeps while the word is `seen`, at most `timeoutMs`; false if it was the time that ended it. */
  sleep(seen: number, timeoutMs: number): boolean;
  /**
   * Calls `woken` once the word was `seen` and somebody has called `wake`; false, and nothing is arranged, if it is not `seen`.
   * It may hold `woken` for as long as the peer likes.
   */
  sleepAsync(seen: number, woken: () => void): boolean;
  /** Wakes whoever sleeps here, in whatever way. */
  wake(): void;
}

/** A park word in memory that this runtime has shared itself. */
export class SharedPlace implements ParkPlace {
  readonly words: Int32Array;
  readonly index: number;
  readonly sliceMsMax: number = Number.POSITIVE_INFINITY;

  constructor(words: Int32Array, index: number) {
    this.words = words;
    this.index = index;
  }

  sleep(seen: number, timeoutMs: number): boolean {
    return Atomics.wait(this.words, this.index, seen, timeoutMs) !== 'timed-out';
  }

  sleepAsync(seen: number, woken: () => void): boolean {
    const sleep = Atomics.waitAsync(this.words, this.index, seen);
    if (!sleep.async) return false;
    sleep.value.then(woken);
    return true;
  }

  wake(): void {
    Atomics.notify(this.words, this.index);
  }
}
