import assert from 'node:assert/strict';
import { test } from 'node:test';
import { platform } from '#platform';
import { createNatives } from '../memory/handshake.ts';
import { SideChannel } from './side-channel.ts';

const nobody = { arrived(): void {}, closed(): void {} };

test('asking whether the peer is gone leaves nothing with a peer that only blocks', () => {
  const { near, far } = createNatives();
  const side = new SideChannel(near, nobody);
  for (let i = 0; i < 5000; i++) assert.equal(side.peerGone(), undefined);
  assert.deepEqual([platform.takeMessage(far.tether), platform.takeMessage(far.side)], [undefined, undefined]);
  // It still rings.
  side.doorbell();
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
    const side = new SideChannel(near, nobody);
    assert.equal(side.peerGone(), undefined);
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
