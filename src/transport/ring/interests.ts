// What one end of a region looks for, and what it announces before it sleeps for it, with its event loop.
import type { Mark } from '../../lane/lane.ts';
import * as layout from '../../memory/layout.ts';
import type { EventLoopWait } from '../../wait/async.ts';
import { awaitPosition, DATA, PASSED, SPACE } from '../../wait/signal.ts';
import type { Spin } from '../../wait/spin.ts';
import type { LoopWait } from '../transport.ts';
import type { Damage } from './damage.ts';
import type { Life } from './life.ts';
import type { Reading } from './reading.ts';
import type { Peer } from './tie.ts';
import type { SendingLane } from './writing.ts';

/** Announces, and what to be woken for: the position awaited is stored first. */
export class Awaited {
  /** The event loop sleeps, or is about to be told why not. */
  parked = false;
  /** Told when somebody else is about to use the park word. */
  disturbed: (() => void) | undefined;
  readonly #words: Int32Array;
  readonly #awaited: number;

  /** @param here word index of this side's block */
  constructor(words: Int32Array, here: number) {
    this.#words = words;
    this.#awaited = here + layout.AWAITED;
  }

  /** What to announce in order to be rung when the peer has taken everything before `position`. */
  interest(position: number | undefined): number {
    if (position === undefined) return SPACE;
    awaitPosition(this.#words, this.#awaited, position);
    return PASSED;
  }
}

export class RingLoop implements LoopWait {
  /** Shared with blocked waits: what one learns of the traffic holds for the other. */
  readonly spin: Spin;
  readonly #own: EventLoopWait;
  readonly #above: EventLoopWait;
  readonly #peer: Pick<Peer, 'linked'>;
  readonly #awaited: Awaited;
  readonly #out: SendingLane;
  readonly #in: Reading;
  readonly #life: Pick<Life, 'over'>;
  readonly #damage: Damage;

  /**
   * @param own sleeps on this channel alone
   * @param above sleeps with all channels between the two agents
   */
  constructor(
    spin: Spin,
    own: EventLoopWait,
    above: EventLoopWait,
    peer: Pick<Peer, 'linked'>,
    awaited: Awaited,
    out: SendingLane,
    inbound: Reading,
    life: Pick<Life, 'over'>,
    damage: Damage,
  ) {
    this.spin = spin;
    this.#own = own;
    this.#above = above;
    this.#peer = peer;
    this.#awaited = awaited;
    this.#out = out;
    this.#in = inbound;
    this.#life = life;
    this.#damage = damage;
  }

  stirs(data: boolean, space: boolean, taken: Mark | undefined): boolean {
    if (data && this.#in.ready) return true;
    return (space && this.#out.progressed) || (taken !== undefined && this.#passed(taken));
  }

  park(data: boolean, space: boolean, taken: Mark | undefined): boolean {
    let interest = (data ? DATA : 0) | (space ? SPACE : 0);
    if (taken !== undefined) interest |= this.#awaited.interest(this.#out.awaits(taken));
    const wait = this.#peer.linked ? this.#above : this.#own;
    this.#awaited.disturbed?.();
    this.#awaited.parked = wait.park(interest, () => this.stirs(data, space, taken) || (!data && this.#life.over));
    return this.#awaited.parked;
  }

  unpark(): void {
    this.#awaited.disturbed?.();
    this.#awaited.parked = false;
    // Whichever it was: both take back what stands in the park word.
    this.#own.unpark();
  }

  #passed(mark: Mark): boolean {
    return this.#damage.is || this.#damage.looked(() => this.#out.isTaken(mark));
  }
}
