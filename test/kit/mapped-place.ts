// A park word in memory that this runtime cannot sleep on, as memory mapped from another process is: Atomics.wait throws there.
// In the place of a futex call this one looks again and again.
import type { ParkPlace } from '../../src/wait/park-place.ts';
import { BLOCKED } from '../../src/wait/signal.ts';

const still = new Int32Array(new SharedArrayBuffer(4));

export class MappedPlace implements ParkPlace {
  readonly words: Int32Array;
  readonly index: number;
  readonly sliceMsMax = 2;
  readonly blocks: number = BLOCKED;

  constructor(index: number, words: Int32Array = new Int32Array(new ArrayBuffer(64))) {
    this.index = index;
    this.words = words;
  }

  sleep(seen: number, timeoutMs: number): boolean {
    const end = performance.now() + timeoutMs;
    while (Atomics.load(this.words, this.index) === seen) {
      if (performance.now() >= end) return false;
      Atomics.wait(still, 0, 0, 0.5);
    }
    return true;
  }

  /** Whoever sleeps here looks by itself. */
  wake(): void {}
}
