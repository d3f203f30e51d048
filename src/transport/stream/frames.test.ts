import assert from 'node:assert/strict';
import { test } from 'node:test';
import { STREAM_FRAME_BYTES_MAX } from '../../limits.ts';
import { frameHead, highWord, lengthOf, lowWord, positionOf, typeOf } from './frames.ts';

test('a position below 2^53 travels as two words', () => {
  for (const position of [0, 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 52 + 5, Number.MAX_SAFE_INTEGER]) {
    assert.equal(positionOf(lowWord(position), highWord(position)), position);
  }
});

test('two words that say more than that are no position', () => {
  for (const high of [2 ** 21, 2 ** 31 - 1, -1, -(2 ** 31)]) assert.ok(Number.isNaN(positionOf(0, high)), String(high));
});

test('the first word of a frame says its type and any length that a frame can have', () => {
  for (const type of [1, 4, 127, 128, 255]) {
    for (const length of [0, 8, 248, 2 ** 24, 2 ** 27 - 8]) {
      const head = frameHead(type, length);
      assert.deepEqual([typeOf(head), lengthOf(head)], [type, length]);
      assert.equal(Int32Array.of(head)[0], head);
    }
  }
  assert.ok(STREAM_FRAME_BYTES_MAX < 2 ** 27);
});
