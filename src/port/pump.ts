// Runs a port on its event loop: takes messages in and hands them out, moves the outbox along, and decides how to
// rest in between: look again for a few turns while traffic flows, else sleep until the peer rings.
import { platform } from '#platform';
import { BUDGET_MESSAGES, BUDGET_MS } from '../limits.ts';
import type { Transport } from '../transport/transport.ts';

/** Messages between two readings of the clock. */
const MESSAGES_PER_CLOCK = 32;

/** What the pump needs of a transport. */
export type PumpMedium = Pick<Transport, 'spin' | 'ended' | 'ready' | 'progressed' | 'park' | 'unpark'>;

export interface PumpHost {
  /** Whether anybody on this event loop wants messages now. */
  wantsData(): boolean;
  /** Whether anybody waits for the peer to take something over. */
  wantsSpace(): boolean;
  /** Hands one message out; false when there is none. Never throws. */
  deliver(): boolean;
  /** Settles what waits for progress or for the end. Never throws. */
  settle(): void;
}

export class Pump {
  readonly #transport: PumpMedium;
  readonly #host: PumpHost;
  #state: 'idle' | 'due' | 'running' | 'polling' | 'parked' = 'idle';
  #restingSince = 0;
  #pollDue = false;

  readonly #start = (): void => {
    if (this.#state === 'due') void this.#run();
  };
  readonly #poll = (): void => {
    this.#pollDue = false;
    if (this.#state !== 'polling') return;
    if (this.#somethingToDo()) {
      this.#transport.spin.caught();
      this.#restingSince = 0;
      void this.#run();
    } else if (performance.now() - this.#restingSince < this.#transport.spin.windowMs) this.#pollNextTurn();
    else {
      this.#transport.spin.missed();
      this.#park();
    }
  };

  constructor(transport: PumpMedium, host: PumpHost) {
    this.#transport = transport;
    this.#host = host;
  }

  /** Something changed on this side: look soon, but not inside the caller. */
  kick(): void {
    if (this.#state === 'due' || this.#state === 'running') return;
    this.#state = 'due';
    queueMicrotask(this.#start);
  }

  /** The peer rang: look now. Called from the event loop. */
  woken(): void {
    if (this.#state === 'running' || this.#state === 'due') return;
    void this.#run();
  }

  /** A blocking call has used the park word meanwhile: announce anew. */
  rearm(): void {
    if (this.#state === 'parked') this.kick();
  }

  async #run(): Promise<void> {
    if (this.#state === 'parked') this.#transport.unpark();
    this.#state = 'running';
    const host = this.#host;
    const start = performance.now();
    for (let handled = 0; ; ) {
      host.settle();
      if (!host.wantsData() || !host.deliver()) break;
      if (handled++ === 0) this.#learn(start);
      if (handled >= BUDGET_MESSAGES || (handled % MESSAGES_PER_CLOCK === 0 && performance.now() - start > BUDGET_MS)) {
        // Timers, I/O and other ports have their turn (G11).
        this.#state = 'due';
        platform.turn(this.#start);
        return;
      }
      // What the handler left to microtasks runs before the next message, as with a native port.
      await undefined;
    }
    host.settle();
    this.#rest();
  }

  #learn(now: number): void {
    if (this.#restingSince !== 0) this.#transport.spin.slept(now - this.#restingSince);
    this.#restingSince = 0;
  }

  #rest(): void {
    if (!this.#host.wantsData() && !this.#host.wantsSpace()) {
      this.#state = 'idle';
      this.#restingSince = 0;
      return;
    }
    if (this.#restingSince === 0) this.#restingSince = performance.now();
    if (this.#transport.spin.worthwhile && this.#transport.ended === undefined) {
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
    if (this.#transport.ended === undefined && !this.#transport.park(this.#host.wantsData(), this.#host.wantsSpace())) {
      this.#state = 'due';
      platform.turn(this.#start);
    }
  }

  #somethingToDo(): boolean {
    return (this.#host.wantsData() && this.#transport.ready) || (this.#host.wantsSpace() && this.#transport.progressed);
  }
}
