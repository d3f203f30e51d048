import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LatestProgress } from './latest-progress.ts';

function stage(): {
  progress: LatestProgress;
  slots: { pending: boolean };
  outbox: { next: unknown };
  told: () => number;
} {
  const slots = { pending: false };
  const outbox: { next: unknown } = { next: undefined };
  let told = 0;
  const progress = new LatestProgress(slots, outbox as never, () => void told++);
  return { progress, slots, outbox, told: () => told };
}

test('a message is settled when it was taken, or when a newer one came into a slot; who asked is told of the latter', () => {
  const { progress, slots, told } = stage();
  assert.equal(progress.settledUpTo(0), true, 'nothing was sent');
  const publish = (): void => {
    progress.accepted++;
    progress.published();
    slots.pending = true;
  };
  publish();
  publish();
  assert.equal(told(), 0, 'nobody asked');
  assert.deepEqual([progress.settledUpTo(1), progress.settledUpTo(2)], [true, false]);
  slots.pending = false;
  assert.equal(progress.settledUpTo(2), true);
  publish();
  assert.equal(progress.settledUpTo(3), false);
  publish();
  assert.equal(told(), 2, 'once for each time that somebody asked');
  publish();
  assert.equal(told(), 2);
});

test('one that waits is settled by a newer one that waits, and by being given up once the slot is read', () => {
  const { progress, slots, outbox, told } = stage();
  progress.accepted = 1;
  progress.published();
  slots.pending = true;
  progress.accepted = 2;
  outbox.next = { number: 1 };
  assert.deepEqual([progress.settledUpTo(1), progress.settledUpTo(2)], [false, false]);
  progress.accepted = 3;
  outbox.next = { number: 2 };
  progress.replaced();
  assert.equal(told(), 1);
  assert.deepEqual([progress.settledUpTo(2), progress.settledUpTo(3)], [true, false]);
  outbox.next = undefined;
  progress.replaced();
  assert.deepEqual([told(), progress.settledUpTo(3)], [2, false]);
  slots.pending = false;
  assert.equal(progress.settledUpTo(3), true);
});
