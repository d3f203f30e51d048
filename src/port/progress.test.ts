import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClosedError } from '../errors.ts';
import { Progress } from './progress.ts';

const over = (): ClosedError => new ClosedError('over', 'closed');

test('the end tells a hundred thousand promises of flush in hardly more time than it took to make them', async () => {
  const taken = 50_000;
  const out = { pump: () => true, writable: false, taken: ({ accepted = 0 }) => accepted < taken };
  const progress = new Progress(out, over);
  const told: string[] = [];
  const count = 100_000;
  const begun = performance.now();
  for (let accepted = 0; accepted < count; accepted++) {
    progress.taken({ accepted, position: undefined }).then(
      () => told.push('taken'),
      () => told.push('over'),
    );
  }
  const made = performance.now() - begun;
  const error = over();
  const start = performance.now();
  progress.end(false, () => error);
  const ms = performance.now() - start;
  assert.equal(progress.pending, false);
  await undefined;
  await undefined;
  assert.deepEqual([told.length, told.lastIndexOf('taken'), told.indexOf('over')], [count, taken - 1, taken]);
  // A fraction of it; where each is taken off the front of the list a hundred times as much.
  assert.ok(ms < 20 * made, `${ms} ms, and ${made} to make them`);
});

test('where the stack ends as one is told, the rest are told by the next call, and nobody twice', async () => {
  const out = { pump: () => true, writable: false, taken: () => false };
  const progress = new Progress(out, over);
  const told: unknown[] = [];
  for (let accepted = 0; accepted < 3; accepted++) {
    progress.taken({ accepted, position: undefined }).catch(() => told.push(accepted));
  }
  let calls = 0;
  const stackEnds = (): ClosedError => {
    if (++calls === 2) throw new RangeError('Maximum call stack size exceeded');
    return over();
  };
  assert.throws(() => progress.end(true, stackEnds), RangeError);
  progress.end(true, stackEnds);
  assert.equal(progress.pending, false);
  await undefined;
  await undefined;
  assert.deepEqual(told, [0, 1, 2]);
});

test('of many promises of flush the first is looked at that has not come true, and none behind it', async () => {
  let upTo = 0;
  let looks = 0;
  const taken = ({ accepted = 0 }): boolean => {
    looks++;
    return accepted < upTo;
  };
  const progress = new Progress({ pump: () => true, writable: false, taken }, over);
  const told: number[] = [];
  for (let accepted = 0; accepted < 1000; accepted++) {
    void progress.taken({ accepted, position: undefined }).then(() => told.push(accepted));
  }
  for (; upTo <= 1000; upTo += 10) progress.settle();
  await undefined;
  assert.deepEqual(told, [...Array(1000).keys()]);
  assert.equal(progress.pending, false);
  assert.ok(looks <= 1000 + 101, `${looks} looks`);
});
