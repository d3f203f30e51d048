import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SPIN_LOOKS_PER_US } from '../limits.ts';
import { BlockingWait } from './block.ts';
import { type ParkPlace, SharedPlace } from './park-place.ts';
import { DATA } from './signal.ts';
import { Spin } from './spin.ts';

test('who is woken for nothing all the time looks after what nobody rings for all the same', () => {
  const words = new Int32Array(new SharedArrayBuffer(64));
  const shared = new SharedPlace(words, 0);
  // As if somebody stored into the word whenever we are about to sleep on it.
  const place: ParkPlace = Object.assign(Object.create(shared) as ParkPlace, { sleep: () => true });
  let looked = false;
  const wait = new BlockingWait(
    place,
    1,
    new Spin(0),
    () => 5,
    () => {
      looked = true;
    },
  );
  assert.equal(
    wait.wait(DATA, () => looked, 10_000),
    true,
  );
});

/** As browsers that resist fingerprinting have it, only coarser: it stands still while `body` runs. */
function withStillClock(body: () => void): void {
  const { now } = performance;
  performance.now = () => 0;
  try {
    body();
  } finally {
    performance.now = now;
  }
}

test('looking again ends by the count of looks where the clock stands still', () => {
  const spin = new Spin(50);
  let looks = 0;
  const look = (): boolean => {
    assert.ok(++looks <= 50 * SPIN_LOOKS_PER_US + 16, 'it goes on looking');
    return false;
  };
  withStillClock(() => assert.equal(spin.until(look), false));
  assert.equal(spin.worthwhile, false, 'it was futile');
});

/** Sleeps that their time limits end. */
function placeOf(sleeps: number[]): ParkPlace {
  const shared = new SharedPlace(new Int32Array(new SharedArrayBuffer(64)), 0);
  const sleep = (_: number, timeoutMs: number): boolean => {
    assert.ok(sleeps.push(timeoutMs) <= 10, 'it goes on sleeping');
    return false;
  };
  return Object.assign(Object.create(shared) as ParkPlace, { sleep });
}

test('where the clock stands still a time limit ends by what was slept', () => {
  const sleeps: number[] = [];
  const wait = new BlockingWait(
    placeOf(sleeps),
    1,
    new Spin(0),
    () => 5,
    () => {},
  );
  withStillClock(() =>
    assert.equal(
      wait.wait(DATA, () => false, 12),
      false,
    ),
  );
  assert.deepEqual(sleeps, [5, 5, 2]);
});
