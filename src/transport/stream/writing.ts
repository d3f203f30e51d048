// What a port sends over a channel of a connection: its lane, and what becomes of that where the other end reads no more.
import { ClosedError } from '../../errors.ts';
import type { Mark, Outbound } from '../../lane/lane.ts';
import type { LaneOutbound } from '../../lane/outbound.ts';
import type { OverflowPolicy } from '../../lane/outbox.ts';
import type { StreamChannel } from './channel.ts';

/** Behind what was posted to a peer that reads no more. */
const NEVER: Mark = { accepted: Number.POSITIVE_INFINITY, position: undefined };

export class Writing implements Outbound {
  /** Messages that were posted to a peer that reads no more. */
  late = 0;
  readonly #lane: LaneOutbound;
  readonly #channel: StreamChannel;
  readonly #look: () => boolean;

  /** @param look takes in what has come without the event loop, where the medium can; whether there was something */
  constructor(lane: LaneOutbound, channel: StreamChannel, look: () => boolean) {
    this.#lane = lane;
    this.#channel = channel;
    this.#look = look;
  }

  get overflow(): OverflowPolicy {
    return this.#lane.overflow;
  }
  get backlog(): number {
    return this.#lane.backlog;
  }
  get writable(): boolean {
    return this.#lane.writable;
  }
  get unheard(): boolean {
    return this.#channel.peerLingers;
  }
  trySend(value: unknown, transfer?: readonly unknown[]): boolean {
    if (this.unheard) throw new ClosedError('Cannot send: the peer is gone (closed)', 'closed');
    const { ended } = this.#channel;
    if (this.#lane.trySend(value, transfer)) return true;
    // Room may have come, or the end, of which the caller hears by the next call.
    return this.#look() && this.#channel.ended === ended && this.#lane.trySend(value, transfer);
  }
  post(value: unknown, transfer?: readonly unknown[]): boolean {
    if (!this.unheard) return this.#lane.post(value, transfer);
    this.late++;
    return this.#lane.backlog > 0;
  }
  pump(): boolean {
    return this.#lane.pump();
  }
  cork<R>(body: () => R): R {
    return this.#lane.sink.cork(body);
  }
  mark(): Mark {
    return this.late === 0 ? this.#lane.mark() : NEVER;
  }
  taken(mark: Mark): boolean {
    if (mark === NEVER) return false;
    if (mark.position === undefined) this.#lane.pump();
    if (this.#lane.isTaken(mark)) return true;
    // Who looks wants to know: the other side tells it to nobody who has not asked.
    if (mark.position !== undefined) this.#channel.ask(mark.position);
    return this.#lane.isTaken(mark);
  }
}
