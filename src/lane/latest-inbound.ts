// The receiving half of a lane of which only the newest message counts: RingInbound goes on with these records.
import { SIDE_TAKEN } from '../memory/layout.ts';
import type { LaneMemory } from '../memory/region.ts';
import { LatestConsumer } from '../ring/latest-consumer.ts';
import type { Bell } from '../ring/producer.ts';
import type { RecordSource } from './ring-inbound.ts';
import type { SideChannel } from './side-channel.ts';

/** What a reader goes on with when it learns that only the newest message of a lane counts. */
export function latestInbound(lane: LaneMemory, bell: Bell, side: SideChannel): RecordSource {
  return new LatestConsumer(lane, bell, (number) => {
    side.letGo(number);
    // SYNC side-taken: values of replaced messages are on their way no longer; pairs with LatestOutbound.#sideTaken.
    Atomics.store(lane.words, lane.block + SIDE_TAKEN, number);
  });
}
