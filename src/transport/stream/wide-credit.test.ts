// Channels of a door have wide credit from one purse of their thread, and it comes back however they end.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { STREAM_WIDE_BYTES_MAX, STREAM_WINDOW_DEFAULT, STREAM_WINDOW_WIDE } from '../../limits.ts';
import type { ChannelWish } from './channel.ts';
import { StreamConnection } from './connection.ts';

const WIDE: ChannelWish = { wide: true };
const CHANNELS = STREAM_WIDE_BYTES_MAX / STREAM_WINDOW_WIDE;

/** A connection whose peer says nothing. */
function connection(windowBytes?: number): StreamConnection {
  const stream = { write: () => true, end() {}, hold() {} };
  return new StreamConnection(stream, { initiator: true, windowBytes }, { opened() {}, ended() {} });
}
function windows(of: StreamConnection, count: number, wish: ChannelWish): number[] {
  return Array.from({ length: count }, () => of.open('', wish).terms.window);
}

test('so many channels of a thread have wide credit, over all its connections; the others have the usual', () => {
  const [first, second] = [connection(), connection()];
  assert.deepEqual(windows(first, CHANNELS - 1, WIDE), new Array(CHANNELS - 1).fill(STREAM_WINDOW_WIDE));
  assert.deepEqual(windows(second, 2, WIDE), [STREAM_WINDOW_WIDE, STREAM_WINDOW_DEFAULT]);
  first.close();
  second.close();
});

test('it comes back once, whether a connection is closed or breaks, or a channel ends', () => {
  for (let i = 0; i < 3; i++) {
    const closed = connection();
    const broken = connection();
    assert.deepEqual(windows(closed, 1, WIDE), [STREAM_WINDOW_WIDE]);
    const channel = closed.open('', WIDE);
    channel.wasLeft('');
    channel.cut('lost', undefined);
    assert.deepEqual(windows(broken, CHANNELS, WIDE), [
      ...new Array(CHANNELS - 1).fill(STREAM_WINDOW_WIDE),
      STREAM_WINDOW_DEFAULT,
    ]);
    closed.close();
    broken.closed('lost');
  }
});

test('it comes back of a channel that was closed before the other side had asked for it, too', () => {
  const said: Uint8Array[][] = [[], []];
  const side = (own: number): StreamConnection => {
    const write = (bytes: Uint8Array): boolean => (said[own] as Uint8Array[]).push(bytes.slice()) > 0;
    return new StreamConnection({ write, end() {}, hold() {} }, { initiator: own === 0 }, { opened() {}, ended() {} });
  };
  const sides = [side(0), side(1)] as const;
  const talk = (): void => {
    while (said.some(({ length }) => length > 0)) {
      for (const own of [0, 1] as const)
        for (const bytes of said[own]?.splice(0) ?? []) sides[1 - own]?.received(bytes);
    }
  };
  talk();
  for (const closer of sides) {
    for (let i = 0; i < 2 * CHANNELS; i++) {
      const name = `crossing ${i}`;
      const other = closer === sides[0] ? sides[1] : sides[0];
      const channel = closer.open(name, WIDE);
      assert.equal(channel.terms.window, STREAM_WINDOW_WIDE);
      channel.end('closed');
      // Neither has heard the other.
      const far = other.open(name);
      talk();
      assert.equal(far.ended, 'closed');
      far.end('closed');
      talk();
      assert.deepEqual([closer.channels, other.channels], [0, 0]);
    }
  }
  for (const each of sides) each.close();
});

test('who names a credit has that, for a channel or for all of a connection', () => {
  const unsaid = connection();
  const said = connection(64 * 1024);
  assert.deepEqual(windows(unsaid, 1, { ...WIDE, window: 1024 }), [1024]);
  assert.deepEqual(windows(said, 1, WIDE), [64 * 1024]);
  assert.deepEqual(windows(unsaid, 1, {}), [STREAM_WINDOW_DEFAULT]);
  unsaid.close();
  said.close();
});
