// A peer that teaches as if memory were endless: what a decoder keeps of shapes is bounded by itself, whatever is taught.
// asked for: node-22, node-24, node-26
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Decoder } from '../../src/codec/codec.ts';
import { SHAPE_LOCAL, TAG_BITS, TAG_OBJECT, TAG_TEXT_LATIN1, WORD_NULL } from '../../src/codec/packed/format.ts';
import { CodecError } from '../../src/errors.ts';
import {
  SHAPE_BYTES_MAX,
  SHAPE_KEY_BYTES,
  SHAPE_KEY_LENGTH_MAX,
  SHAPE_KEYS_MAX,
  SHAPES_MAX,
} from '../../src/limits.ts';
import { viewsOf } from '../../src/memory/region.ts';
import { codec } from './link.ts';

const memory = viewsOf(new SharedArrayBuffer(96 << 20));
const PLAIN = 1;
const TEACH = 1 | (1 << 9) | (1 << 10);
const LOCAL = 1 | (1 << 9);
const RESET = TEACH | (1 << 11);

/** Writes a payload whose value is `value`, and whose trailer defines `shapes` from `first` on; decodes it. */
function say(
  decoder: Decoder,
  header: number,
  value: readonly number[],
  first: number,
  shapes: Iterable<readonly string[]>,
): unknown {
  const { words, bytes } = memory;
  words[0] = header;
  let at = 1;
  for (const word of value) words[at++] = word;
  if (header !== PLAIN) {
    const trailer = at;
    words[at++] = first;
    const count = at++;
    words[count] = 0;
    for (const keys of shapes) {
      words[count]!++;
      words[at++] = keys.length;
      for (const key of keys) {
        words[at++] = (key.length << TAG_BITS) | TAG_TEXT_LATIN1;
        bytes.set(Buffer.from(key, 'latin1'), at * 4);
        at += (key.length + 3) >>> 2;
      }
    }
    words[at++] = trailer;
  }
  return decoder.decode(memory, 0, at * 4);
}
const objectOf = (shape: number): number => (shape << TAG_BITS) | TAG_OBJECT;
const keysOf = (n: number, count: number, length: number): string[] =>
  Array.from({ length: count }, (_, i) => `${n}.${i}`.padEnd(length, 'k'));
function* shapesOf(from: number, howMany: number, count: number, length: number): Generator<string[]> {
  for (let i = 0; i < howMany; i++) yield keysOf(from + i, count, length);
}

/** Whether a payload with an object of this shape (without members: keys are asked for, and fail) finds the shape. */
function knows(decoder: Decoder, shape: number): boolean {
  try {
    say(decoder, PLAIN, [objectOf(shape)], 0, []);
    return true;
  } catch (error) {
    assert.ok(error instanceof CodecError);
    return !/is not known/.test(error.message);
  }
}

test('a shape has as many keys as an encoder gives it, and keys as long, and no more', () => {
  for (const header of [TEACH, LOCAL, RESET]) {
    const first = header === LOCAL ? SHAPE_LOCAL : 1;
    const send = (count: number, length: number): unknown =>
      say(codec.createDecoder(), header, [WORD_NULL], first, [keysOf(1, count, length)]);
    assert.equal(send(SHAPE_KEYS_MAX, SHAPE_KEY_LENGTH_MAX), null);
    assert.throws(() => send(SHAPE_KEYS_MAX + 1, 8), CodecError);
    assert.throws(() => send(2, SHAPE_KEY_LENGTH_MAX + 1), CodecError);
  }
});

test('a payload defines as many shapes as an encoder has, with numbers that an encoder gives, and no more', () => {
  for (const [header, first, last] of [
    [TEACH, 1, SHAPE_LOCAL - 1],
    [LOCAL, SHAPE_LOCAL, 0x0fff_ffff],
  ] as const) {
    const send = (from: number, count: number): unknown =>
      say(codec.createDecoder(), header, [WORD_NULL], from, shapesOf(0, count, 1, 8));
    assert.equal(send(first, SHAPES_MAX), null);
    assert.throws(() => send(first, SHAPES_MAX + 1), CodecError);
    assert.equal(send(last, 1), null);
    for (const bad of [0, -1, ...(header === TEACH ? [SHAPE_LOCAL, SHAPE_LOCAL - 1] : [])]) {
      assert.throws(() => send(bad, 2), CodecError, `from ${bad}`);
    }
  }
});

test('the bytes of what one payload defines are bounded', () => {
  const each = SHAPE_KEYS_MAX * (SHAPE_KEY_BYTES + SHAPE_KEY_LENGTH_MAX);
  const count = Math.floor(SHAPE_BYTES_MAX / each);
  const decoder = codec.createDecoder();
  const send = (many: number): unknown =>
    say(decoder, TEACH, [WORD_NULL], 1, shapesOf(0, many, SHAPE_KEYS_MAX, SHAPE_KEY_LENGTH_MAX));
  assert.throws(() => send(count + 1), CodecError);
  assert.equal(knows(decoder, 1), false);
  assert.equal(send(count), null);
  assert.equal(knows(decoder, count), true);
});

test('a decoder that is taught on and on forgets what came first, by bytes and by numbers', () => {
  const each = SHAPE_KEYS_MAX * (SHAPE_KEY_BYTES + SHAPE_KEY_LENGTH_MAX);
  const most = Math.floor(SHAPE_BYTES_MAX / each);
  const half = (most >> 1) + 1;
  const decoder = codec.createDecoder();
  for (let round = 0; round < 12; round++) {
    const first = 1 + round * half;
    say(decoder, TEACH, [WORD_NULL], first, shapesOf(first, half, SHAPE_KEYS_MAX, SHAPE_KEY_LENGTH_MAX));
    assert.equal(knows(decoder, first), true);
    if (round > 0) assert.equal(knows(decoder, first - half), false);
  }
  for (const first of [SHAPES_MAX, 5 * SHAPES_MAX, 3, SHAPE_LOCAL - 2]) {
    say(decoder, TEACH, [WORD_NULL], first, shapesOf(first, 2, 1, 8));
    assert.equal(knows(decoder, first + 1), true);
    assert.equal(knows(decoder, 1), false);
  }
});

test('a decoder keeps all that an honest encoder teaches: as many numbers, and as many bytes after each reset', () => {
  const decoder = codec.createDecoder();
  for (const number of [1, SHAPES_MAX]) say(decoder, TEACH, [WORD_NULL], number, shapesOf(number, 1, 1, 8));
  assert.deepEqual([knows(decoder, 1), knows(decoder, SHAPES_MAX)], [true, true]);
  const each = SHAPE_KEYS_MAX * (SHAPE_KEY_BYTES + SHAPE_KEY_LENGTH_MAX);
  const most = Math.floor(SHAPE_BYTES_MAX / each);
  const half = most >> 1;
  for (let first = 10_000; first < 13_000; first += 1000) {
    say(decoder, RESET, [WORD_NULL], first, shapesOf(first, half, SHAPE_KEYS_MAX, SHAPE_KEY_LENGTH_MAX));
    const next = first + half;
    say(decoder, TEACH, [WORD_NULL], next, shapesOf(next, most - half, SHAPE_KEYS_MAX, SHAPE_KEY_LENGTH_MAX));
    assert.deepEqual([knows(decoder, first), knows(decoder, next), knows(decoder, first - 1)], [true, true, false]);
  }
});

test('numbers with gaps between, and shapes taught again, are neither mixed up nor counted twice', () => {
  const decoder = codec.createDecoder();
  const x = [objectOf(7), 16];
  say(decoder, TEACH, x, 7, [['x']]);
  for (let i = 0; i < 3; i++) say(decoder, TEACH, x, 5, [['v'], ['w'], ['x'], ['y']]);
  for (const [number, key] of [
    [5, 'v'],
    [6, 'w'],
    [7, 'x'],
    [8, 'y'],
  ] as const) {
    assert.equal(knows(decoder, number), true);
    assert.deepEqual(say(decoder, PLAIN, [objectOf(number), 16], 0, []), { [key]: 1 });
  }
  for (const number of [1, 4, 9, SHAPES_MAX, SHAPE_LOCAL]) assert.equal(knows(decoder, number), false);
  assert.deepEqual(say(decoder, PLAIN, [objectOf(0)], 0, []), {});
  say(decoder, RESET, [objectOf(40), 16], 40, [['z']]);
  assert.equal(knows(decoder, 7), false);
  assert.deepEqual(say(decoder, PLAIN, [objectOf(40), 16], 0, []), { z: 1 });
  assert.deepEqual(say(decoder, PLAIN, [objectOf(0)], 0, []), {});
});
