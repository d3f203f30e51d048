import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHANNEL_MAX } from './frames.ts';
import { Numbers } from './numbers.ts';

test('the initiator takes odd numbers, the other side even ones, each once', () => {
  for (const [initiator, expected] of [
    [true, [1, 3, 5]],
    [false, [2, 4, 6]],
  ] as const) {
    const numbers = new Numbers(initiator);
    assert.deepEqual([numbers.take(), numbers.take(), numbers.take()], expected);
    for (const number of expected) assert.equal(numbers.known(number), true);
    assert.equal(numbers.known(expected[2] + 2), false);
    assert.equal(numbers.isTheirs(expected[0] + 1), true);
  }
});

test('take() uses the last number there is, and then all are used up', () => {
  for (const initiator of [true, false]) {
    const numbers = new Numbers(initiator, CHANNEL_MAX - 3);
    const taken: number[] = [];
    while (!numbers.usedUp) taken.push(numbers.take());
    assert.deepEqual(taken, initiator ? [CHANNEL_MAX - 2, CHANNEL_MAX] : [CHANNEL_MAX - 3, CHANNEL_MAX - 1]);
    assert.ok(taken.every((number) => numbers.known(number) && Int32Array.of(number)[0] === number));
    assert.equal(new Numbers(initiator, CHANNEL_MAX + 1).usedUp, true);
  }
});

test('the other side may open its numbers in rising order only, up to the last, and skip some', () => {
  const numbers = new Numbers(true);
  for (const number of [2, 8, CHANNEL_MAX - 1]) numbers.opened(number);
  for (const number of [2, 4, 1, 0, CHANNEL_MAX - 1, CHANNEL_MAX])
    assert.throws(() => numbers.opened(number), { code: 'ERR_LAYOUT' }, `${number}`);
  assert.equal(numbers.known(4), true, 'one that was skipped is over');
});
