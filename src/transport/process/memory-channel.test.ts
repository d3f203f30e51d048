import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MEMORY_CHANNELS_MAX } from '../../limits.ts';
import type { StreamConnection } from '../stream/connection.ts';
import { MemoryChannels } from './memory-channel.ts';
import { MEMORY, type MemoryMeeting } from './memory-meeting.ts';

test('a connection asks for memory until it has as many channels there as it may, and again once one of them is over', () => {
  const link = { count: MEMORY_CHANNELS_MAX - 1 };
  const meeting = { link, offered: true, why: undefined, begin: () => {} } as unknown as MemoryMeeting;
  const channels = new MemoryChannels(meeting, {} as StreamConnection, () => {});
  assert.equal(channels.flags, MEMORY);
  link.count++;
  assert.equal(channels.flags, 0);
  link.count--;
  assert.equal(channels.flags, MEMORY);
});
