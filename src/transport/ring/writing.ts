// The outgoing lane of a region as a port uses it: damage that is met on the way ends the channel.
import type { Mark, Outbound } from '../../lane/lane.ts';
import type { LaneOutbound } from '../../lane/outbound.ts';
import type { OverflowPolicy } from '../../lane/outbox.ts';
import type { RecordSink } from '../../lane/records.ts';
import type { Damage } from './damage.ts';

/** A sending lane over a ring, or over the slots of overflow `latest`. */
export type SendingLane = Pick<
  LaneOutbound,
  | 'busy'
  | 'leave'
  | 'trySend'
  | 'post'
  | 'pump'
  | 'shut'
  | 'spill'
  | 'abandon'
  | 'mark'
  | 'isTaken'
  | 'awaits'
  | 'look'
  | 'progressed'
  | 'untaken'
  | 'unsent'
  | 'failures'
  | 'backlog'
  | 'overflow'
  | 'writable'
> & { readonly sink: Pick<RecordSink, 'cork' | 'publish'> };

export class Writing implements Outbound {
  readonly #lane: SendingLane;
  readonly #damage: Damage;

  constructor(lane: SendingLane, damage: Damage) {
    this.#lane = lane;
    this.#damage = damage;
  }

  get overflow(): OverflowPolicy {
    return this.#lane.overflow;
  }
  get backlog(): number {
    return this.#lane.backlog;
  }
  get writable(): boolean {
    try {
      return this.#lane.writable;
    } catch (error) {
      throw this.#damage.judged(error);
    }
  }
  trySend(value: unknown, transfer?: readonly unknown[]): boolean {
    try {
      return this.#lane.trySend(value, transfer);
    } catch (error) {
      throw this.#damage.judged(error);
    }
  }
  post(value: unknown, transfer?: readonly unknown[]): boolean {
    try {
      return this.#lane.post(value, transfer);
    } catch (error) {
      throw this.#damage.judged(error);
    }
  }
  pump(): boolean {
    try {
      return this.#lane.pump();
    } catch (error) {
      throw this.#damage.judged(error);
    }
  }
  cork<R>(body: () => R): R {
    return this.#lane.sink.cork(body);
  }
  mark(): Mark {
    return this.#lane.mark();
  }
  taken(mark: Mark): boolean {
    if (this.#damage.is) return false;
    if (mark.position === undefined) this.pump();
    try {
      return this.#lane.isTaken(mark);
    } catch (error) {
      throw this.#damage.judged(error);
    }
  }
  /** Takes note of what the reader has given back, before a try. @throws LayoutError */
  look(): void {
    try {
      this.#lane.look();
    } catch (error) {
      throw this.#damage.judged(error);
    }
  }
}
