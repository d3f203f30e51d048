import assert from 'node:assert/strict';
import { test } from 'node:test';
import { platform } from '#platform';
import { until } from '../../../test/kit/watchdog.ts';
import { DESCRIPTOR_LINE_TAKEN_MAX } from '../../limits.ts';
import { LINK_PAGE_BYTES, SAID, SIDE_1 } from '../../link/layout.ts';
import type { Primitives } from '../../native/primitives.ts';
import type { StreamConnection } from '../stream/connection.ts';
import type { DescriptorLine } from './descriptor-line.ts';
import { DONE, MemoryLink } from './memory-link.ts';

test('a line that is filled as fast as it is read has one share of each turn, however often it is rung', async () => {
  let taken = 0;
  const line = {
    over: false,
    unsent: 0,
    refill: () => true,
    take: () => {
      taken++;
      return { kind: DONE, number: 1, words: [], descriptors: [] };
    },
    close: () => {
      line.take = () => undefined as never;
    },
  };
  const buffer = new ArrayBuffer(LINK_PAGE_BYTES);
  const link = new MemoryLink({
    native: { wait: () => 0, wake: () => {} } as unknown as Primitives,
    side: 0,
    page: { buffer, place: 0 },
    line: line as unknown as DescriptorLine,
    bell: { descriptor: -1, take: () => 'silent', theirs: -1, close: () => {} },
    ringer: { descriptor: -1, ring: () => {}, close: () => {} },
    connection: {} as StreamConnection,
    silentEnd: 'lost',
    stray: () => {},
  });
  const RINGS = 20;
  for (let i = 0; i < RINGS; i++) {
    Atomics.add(new Int32Array(buffer), SIDE_1 + SAID, 1);
    link.rung();
  }
  taken = 0;
  let turns = 0;
  let shares = 0;
  const next = (): void => {
    if (++turns < 10) platform.turn(next);
    else shares = taken / DESCRIPTOR_LINE_TAKEN_MAX;
  };
  platform.turn(next);
  await until('ten turns have passed', () => turns === 10);
  line.close();
  link.close();
  assert.ok(shares > 0 && shares < 2 * turns, `${shares} shares in ${turns} turns, after ${RINGS} rings`);
});
