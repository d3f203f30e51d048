// The sending half of a lane as its transport uses it, whatever becomes of what the reader has not taken.
import type { Producer } from '../ring/producer.ts';
import type { RingOutbound } from './ring-outbound.ts';

/** When what was sent becomes visible, and what the reader has taken of it. */
export type Publishing = Pick<Producer, 'cork' | 'publish' | 'position' | 'headMoved' | 'releasedUpTo'>;

export type Outbound = Pick<
  RingOutbound,
  'trySend' | 'post' | 'pump' | 'shut' | 'spill' | 'accepted' | 'moved' | 'unsent' | 'failures' | 'backlog' | 'writable'
> & { readonly producer: Publishing };
