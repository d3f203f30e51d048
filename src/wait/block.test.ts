import assert from 'node:assert/strict';
import { test } from 'node:test';
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
