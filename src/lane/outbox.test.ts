import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '../errors.ts';
import { Outbox, type OutboxEntry, type OverflowPolicy } from './outbox.ts';

function entry(number: number, weight = 100, moved = 0): OutboxEntry {
  return { kind: 4, bytes: new Uint8Array(weight), home: undefined, held: undefined, number, weight, moved };
}
/** Offers messages 0 to count - 1; the numbers that stay, and how many were refused. */
function offer(policy: OverflowPolicy, count: number, highWaterMark = 300, limit = 500): [number[], number, Outbox] {
  const outbox = new Outbox(policy, highWaterMark, limit);
  let refused = 0;
  for (let i = 0; i < count; i++) {
    try {
      if (outbox.admit()) outbox.push(entry(i));
    } catch (error) {
      assert.ok(error instanceof UsageError && error.code === 'ERR_OUTBOX_FULL');
      refused++;
    }
  }
  return [outbox.takeAll().map(({ number }) => number), refused, outbox];
}

test('wait takes up to the hard limit, above the mark too, and then refuses', () => {
  assert.deepEqual(offer('wait', 8).slice(0, 2), [[0, 1, 2, 3, 4], 3]);
});
test('reject refuses at the mark', () => {
  assert.deepEqual(offer('reject', 8).slice(0, 2), [[0, 1, 2], 5]);
});
test('drop-oldest keeps the newest up to the mark and counts the rest', () => {
  const [kept, refused, outbox] = offer('drop-oldest', 8);
  assert.deepEqual([kept, refused, outbox.drops], [[5, 6, 7], 0, 5]);
});
test('drop-newest keeps the oldest up to the mark and counts the rest', () => {
  const [kept, refused, outbox] = offer('drop-newest', 8);
  assert.deepEqual([kept, refused, outbox.drops], [[0, 1, 2], 0, 5]);
});
test('latest keeps the newest only', () => {
  const [kept, refused, outbox] = offer('latest', 8);
  assert.deepEqual([kept, refused, outbox.drops], [[7], 0, 7]);
});

test('a message whose parts are on their way is never dropped', () => {
  for (const policy of ['drop-oldest', 'latest'] as const) {
    const outbox = new Outbox(policy, 100, 1000);
    outbox.push(entry(0));
    (outbox.next as OutboxEntry).moved = 10;
    for (let i = 1; i < 5; i++) outbox.push(entry(i));
    assert.deepEqual(
      outbox.takeAll().map(({ number }) => number),
      [0, 4],
      policy,
    );
  }
});

test('bytes and peak follow what waits; a mark of 0 means that nothing may wait', () => {
  const outbox = new Outbox('wait', 0, 1000);
  assert.equal(outbox.aboveMark, false);
  outbox.push(entry(0, 40));
  outbox.push(entry(1, 60));
  assert.deepEqual([outbox.bytes, outbox.peak, outbox.length, outbox.aboveMark], [100, 100, 2, true]);
  outbox.done();
  assert.deepEqual([outbox.bytes, outbox.peak, outbox.length], [60, 100, 1]);
  outbox.done();
  outbox.done();
  assert.deepEqual([outbox.bytes, outbox.length, outbox.aboveMark], [0, 0, false]);
});

test('only the dropping policies may drop', () => {
  const may = (policy: OverflowPolicy): boolean => new Outbox(policy, 1, 1).mayDrop;
  assert.deepEqual((['wait', 'reject', 'drop-oldest', 'drop-newest', 'latest'] as const).map(may), [
    false,
    false,
    true,
    true,
    true,
  ]);
});
