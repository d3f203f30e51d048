// Words of memory that processes have mapped, slept on with a futex: no runtime's own waiting reaches another process.
import { FUTEX_SLICE_MS } from '../../limits.ts';
import { type Mapping, type Primitives, TIMED_OUT } from '../../native/primitives.ts';
import { DoorbellWait } from '../../wait/async.ts';
import type { ParkPlace } from '../../wait/park-place.ts';
import type { Parking } from '../../wait/parking.ts';
import { BLOCKED } from '../../wait/signal.ts';

/** Whoever sleeps on a word is one, but for a peer that lies. */
const ALL = 2 ** 31 - 1;

class FutexPlace implements ParkPlace {
  readonly words: Int32Array;
  readonly index: number;
  readonly sliceMsMax: number = FUTEX_SLICE_MS;
  readonly blocks: number = BLOCKED;
  readonly #native: Pick<Primitives, 'wait' | 'wake'>;
  readonly #place: number;

  constructor(native: Pick<Primitives, 'wait' | 'wake'>, place: number, words: Int32Array, index: number) {
    this.#native = native;
    this.#place = place;
    this.words = words;
    this.index = index;
  }
  sleep(seen: number, timeoutMs: number): boolean {
    return this.#native.wait(this.#place, this.index, seen, timeoutMs) !== TIMED_OUT;
  }
  wake(): void {
    this.#native.wake(this.#place, this.index, ALL);
  }
}

/** For words of this mapping, counted from its start. Event loops sleep by a bell. */
export function futexParking(native: Pick<Primitives, 'wait' | 'wake'>, { place }: Pick<Mapping, 'place'>): Parking {
  return {
    place: (words, index) => new FutexPlace(native, place, words, index),
    onLoop: (where, sleeps) => new DoorbellWait(where, sleeps),
  };
}
