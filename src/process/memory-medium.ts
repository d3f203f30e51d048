// The memory that two processes of one machine may have in common, as the medium of a connection's channels.
import type { LinkMedium } from '../port/link-medium.ts';
import { MemoryChannels } from '../transport/process/memory-channel.ts';
import { MemoryMeeting, type MemoryMeetingOptions } from '../transport/process/memory-meeting.ts';

export function memoryMedium(options: MemoryMeetingOptions): LinkMedium {
  const meeting = new MemoryMeeting(options);
  return {
    offer: (connection) => meeting.offer(connection),
    channels: (connection, decided) => new MemoryChannels(meeting, connection, decided),
    greeted: (peer) => meeting.greeted(peer),
    over: () => meeting.over(),
  };
}
