import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TextCache } from './text-cache.ts';

/** From a few words, so that texts share beginnings and their slots are neighbours often. */
const WORDS = 24;
const LOOKS = 400_000;

test('every text is itself, whatever texts its slot and the neighbours of it held before', () => {
  const words = Array.from({ length: WORDS }, (_, i) => String.fromCharCode(97 + i, 200 - i, 48 + (i & 7), 65 + i));
  const bytesOf = (text: string): number =>
    (text.charCodeAt(0) & 255) |
    ((text.charCodeAt(1) & 255) << 8) |
    ((text.charCodeAt(2) & 255) << 16) |
    (text.charCodeAt(3) << 24);
  const numbers = words.map(bytesOf);
  const cache = new TextCache();
  let state = 1;
  const draw = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 8) % WORDS;
  };
  for (let i = 0; i < LOOKS; i++) {
    const count = (i & 3) + 1;
    const parts = [draw(), draw(), draw(), draw()].slice(0, count);
    const [a = 0, b = 0, c = 0, d = 0] = parts.map((part) => numbers[part]);
    const wanted = parts.map((part) => words[part]).join('');
    const text = cache.text(4 * count, a, b, c, d);
    if (text !== wanted) assert.equal(text, wanted, `look ${i}`);
  }
});

test('a text with zeros at its end is not the shorter one', () => {
  const cache = new TextCache();
  for (let lap = 0; lap < 2; lap++) {
    for (let length = 1; length <= 16; length++) {
      const word = (from: number): number => (length > from ? 97 : 0);
      const wanted = [0, 4, 8, 12]
        .map((from) => (length > from ? 'a\0\0\0' : ''))
        .join('')
        .slice(0, length);
      assert.equal(cache.text(length, word(0), word(4), word(8), word(12)), wanted);
    }
  }
});

test('a text whose end is zeros is not another one of its slot that begins alike', () => {
  const cache = new TextCache();
  // As many ends as share the slot with the zeros some ten times over.
  for (let end = 1; end < 10_000; end++) {
    cache.text(16, 0x61616161, 0x61616161, 0x61616161, end);
    const text = cache.text(16, 0x61616161, 0x61616161, 0x61616161, 0);
    if (text !== `${'a'.repeat(12)}\0\0\0\0`) assert.fail(`after the end ${end} it is ${JSON.stringify(text)}`);
  }
});
