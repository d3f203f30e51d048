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
  readonly #life: Pick<Life, 'over' | 'spilled' | 'follows'>;
  readonly #leftOver: LeftOver;
  readonly #damage: Damage;
  #leftOverTaken = false;
  /** The left-over was asked for, and it or a value in it had not come: whether it has by now, or will not any more. */
  #leftOverAwaited: (() => boolean) | undefined;
  readonly #spillCame = (): boolean => this.#leftOver.spillArrived || !this.#leftOver.late;
  readonly #laneReady = (): boolean => this.#lane.ready;
  readonly #laneWhole = (): boolean => this.#lane.whole || (this.#life.over && this.#wholeAtEnd);

  constructor(
    lane: LaneInbound,
    out: SendingLane,
    life: Pick<Life, 'over' | 'spilled' | 'follows'>,
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
    return (
      this.#damage.is ||
      this.#damage.looked(this.#laneReady) ||
      (this.#life.over && !this.#life.follows && !this.awaitsSide)
    );
  }

  get whole(): boolean {
    return this.#damage.is || this.#damage.looked(this.#laneWhole);
  }
  /** As `#empty`: what came before the end is there now (T1). */
  get #wholeAtEnd(): boolean {
    const { follows } = this.#life;
    return this.#lane.whole || (!follows && !this.#lane.stopped && this.#hasLeftOver());
  }

  /** Whether what comes next is still on its way beside the ring: no word of the region will tell of it. */
  get awaitsSide(): boolean {
    return this.#lane.awaitsSide || this.#leftOverAwaited?.() === false;
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
    const { follows } = this.#life;
    const last = this.#lane.tryReceive();
    return last !== EMPTY || follows || this.#lane.stopped ? last : this.#afterLast();
  }

  /** What the peer left beside the ring when it ended, then `CLOSED`. */
  #afterLast(): unknown {
    if (!this.#hasLeftOver()) return EMPTY;
    const value = this.#lane.tryReceive();
    return value === EMPTY ? CLOSED : value;
  }
  /** Takes it in; false as long as it is on its way. */
  #hasLeftOver(): boolean {
    if (this.#leftOverTaken) return true;
    const isAny = this.#life.spilled > 0;
    if (isAny) {
      const frames = this.#leftOver.lookForSpill();
      // As long as what was missing is, nothing is begun anew: a peer that lies makes it long, and others wait meanwhile.
      if (this.#leftOverAwaited?.() === false) return false;
      this.#leftOverAwaited = frames === undefined ? this.#spillCame : this.#lane.awaitedIn(frames);
      if (this.#leftOverAwaited?.() === false) return false;
    }
    this.#leftOverAwaited = undefined;
    this.#leftOverTaken = true;
    this.#lane.takeLeftOver(isAny ? this.#leftOver.takeSpill() : []);
    return true;
  }
}
