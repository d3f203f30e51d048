// Sleeping with the event loop: the thread goes on, and a callback comes when the other side rings.
import { ASYNC, announce, DOORBELL, withdraw } from './signal.ts';

/** One way for an event loop to sleep. At most one sleep at a time. */
export interface EventLoopWait {
  /**
   * Announces, looks again, and arranges that `woken` is called once the other side rings. Returns false, with
   * nothing arranged, if `look` is already true.
   */
  park(interest: number, look: () => boolean): boolean;
  /** Takes the announcement back; `woken` may still be called once more (the caller looks, and finds nothing). */
  unpark(): void;
}

/** Atomics.waitAsync. Note that a pending wait keeps no process alive on any runtime: the port holds it (G8). */
export class AsyncWait implements EventLoopWait {
  readonly #words: Int32Array;
  readonly #park: number;
  readonly #sleeps: number;
  readonly #woken: () => void;
  /** A promise of waitAsync cannot be taken back, so one that is still pending is used again by the next sleep. */
  #pending = false;
  /** A pending promise lives as long as the peer likes, and must not keep a port that nobody holds. */
  readonly #self: WeakRef<AsyncWait> = new WeakRef(this);

  constructor(words: Int32Array, park: number, sleeps: number, woken: () => void) {
    this.#words = words;
    this.#park = park;
    this.#sleeps = sleeps;
    this.#woken = woken;
  }

  park(interest: number, look: () => boolean): boolean {
    const state = announce(this.#words, this.#park, ASYNC, interest);
    if (!look()) {
      countSleep(this.#words, this.#sleeps);
      if (this.#pending) return true;
      const sleep = Atomics.waitAsync(this.#words, this.#park, state);
      if (sleep.async) {
        this.#pending = true;
        const self = this.#self;
        sleep.value.then(() => AsyncWait.#rung(self.deref()));
        return true;
      }
    }
    withdraw(this.#words, this.#park);
    return false;
  }

  unpark(): void {
    withdraw(this.#words, this.#park);
  }

  static #rung(wait: AsyncWait | undefined): void {
    if (wait === undefined) return;
    wait.#pending = false;
    wait.#woken();
  }
}

/** A message on the native port, which the owner of that port turns into `woken`. */
export class DoorbellWait implements EventLoopWait {
  readonly #words: Int32Array;
  readonly #park: number;
  readonly #sleeps: number;

  constructor(words: Int32Array, park: number, sleeps: number) {
    this.#words = words;
    this.#park = park;
    this.#sleeps = sleeps;
  }

  park(interest: number, look: () => boolean): boolean {
    announce(this.#words, this.#park, DOORBELL, interest);
    if (!look()) {
      countSleep(this.#words, this.#sleeps);
      return true;
    }
    withdraw(this.#words, this.#park);
    return false;
  }

  unpark(): void {
    withdraw(this.#words, this.#park);
  }
}

/** Counters are written by their own thread only, and plainly. */
function countSleep(words: Int32Array, sleeps: number): void {
  words[sleeps] = (words[sleeps] as number) + 1;
}
