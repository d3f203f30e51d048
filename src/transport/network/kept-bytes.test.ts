import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RESUME_MEMORY_BLOCK } from '../../limits.ts';
import { KeptBytes } from './kept-bytes.ts';

const joined = (kept: KeptBytes): number[] => [...kept.pieces()].flatMap((piece) => [...piece]);
const numbered = (from: number, count: number): Uint8Array =>
  Uint8Array.from({ length: count }, (_, i) => (from + i) % 251);

test('what is kept comes back as it was said, from any position on, however it was said', () => {
  const kept = new KeptBytes();
  let said = 0;
  let state = 1;
  const random = (most: number): number => {
    state = (state * 48_271) % 0x7fffffff;
    return state % (most + 1);
  };
  for (let i = 0; i < 2000; i++) {
    const count = random(i % 50 === 0 ? 3 * RESUME_MEMORY_BLOCK : 300);
    kept.append(numbered(said, count));
    said += count;
    assert.equal(kept.end, said);
    if (random(3) === 0) {
      const position = kept.start + random(kept.length);
      kept.release(position);
      assert.equal(kept.start, position);
    }
    if (i % 100 === 0) assert.deepEqual(joined(kept), [...numbered(kept.start, kept.length)]);
    if (i % 400 === 0) kept.release(kept.end);
  }
  assert.deepEqual(joined(kept), [...numbered(kept.start, kept.length)]);
});

test('clear() keeps nothing, and counts on', () => {
  const kept = new KeptBytes();
  kept.append(numbered(0, 5000));
  kept.clear();
  assert.deepEqual([kept.start, kept.end, kept.length, joined(kept)], [5000, 5000, 0, []]);
  kept.append(numbered(5000, 10));
  assert.deepEqual(joined(kept), [...numbered(5000, 10)]);
});
