// The incoming lane of a region as a port uses it: behind the last message comes what the peer left over, then the end (T1, T2
// in shared-ring.ts).
import type { LaneInbound } from '../../lane/inbound.ts';
import type { Inbound } from '../../lane/lane.ts';
import type { LeftOver } from '../../lane/left-over.ts';
import { CLOSED, EMPTY } from '../../outcome.ts';
import type { Damage } from './damage.ts';
import type { Life } from './life.ts';
import type { SendingLane } from './writing.ts';

export class Reading implements Inbound {
  readonly #lane: LaneInbound;
  readonly #out: SendingLane;
  readonly #life: Pick<Life, 'over' | 'spilled'>;
  readonly #leftOver: LeftOver;
  readonly #damage: Damage;
  #leftOverTaken = false;
  /** The left-over was asked for and has not come: only the event loop can take it in. */
  #leftOverAwaited = false;
  readonly #laneReady = (): boolean => this.#lane.ready;

  constructor(
    lane: LaneInbound,
    out: SendingLane,
    life: Pick<Life, 'over' | 'spilled'>,
    leftOver: LeftOver,
    damage: Damage,
  ) {
    this.#lane = lane;
    this.#out = out;
    this.#life = life;
    this.#leftOver = leftOver;
    this.#damage = damage;
  }

  get ports(): readonly unknown[] {
    return this.#lane.ports;
  }

  get ready(): boolean {
    return this.#damage.is || this.#damage.looked(this.#laneReady) || (this.#life.over && !this.awaitsEventLoop);
  }

  /** Whether what comes next is on its way, and only the event loop can take it in. */
  get awaitsEventLoop(): boolean {
    return this.#lane.awaitsSide || (this.#leftOverAwaited && !this.#leftOver.spillArrived);
  }

  tryReceive(): unknown {
    if (this.#damage.is) {
      const error = this.#damage.take();
      if (error !== undefined) throw error;
      return CLOSED;
    }
    try {
      const value = this.#lane.tryReceive();
      return value === EMPTY ? this.#empty() : value;
    } catch (error) {
      throw this.#damage.judged(error);
    }
  }

  #empty(): unknown {
    // Somebody who only polls has no other moment for what waits in the outbox, or for what cork holds back.
    if (this.#out.backlog > 0) this.#out.pump();
    this.#out.sink.publish();
    if (this.#lane.awaitsSide || !this.#life.over) return EMPTY;
    // The end was seen after the ring was found empty: what came in between is there now (T1).
    const last = this.#lane.tryReceive();
    return last !== EMPTY || this.#lane.awaitsSide ? last : this.#afterLast();
  }

  /** What the peer left beside the ring when it ended, then `CLOSED`. */
  #afterLast(): unknown {
    if (!this.#leftOverTaken) {
      const frames = this.#life.spilled > 0 ? this.#leftOver.takeSpill() : [];
      this.#leftOverAwaited = frames === undefined && this.#leftOver.late;
      if (this.#leftOverAwaited) return EMPTY;
      this.#leftOverTaken = true;
      this.#lane.takeLeftOver(frames);
    }
    const value = this.#lane.tryReceive();
    return value === EMPTY ? CLOSED : value;
  }
}
