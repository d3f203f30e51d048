// A thread of a topic's own that wakes its readers in the writer's place, which then pays for the waking of one thread however many readers sleep.
// The writer knocks; who sleeps on SIGNAL is woken behind that. A reader would do as well, but one that is killed, or computes, would keep all others asleep.
//
// P7. No lost knock. KNOCKS changes before ASLEEP is looked at, and the thread says ASLEEP before it looks at KNOCKS: it finds the knock, or
//     the writer finds it asleep.
// P8. Until it runs, and once it is over, the writer wakes by itself.
import { platform } from '#platform';
import { UnsupportedError } from '../errors.ts';
import type { ParkPlace } from '../wait/park-place.ts';

// Words of the memory that the writer and its thread have in common.
export const KNOCKS = 0;
export const ASLEEP = 1;
export const RUNS = 2;
export const OVER = 3;
const OWN_BYTES = 16;

interface WakerData {
  readonly own: Int32Array;
  readonly topic: Int32Array;
  readonly signal: number;
}

/**
 * What that thread does, until it is over. Its text is what the thread is made of, so it names nothing outside: `own` has the words above, 0 to 3.
 * `signal` is the word of the topic that is slept on.
 */
export function wakeForWriter({ own, topic, signal }: WakerData): void {
  let done = 0;
  // SYNC topic-runs: whoever finds it set knocks, and KNOCKS is looked at from here on; pairs with WakerThread.wake.
  Atomics.store(own, 2, 1);
  for (;;) {
    // SYNC topic-knock: ordered behind ASLEEP (P7); pairs with WakerThread.wake.
    const knocks = Atomics.load(own, 0);
    if (knocks !== done) {
      done = knocks;
      Atomics.notify(topic, signal);
      // SYNC topic-over: what was knocked for before is done; pairs with WakerThread.close.
    } else if (Atomics.load(own, 3) === 1) return;
    else {
      // SYNC topic-knock: before KNOCKS is compared, which the wait does; pairs with WakerThread.wake.
      Atomics.store(own, 1, 1);
      Atomics.wait(own, 0, done);
      // SYNC topic-knock: by itself alone. Taken back by a knock that it had heard already, it would sleep unknown; pairs with WakerThread.wake.
      Atomics.store(own, 1, 0);
    }
  }
}

/** The place where readers sleep, with the thread between. */
export class WakerThread implements ParkPlace {
  readonly words: Int32Array;
  readonly index: number;
  readonly sliceMsMax: number;
  readonly blocks: number;
  readonly #place: ParkPlace;
  readonly #own: Int32Array;

  /**
   * @param place on SIGNAL, in memory that threads share
   * @param own 16 bytes, all 0
   */
  constructor(place: ParkPlace, own: Int32Array) {
    this.words = place.words;
    this.index = place.index;
    this.sliceMsMax = place.sliceMsMax;
    this.blocks = place.blocks;
    this.#place = place;
    this.#own = own;
  }
  sleep(seen: number, timeoutMs: number): boolean {
    return this.#place.sleep(seen, timeoutMs);
  }
  wake(): void {
    // SYNC topic-runs: before that nobody hears a knock (P8); pairs with wakeForWriter.
    if (Atomics.load(this.#own, RUNS) === 0 || Atomics.load(this.#own, OVER) === 1) this.#place.wake();
    else this.#knock();
  }
  #knock(): void {
    // SYNC topic-knock: before ASLEEP is looked at (P7); pairs with wakeForWriter.
    Atomics.add(this.#own, KNOCKS, 1);
    if (Atomics.load(this.#own, ASLEEP) !== 0) Atomics.notify(this.#own, KNOCKS);
  }
  /** The thread ends. Whoever has to be woken is woken by the caller from now on. */
  close(): void {
    // SYNC topic-over: behind the last knock that it has to hear; pairs with wakeForWriter.
    Atomics.store(this.#own, OVER, 1);
    this.#knock();
  }
}

/** @throws UnsupportedError where no thread can be started of a text */
export function startWaker(place: ParkPlace): WakerThread {
  const own = new Int32Array(new SharedArrayBuffer(OWN_BYTES));
  const data: WakerData = { own, topic: place.words, signal: place.index };
  if (!platform.startOwn('millrace waker', String(wakeForWriter), data)) {
    throw new UnsupportedError(
      "Cannot make a topic with wakes: 'thread': this runtime starts no thread of a text; leave it out",
      { feature: 'threads' },
    );
  }
  return new WakerThread(place, own);
}
