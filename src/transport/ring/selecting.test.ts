import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedPlace } from '../../wait/park-place.ts';
import { ABOVE, AWAKE, DATA } from '../../wait/signal.ts';
import { RingSelecting, type RingSelectingParts } from './selecting.ts';

/** An end that has nothing to send; `looked` is called by each look for something to read, and says whether there is. */
function endOf(looked: (peer: { linked: boolean }) => boolean): { word: () => number; end: RingSelecting } {
  const words = new Int32Array(new SharedArrayBuffer(8));
  const peer = { linked: false, peerGone: () => false };
  const parts = {
    peer,
    sleeps: new SharedPlace(words, 0),
    awaited: { parked: false },
    out: { backlog: 0, sink: { publish() {} } },
    reading: {
      awaitsSide: false,
      get whole(): boolean {
        return looked(peer);
      },
    },
    atWill: true,
  } as unknown as RingSelectingParts;
  return { word: () => words[0] as number, end: new RingSelecting(parts) };
}

test('an end that no link has is waited for without an announcement', () => {
  const { word, end } = endOf(() => false);
  assert.equal(end.arm(), true);
  assert.equal(word(), AWAKE);
});

test('an end that the look before its sleep brings to a link announces there', () => {
  const { word, end } = endOf((peer) => {
    peer.linked = true;
    return false;
  });
  assert.equal(end.arm(), true);
  assert.equal(word(), ABOVE | DATA);
});

test('an end that the look brings to a link, and something to read: nobody sleeps', () => {
  const { word, end } = endOf((peer) => {
    peer.linked = true;
    return true;
  });
  assert.equal(end.arm(), false);
  assert.equal(word(), AWAKE);
});
