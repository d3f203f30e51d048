// What is missed of somebody, and values in parts of which the rest never comes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENGINE_PARTS_BYTES_MAX } from '../limits.ts';
import { Numbers } from './numbers.ts';
import type { Record } from './record.ts';

const PIECE = new Uint8Array(ENGINE_PARTS_BYTES_MAX / 8);
const record = (from: string, number: number, part: number, parts: number, bytes: Uint8Array = PIECE): Record => ({
  ...{ from, number, part, parts, bytes },
  outcome: 'done',
  count: 0,
  text: undefined,
});
const small = new Uint8Array(1);

test('parts whose rest never comes keep nobody else from being heard', () => {
  const numbers = new Numbers();
  for (let i = 0; i < 20; i++) assert.equal(numbers.come(record(`dead ${i}`, 0, 0, 2)).pieces, undefined);
  // A small one, one in parts, and one of those whose parts went as others had no room.
  assert.deepEqual(numbers.come(record('small', 0, 0, 1, small)), { missed: 0, pieces: [small], doubled: false });
  for (let part = 0; part < 7; part++) assert.equal(numbers.come(record('large', 0, part, 8)).pieces, undefined);
  assert.equal(numbers.come(record('large', 0, 7, 8)).pieces?.length, 8);
  assert.deepEqual(numbers.come(record('dead 1', 0, 1, 2)), { missed: 1, pieces: undefined, doubled: false });
  assert.deepEqual(numbers.come(record('dead 1', 1, 0, 1, small)), { missed: 0, pieces: [small], doubled: false });
});

test('a value that takes more than there is room for is missed, and the next one is heard', () => {
  const numbers = new Numbers();
  for (let part = 0; part < 8; part++) assert.equal(numbers.come(record('a', 0, part, 10)).missed, 0);
  assert.deepEqual(numbers.come(record('a', 0, 8, 10)), { missed: 1, pieces: undefined, doubled: false });
  // What else comes of it came once.
  assert.deepEqual(numbers.come(record('a', 0, 9, 10)), { missed: 0, pieces: undefined, doubled: false });
  assert.deepEqual(numbers.come(record('a', 1, 0, 1, small)), { missed: 0, pieces: [small], doubled: false });
});
