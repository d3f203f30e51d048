// Runs a port on its event loop: takes messages in and hands them out, moves the outbox along, and decides how to
// rest in between: look again for a few turns while traffic flows, else sleep until the peer rings.
import { platform } from '#platform';
import type { Mark } from '../lane/lane.ts';
import { BUDGET_MESSAGES, BUDGET_MESSAGES_PER_LOOK, BUDGET_MS } from '../limits.ts';
import type { LoopWait, Transport } from '../transport/transport.ts';

/** What the pump needs of a transport. */
export type PumpMedium = Pick<Transport, 'ended' | 'follows' | 'loop'>;

export interface PumpHost {
  /** Whether anybody on this event loop wants messages now. */
  wantsData(): boolean;
  /** Whether anything or anybody waits for room. */
  wantsSpace(): boolean;
  /** Up to where the peer must have taken over what was sent before somebody's promise comes true. */
  wantsTaken?(): Mark | undefined;
  /** Whether anybody waits until the other end is open, of which only a message on the native port tells. */
  wantsReady?(): boolean;
  /** Hands one message out; false when there is none. Never throws. */
  deliver(): boolean;
  /** Settles what waits for progress or for the end. Never throws. */
  settle(): void;
  /** Whether something waits for progress so that it is to be settled between two messages, and not only behind a batch. */
  presses?(): boolean;
}

export class Pump {
  readonly #transport: PumpMedium;
  readonly #loop: LoopWait;
  readonly #host: PumpHost;
  #state: 'idle' | 'due' | 'running' | 'polling' | 'parked' = 'idle';
  #restingSince = 0;
  #pollDue = false;
  /** What was handed out since this event loop last had a turn, and when that began. */
  #handed = 0;
  #handedSince = 0;
  #tired = false;

  readonly #start = (): void => {
    if (this.#state === 'due') this.#run();
  };
  readonly #startRested = (): void => {
    this.#rested();
    this.#start();
  };
  readonly #poll = (): void => {
    this.#pollDue = false;
    if (this.#state !== 'polling') return;
    if (this.#somethingToDo()) {
      this.#loop.spin.caught();
      this.#restingSince = 0;
      this.#rested();
      this.#run();
    } else if (performance.now() - this.#restingSince < this.#loop.spin.windowMs) this.#pollNextTurn();
    else {
      this.#loop.spin.missed();
      this.#park();
    }
  };

  constructor(transport: PumpMedium, host: PumpHost) {
    this.#transport = transport;
    this.#loop = transport.loop;
    this.#host = host;
  }

  /** Something changed on this side: look soon, but not inside the caller. */
  kick(): void {
    if (this.#state === 'due' || this.#state === 'running') return;
    if (this.#tired) {
      this.#startNextTurn();
      return;
    }
    queueMicrotask(this.#start);
    // Not before: where the stack has ended on the way there, it is to be asked for again.
    this.#state = 'due';
  }

  /**
   * Counts something handed out at once: a message, a promise already kept. True when timers, I/O and other ports must
   * have their turn before the next one (G11); then `kick`.
   */
  tire(): boolean {
    if (this.#handed++ === 0) this.#handedSince = performance.now();
    else if (this.#handed >= BUDGET_MESSAGES) this.#tired = true;
    else if (this.#handed % BUDGET_MESSAGES_PER_LOOK === 0 && performance.now() - this.#handedSince > BUDGET_MS) {
      this.#tired = true;
    }
    return this.#tired;
  }

  /** This port goes over to another thread, which sleeps its own way. */
  stop(): void {
    if (this.#state === 'parked') this.#loop.unpark();
    this.#state = 'idle';
  }

  /** The peer rang: look now. Called from the event loop. */
  woken(): void {
    if (this.#state === 'running' || this.#state === 'due') return;
    this.#rested();
    this.#run();
  }

  /** A blocking call has used the park word meanwhile, and may have taken the native port's messages: look and announce anew. */
  rearm(): void {
    if (this.#state === 'parked' || this.#host.wantsReady?.() === true) this.kick();
  }

  #run(): void {
    if (this.#state === 'parked') this.#loop.unpark();
    this.#state = 'running';
    // What never spins has nothing to learn: the clock costs as much as a small part of a message.
    const start = this.#spins ? performance.now() : 0;
    if (this.#tired) {
      this.#startNextTurn();
      return;
    }
    this.#host.settle();
    if (this.#handOut()) this.#learn(start);
  }
  readonly #next = (): void => {
    if (this.#tired) {
      this.#startNextTurn();
      return;
    }
    if (this.#host.presses?.() !== false) this.#host.settle();
    this.#handOut();
  };
  /** One message; whether there was one. What its handler leaves to microtasks runs before the next, as with a native port. */
  #handOut(): boolean {
    const host = this.#host;
    if (!host.wantsData() || !host.deliver()) {
      host.settle();
      this.#rest();
      return false;
    }
    this.tire();
    // An async function that awaits here makes two objects a message.
    queueMicrotask(this.#next);
    return true;
  }

  #rested(): void {
    this.#handed = 0;
    this.#tired = false;
  }

  #startNextTurn(): void {
    platform.turn(this.#startRested);
    this.#state = 'due';
  }

  get #spins(): boolean {
    return this.#loop.spin.windowMs > 0 && !platform.turnsAreDear;
  }
  #learn(now: number): void {
    if (this.#restingSince !== 0) this.#loop.spin.slept(now - this.#restingSince);
    this.#restingSince = 0;
  }

  #rest(): void {
    if (!this.#host.wantsData() && !this.#host.wantsSpace() && this.#wantsTaken === undefined) {
      this.#state = 'idle';
      this.#restingSince = 0;
      return;
    }
    if (!this.#spins) {
      this.#park();
      return;
    }
    if (this.#restingSince === 0) this.#restingSince = performance.now();
    if (this.#loop.spin.worthwhile && this.#transport.ended === undefined) {
      this.#state = 'polling';
      this.#pollNextTurn();
    } else this.#park();
  }

  #pollNextTurn(): void {
    if (this.#pollDue) return;
    this.#pollDue = true;
    platform.turn(this.#poll);
  }

  #park(): void {
    this.#state = 'parked';
    if (this.#transport.ended !== undefined && this.#transport.follows !== true) return;
    const host = this.#host;
    if (!this.#loop.park(host.wantsData(), host.wantsSpace(), this.#wantsTaken)) this.#startNextTurn();
  }

  #somethingToDo(): boolean {
    const host = this.#host;
    return this.#loop.stirs(host.wantsData(), host.wantsSpace(), this.#wantsTaken);
  }
  get #wantsTaken(): Mark | undefined {
    return this.#host.wantsTaken?.();
  }
}
