// What is missed of somebody, and values in parts of which the rest never comes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENGINE_PARTS_BYTES_MAX, ENGINE_PARTS_MAX, ENGINE_THING_BYTES } from '../limits.ts';
import { Numbers } from './numbers.ts';
import type { Record } from './record.ts';

const PIECE = new Uint8Array(ENGINE_PARTS_BYTES_MAX / 8 - ENGINE_THING_BYTES);
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

test('a part that waits for the others holds no more than its bytes, whatever it lay in', () => {
  const numbers = new Numbers();
  const read = new Uint8Array(65_536).fill(1);
  numbers.come(record('a', 0, 0, 2, read.subarray(100, 101)));
  read.fill(2);
  const { pieces } = numbers.come(record('a', 0, 1, 2, read.subarray(0, 1)));
  assert.deepEqual(
    pieces?.map(([byte]) => byte),
    [1, 2],
  );
  assert.equal(pieces?.[0]?.buffer.byteLength, 1);
});

test('parts of no bytes take what they need, too', () => {
  const numbers = new Numbers();
  const none = new Uint8Array();
  const [each, most] = [ENGINE_PARTS_MAX - 1, ENGINE_PARTS_BYTES_MAX / ENGINE_THING_BYTES];
  const senders = Math.ceil(most / each) + 1;
  for (let i = 0; i < senders; i++)
    for (let part = 0; part < each; part++) numbers.come(record(`${i}`, 0, part, ENGINE_PARTS_MAX, none));
  // Those of the first one had no room.
  assert.deepEqual(numbers.come(record('0', 0, each, ENGINE_PARTS_MAX, none)).missed, 1);
  assert.equal(numbers.come(record('2', 0, each, ENGINE_PARTS_MAX, none)).pieces?.length, ENGINE_PARTS_MAX);
});

test('a value that was begun before anybody listened is not missed, nor is anything else', () => {
  const numbers = new Numbers();
  for (const part of [1, 2])
    assert.deepEqual(numbers.come(record('a', 5, part, 3, small)), { missed: 0, pieces: undefined, doubled: false });
  assert.deepEqual(numbers.come(record('a', 6, 0, 1, small)), { missed: 0, pieces: [small], doubled: false });
  assert.equal(numbers.come(record('a', 8, 1, 2, small)).missed, 2);
});
