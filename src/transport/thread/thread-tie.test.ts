import assert from 'node:assert/strict';
import { test } from 'node:test';
import { platform } from '#platform';
import { tieOver } from '../../../test/kit/tie.ts';
import { createNatives } from '../../memory/native-pair.ts';

test('asking whether the peer is gone leaves nothing with a peer that only blocks', () => {
  const { near, far } = createNatives();
  const side = tieOver(near);
  for (let i = 0; i < 5000; i++) assert.equal(side.peer.peerGone(), undefined);
  assert.deepEqual([platform.takeMessage(far.tether), platform.takeMessage(far.side)], [undefined, undefined]);
  // It still rings.
  side.peer.doorbell();
  assert.deepEqual(platform.takeMessage(far.tether)?.message, 0);
  side.close(true);
  far.tether.close();
  far.side.close();
});

test('a runtime whose postMessage answers otherwise than today ends no healthy channel', () => {
  const { near, far } = createNatives();
  const home = Object.getPrototypeOf(near.tether) as { postMessage(...args: unknown[]): unknown };
  const { postMessage } = home;
  home.postMessage = function (this: object, ...args: unknown[]): undefined {
    postMessage.apply(this, args);
  };
  try {
    const side = tieOver(near);
    assert.equal(side.peer.peerGone(), undefined);
    side.close(true);
  } finally {
    home.postMessage = postMessage;
  }
  far.tether.close();
  far.side.close();
});

test('Node can tell a blocked thread that its peer is gone; Bun, Deno and browsers cannot', () => {
  assert.equal(platform.canProbe(), platform.name === 'node');
});
