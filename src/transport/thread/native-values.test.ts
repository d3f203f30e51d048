// Values that have come beside the lane, and wait to be taken in the order of their markers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Arrived } from './native-values.ts';

const TAKER = {};

/** Counts how often anything is looked at. */
class Counted extends Arrived {
  looks = 0;
  override has(number: number): boolean {
    this.looks++;
    return super.has(number);
  }
  override *keys(): MapIterator<number> {
    for (const number of super.keys()) {
      this.looks++;
      yield number;
    }
    return undefined;
  }
}

test('who takes very many one by one looks at each of them once, also where numbers begin anew', () => {
  const COUNT = 20_000;
  const arrived = new Counted();
  const first = 2 ** 31 - COUNT / 2;
  const numbers = Array.from({ length: COUNT }, (_, i) => (first + i) | 0);
  for (const number of numbers) arrived.add(number, { value: number, ports: [] }, TAKER);
  // Every third marker is read; what stands before it is let go.
  let from = numbers[0] as number;
  for (let i = 2; i < COUNT; i += 3) {
    const number = numbers[i] as number;
    assert.equal(arrived.get(number)?.value, number);
    arrived.delete(number);
    arrived.letGoBefore(number, from);
    assert.equal(arrived.size, COUNT - 1 - i);
    from = (number + 1) | 0;
  }
  assert.ok(arrived.looks < 2 * COUNT, `${arrived.looks} looks`);
});

test('a number that is far off costs as much as there is', () => {
  const arrived = new Counted();
  for (const number of [5, 6, 7]) arrived.add(number, { value: number, ports: [] }, TAKER);
  arrived.letGoBefore(2 ** 31 - 1, 5);
  assert.equal(arrived.size, 0);
  for (const number of [5, 6, 7]) arrived.add(number, { value: number, ports: [] }, TAKER);
  arrived.letGoBefore(-(2 ** 31), 5);
  assert.ok(arrived.looks < 20, `${arrived.looks} looks`);
});
