import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClosedError } from '../errors.ts';
import { Progress } from './progress.ts';

const over = (): ClosedError => new ClosedError('over', 'closed');

test('the end tells a hundred thousand promises of flush in no more time than it takes to tell each', async () => {
  const taken = 50_000;
  const out = { pump: () => true, writable: false, taken: ({ accepted = 0 }) => accepted < taken };
  const progress = new Progress(out, over);
  const told: string[] = [];
  const count = 100_000;
  for (let accepted = 0; accepted < count; accepted++) {
    progress.taken({ accepted, position: undefined }).then(
      () => told.push('taken'),
      () => told.push('over'),
    );
  }
  const error = over();
  const start = performance.now();
  progress.end(false, () => error);
  const ms = performance.now() - start;
  assert.equal(progress.pending, false);
  await undefined;
  await undefined;
  assert.deepEqual([told.length, told.lastIndexOf('taken'), told.indexOf('over')], [count, taken - 1, taken]);
  // Some 20; where each is taken off the front of the list 15,000.
  assert.ok(ms < 3000, `${ms} ms`);
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
