// The counters of one end of a channel in shared memory, its own and those of its peer.

import type { Outbox } from '../../lane/outbox.ts';
import * as layout from '../../memory/layout.ts';
import type { Region } from '../../memory/region.ts';
import type { Stats } from '../transport.ts';
import type { SendingLane } from './writing.ts';

/** @param over whether the channel has ended */
export function statsOf(
  { views, lanes }: Region,
  side: 0 | 1,
  outbox: Pick<Outbox, 'drops' | 'bytes' | 'peak'>,
  sender: Pick<SendingLane, 'unsent' | 'failures'>,
  over: boolean,
): Stats {
  const read = (index: number): number => Atomics.load(views.words, index) >>> 0;
  const here = side === 0 ? layout.SIDE_0 : layout.SIDE_1;
  const out = lanes[side].block;
  const inward = lanes[side === 0 ? 1 : 0].block;
  const taken = read(out + layout.RECEIVED);
  return {
    sent: read(out + layout.SENT),
    received: read(inward + layout.RECEIVED),
    sentBytes: read(out + layout.TAIL),
    receivedBytes: read(inward + layout.HEAD),
    dropped: outbox.drops,
    undelivered: sender.failures + (over ? Math.max(0, (read(out + layout.SENT) + sender.unsent - taken) | 0) : 0),
    undecodable: read(inward + layout.BAD),
    stalls: read(out + layout.STALLS),
    outboxBytes: outbox.bytes,
    outboxBytesPeak: outbox.peak,
    parks: read(here + layout.PARKS),
    wakes: read(here + layout.WAKES),
    capacityBytes: lanes[0].capacity,
  };
}
