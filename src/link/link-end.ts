// One agent's end of a link, as far as sleeping goes: which channels have a seat in its ready set, and how the agent
// rests. Between the two stands REST, a word with the manners of a park word: announced before the last look at the
// ready set (W1 of wait/signal.ts), so that one ring wakes an agent however many channels have something to say.
import { REST_AGAIN_MS, REST_TRIES_MAX } from '../limits.ts';
import type { EventLoopWait } from '../wait/async.ts';
import type { ParkPlace } from '../wait/park-place.ts';
import { ABOVE, AWAKE, announce, DATA, withdraw } from '../wait/signal.ts';
import type { ReadySet } from './ready-set.ts';

/** One of this agent's ends of channels, as it stands in the ready set. */
export interface Marked {
  /**
   * The other agent has taken its announcement back: look. Called from the taker, must not throw.
   * @param blocked by a thread that waits without its event loop: nobody's code may run now
   */
  marked(blocked: boolean): void;
}

export class LinkEnd {
  readonly #rest: ParkPlace;
  readonly #ready: ReadySet;
  readonly #seats: (Marked | undefined)[] = [];
  /** Marks are being taken by a thread that blocks; behind that call: it ran out of stack, and nobody knows whose it had taken. */
  #lost = false;
  /** Marks that were taken off, of which nobody was told yet: a thread that blocks before its microtasks run is to be told of them first. */
  readonly #late: number[] = [];
  /** Seats below it are taken. */
  #lowestFree = 0;
  readonly #tell = (bit: number): void => this.#each(bit, false);
  readonly #tellBlocked = (bit: number): void => this.#each(bit, true);
  /** Not in the middle of whoever goes to rest. */
  readonly #tellLater = (bit: number): void => {
    queueMicrotask(() => this.#tellLate(this.#tell, 1));
    this.#late.push(bit);
  };
  readonly #takeLater = (): boolean => {
    this.#ready.take(this.#tellLater, this.#seats.length);
    return false;
  };

  /**
   * @param ready this agent's ready set in the page of this link
   * @param rest where this agent rests as far as this link goes
   */
  constructor(ready: ReadySet, rest: ParkPlace) {
    this.#ready = ready;
    this.#rest = rest;
  }

  /** Gives a channel its seat. */
  add(channel: Marked): number {
    const { length } = this.#seats;
    while (this.#lowestFree < length && this.#seats[this.#lowestFree] !== undefined) this.#lowestFree++;
    this.#seats[this.#lowestFree] = channel;
    return this.#lowestFree++;
  }

  /** Takes the seat back. A mark that is still on its way finds nobody, or wakes the next owner for nothing (M2). */
  remove(seat: number): void {
    this.#seats[seat] = undefined;
    if (seat < this.#lowestFree) this.#lowestFree = seat;
  }

  /** Tells every channel that has been marked; whether there was any. */
  take(): boolean {
    const lost = this.#lost;
    this.#lost = false;
    if (lost) for (let bit = Math.min(this.#seats.length, this.#ready.seats) - 1; bit >= 0; bit--) this.#tell(bit);
    return this.#ready.take(this.#tell, this.#seats.length) || lost;
  }
  /** The same for a thread that waits without its event loop. */
  takeBlocked(): boolean {
    const lost = this.#lost;
    this.#lost = true;
    if (lost)
      for (let bit = Math.min(this.#seats.length, this.#ready.seats) - 1; bit >= 0; bit--) this.#tellBlocked(bit);
    const late = this.#tellLate(this.#tellBlocked, this.#late.length);
    const any = this.#ready.take(this.#tellBlocked, this.#seats.length);
    this.#lost = false;
    return any || lost || late;
  }
  #tellLate(tell: (bit: number) => void, count: number): boolean {
    const late = this.#late.splice(0, count);
    for (const bit of late) tell(bit);
    return late.length > 0;
  }
  #each(bit: number, blocked: boolean): void {
    const { seats } = this.#ready;
    for (let seat = bit; seat < this.#seats.length; seat += seats) this.#seats[seat]?.marked(blocked);
  }

  /** This agent is about to block for all its links: marks made from here on wake it. `take` after it. */
  restAbove(): void {
    // Announced already, as long as nobody has rung: storing again would only take the line from the other core.
    if (!this.restsAbove) announce(this.#rest, ABOVE, DATA);
  }
  /** Whether that stands announced: nobody has rung since. */
  get restsAbove(): boolean {
    return this.#announced === (ABOVE | DATA);
  }

  /** Rests with the event loop, if it does not yet; tells who was marked before, later. */
  restOnLoop(loop: EventLoopWait): void {
    if (this.#lost) queueMicrotask(() => this.take());
    for (let tries = 0; this.#announced === AWAKE; tries++) {
      // Marked before the announcement is told, and no reason to stay up: whoever marks from here on rings.
      if (loop.park(DATA, this.#takeLater)) return;
      // Rung in between. An agent that does nothing else is not to keep this thread for itself.
      if (tries === REST_TRIES_MAX) {
        setTimeout(() => this.restOnLoop(loop), REST_AGAIN_MS);
        return;
      }
    }
  }

  /**
   * Somebody has rung for this event loop: tells who was marked, and rests again for the others, of which none may have
   * anything to do, and so no reason to rest.
   */
  rung(loop: EventLoopWait): void {
    this.wake();
    this.take();
    this.restOnLoop(loop);
  }

  /** As `rung`, where one bell rings for several links: of the others each rests on. */
  heard(loop: EventLoopWait): void {
    if (this.#announced === AWAKE) this.rung(loop);
  }

  /** This agent runs: it looks before it rests again. */
  wake(): void {
    if (this.#announced !== AWAKE) withdraw(this.#rest);
  }

  /** What stands announced, unless the other agent has taken it back. */
  get #announced(): number {
    return Atomics.load(this.#rest.words, this.#rest.index);
  }
}
