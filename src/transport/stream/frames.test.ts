import assert from 'node:assert/strict';
import { test } from 'node:test';
import { highWord, lowWord, positionOf } from './frames.ts';

test('a position below 2^53 travels as two words', () => {
  for (const position of [0, 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 52 + 5, Number.MAX_SAFE_INTEGER]) {
    assert.equal(positionOf(lowWord(position), highWord(position)), position);
  }
});

test('two words that say more than that are no position', () => {
  for (const high of [2 ** 21, 2 ** 31 - 1, -1, -(2 ** 31)]) assert.ok(Number.isNaN(positionOf(0, high)), String(high));
});
