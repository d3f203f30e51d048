import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../../test/kit/fake-clock.ts';
import { throughLittleStack } from '../../test/kit/little-stack.ts';
import { type Settleable, settleable, Waiters } from './waiters.ts';

const LATE = 'late';
const FOR_EVER = Number.POSITIVE_INFINITY;

test('readers are served in the order in which they came', async () => {
  const line = new Waiters();
  const reads = [1, 2, 3].map(() => line.add(FOR_EVER, LATE, undefined, () => assert.fail('nobody left')));
  for (const value of ['a', 'b', 'c']) line.first().resolve(value);
  assert.deepEqual(await Promise.all(reads), ['a', 'b', 'c']);
  assert.equal(line.length, 0);
});

test('a reader whose time is up leaves the line with the answer for that, and the others stay', async () => {
  const clock = new FakeClock();
  let left = 0;
  const [early, late] = clock.rule(() => {
    const line = new Waiters();
    const reads = [line.add(10, LATE, undefined, () => left++), line.add(30, LATE, undefined, () => left++)] as const;
    clock.advance(9);
    assert.equal(line.length, 2);
    clock.advance(1);
    assert.deepEqual([line.length, left], [1, 1]);
    line.first().resolve('served');
    clock.advance(100);
    assert.deepEqual([left, clock.timers], [1, 0]);
    return reads;
  });
  assert.equal(await early, LATE);
  assert.equal(await late, 'served');
});

test('limits that no timer can hold are for ever', () => {
  const clock = new FakeClock();
  clock.rule(() => {
    const line = new Waiters();
    void line.add(FOR_EVER, LATE, undefined, () => {});
    void line.add(2 ** 40, LATE, undefined, () => {});
    assert.deepEqual([clock.timers, line.length], [0, 2]);
  });
});

test("an aborted reader rejects with the signal's reason, leaves the line, and its timer goes", async () => {
  const clock = new FakeClock();
  const controller = new AbortController();
  let left = 0;
  const read = clock.rule(() => {
    const line = new Waiters();
    const promise = line.add(10, LATE, controller.signal, () => left++);
    controller.abort(new Error('enough'));
    assert.deepEqual([line.length, left, clock.timers], [0, 1, 0]);
    return promise;
  });
  await assert.rejects(read, /enough/);
});

test('a reader that was served no longer hears its signal', async () => {
  const controller = new AbortController();
  const line = new Waiters();
  const read = line.add(FOR_EVER, LATE, controller.signal, () => assert.fail('it had been served'));
  line.first().resolve('served');
  controller.abort();
  assert.equal(await read, 'served');
});

test('what is no signal throws, and leaves nobody in line', () => {
  const line = new Waiters();
  assert.throws(() => line.add(FOR_EVER, LATE, {} as never, () => {}), TypeError);
  assert.equal(line.length, 0);
});

test('whoever is told of the abort while it begins to listen does not stand in line', async () => {
  const line = new Waiters();
  const signal = {
    aborted: false,
    reason: 'at once',
    throwIfAborted() {},
    addEventListener: (_: 'abort', told: () => void) => told(),
    removeEventListener() {},
  };
  await assert.rejects(
    line.add(FOR_EVER, LATE, signal, () => {}),
    (reason) => reason === 'at once',
  );
  assert.equal(line.length, 0);
});

test('where the stack ends there is no promise, rather than one that nobody can settle', () => {
  const made: Settleable<void>[] = [];
  for (let spare = 0; spare < 14; spare++) {
    const one = (): void => void made.push(settleable());
    for (let skipped = 0; skipped < 5; skipped++) throughLittleStack(spare, skipped, one);
  }
  assert.equal(made.length, 70);
  for (const { resolve, reject } of made) assert.deepEqual([typeof resolve, typeof reject], ['function', 'function']);
});
