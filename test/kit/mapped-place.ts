// A park word in memory that this runtime cannot sleep on, as memory mapped from another process is: Atomics.wait throws there.
// In the place of a futex call this one looks again and again.
import type { ParkPlace } from '../../src/wait/park-place.ts';

const still = new Int32Array(new SharedArrayBuffer(4));

export class MappedPlace implements ParkPlace {
  readonly words: Int32Array = new Int32Array(new ArrayBuffer(64));
  readonly index: number;
  readonly sliceMsMax = 2;
  /** How often somebody was to be woken. */
  wakes = 0;

  constructor(index: number) {
    this.index = index;
  }

  sleep(seen: number, timeoutMs: number): boolean {
    const end = performance.now() + timeoutMs;
    while (Atomics.load(this.words, this.index) === seen) {
      if (performance.now() >= end) return false;
      Atomics.wait(still, 0, 0, 0.5);
    }
    return true;
  }

  sleepAsync(seen: number, woken: () => void): boolean {
    if (Atomics.load(this.words, this.index) !== seen) return false;
    const look = (): void => {
      if (this.wakes === 0) later();
      else {
        this.wakes = 0;
        woken();
      }
    };
    // It keeps no process alive, as a pending Atomics.waitAsync keeps none.
    const later = (): void => void (setTimeout(look, 0) as { unref?(): void }).unref?.();
    later();
    return true;
  }

  wake(): void {
    this.wakes++;
  }
}
