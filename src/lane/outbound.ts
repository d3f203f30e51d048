// The sending half of a lane as its transport uses it, whatever becomes of what the reader has not taken.
import type { Producer } from '../ring/producer.ts';
import type { RingOutbound } from './ring-outbound.ts';

/** A point in one end's stream of messages. The position is known once all before it stands in the ring. */
export interface Mark {
  /** Messages accepted before it. */
  readonly accepted: number;
  /** Bytes before it, which do not wrap. */
  position: number | undefined;
}

/** When what was sent becomes visible. */
export type Publishing = Pick<Producer, 'cork' | 'publish'>;

export type Outbound = Pick<
  RingOutbound,
  | 'trySend'
  | 'post'
  | 'pump'
  | 'shut'
  | 'spill'
  | 'mark'
  | 'isTaken'
  | 'awaits'
  | 'look'
  | 'progressed'
  | 'untaken'
  | 'unsent'
  | 'failures'
  | 'backlog'
  | 'writable'
> & { readonly producer: Publishing };
