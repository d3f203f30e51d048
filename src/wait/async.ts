// Sleeping with the event loop: the thread goes on, and a callback comes when the other side rings.
import type { AsyncPlace, ParkPlace } from './park-place.ts';
import { ABOVE, ASYNC, announce, DOORBELL, withdraw } from './signal.ts';

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

/** Asleep on the park word itself, and where that may fail for a message on the native port, too. Note that a pending wait keeps no process alive on any runtime: the port holds it (G8). */
export class AsyncWait implements EventLoopWait {
  readonly #place: AsyncPlace;
  readonly #sleeps: number;
  readonly #woken: () => void;
  readonly #belled: boolean;
  /** A sleep of this kind cannot be taken back, so one that is still pending is used again by the next sleep. */
  #pending = false;
  /** A pending sleep lives as long as the peer likes, and must not keep a port that nobody holds. */
  readonly #self: WeakRef<AsyncWait> = new WeakRef(this);

  /** @param belled the owner of a native port turns its messages into `woken`, too */
  constructor(place: AsyncPlace, sleeps: number, woken: () => void, belled = false) {
    this.#place = place;
    this.#sleeps = sleeps;
    this.#woken = woken;
    this.#belled = belled;
  }

  park(interest: number, look: () => boolean): boolean {
    const state = announce(this.#place, this.#belled ? ASYNC | DOORBELL : ASYNC, interest);
    if (!look()) {
      countSleep(this.#place, this.#sleeps);
      if (this.#pending) return true;
      const self = this.#self;
      this.#pending = this.#place.sleepAsync(state, () => AsyncWait.#rung(self.deref()), this.#belled);
      if (this.#pending) return true;
    }
    withdraw(this.#place);
    return false;
  }

  unpark(): void {
    withdraw(this.#place);
  }

  static #rung(wait: AsyncWait | undefined): void {
    if (wait === undefined) return;
    wait.#pending = false;
    wait.#woken();
  }
}

/** A message on the native port, which the owner of that port turns into `woken`. */
export class DoorbellWait implements EventLoopWait {
  readonly #place: ParkPlace;
  readonly #sleeps: number;

  constructor(place: ParkPlace, sleeps: number) {
    this.#place = place;
    this.#sleeps = sleeps;
  }

  park(interest: number, look: () => boolean): boolean {
    announce(this.#place, DOORBELL, interest);
    if (!look()) {
      countSleep(this.#place, this.#sleeps);
      return true;
    }
    withdraw(this.#place);
    return false;
  }

  unpark(): void {
    withdraw(this.#place);
  }
}

/** Further up, together with others: who is woken there is told to look (link/). */
export class AboveWait implements EventLoopWait {
  readonly #place: ParkPlace;
  readonly #sleeps: number;
  readonly #rest: () => void;

  /** @param rest sleeps there */
  constructor(place: ParkPlace, sleeps: number, rest: () => void) {
    this.#place = place;
    this.#sleeps = sleeps;
    this.#rest = rest;
  }

  park(interest: number, look: () => boolean): boolean {
    announce(this.#place, ABOVE, interest);
    if (!look()) {
      countSleep(this.#place, this.#sleeps);
      this.#rest();
      return true;
    }
    withdraw(this.#place);
    return false;
  }

  unpark(): void {
    withdraw(this.#place);
  }
}

/** Counters are written by their own thread only, and plainly. */
function countSleep({ words }: ParkPlace, sleeps: number): void {
  words[sleeps] = (words[sleeps] as number) + 1;
}
