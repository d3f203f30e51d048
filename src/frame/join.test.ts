import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LayoutError } from '../errors.ts';
import { viewsOf } from '../memory/region.ts';
import { MORE } from './header.ts';
import { Join } from './join.ts';

const KIND = 4;
const source = viewsOf(new ArrayBuffer(1024));
/** Adds a part of `count` bytes, of value `mark`, behind a prefix that claims `total` bytes if it is the first. */
function add(join: Join, tag: number, count: number, mark: number, total?: number): boolean {
  let offset = 0;
  if (total !== undefined) {
    source.words[0] = total;
    source.words[1] = 0;
    offset = 8;
  }
  source.bytes.fill(mark, offset, offset + count);
  return join.add(tag, source, 0, offset + count);
}

test('parts come together in order, and the memory is free for the next message', () => {
  const join = new Join(1000);
  for (let round = 0; round < 3; round++) {
    assert.equal(join.open, false);
    assert.equal(add(join, KIND | MORE, 10, 1, 25), false);
    assert.equal(join.open, true);
    assert.equal(add(join, KIND | MORE, 10, 2), false);
    assert.equal(add(join, KIND, 5, 3), true);
    const bytes = join.take((kind, whole, length) => {
      assert.equal(kind, KIND);
      return [...whole.bytes.subarray(0, length)];
    });
    assert.deepEqual(bytes, [...Array(10).fill(1), ...Array(10).fill(2), ...Array(5).fill(3)]);
  }
});

const wrong: readonly (readonly [what: string, body: (join: Join) => void])[] = [
  ['a whole longer than the channel takes', (join) => add(join, KIND | MORE, 8, 1, 1001)],
  ['a negative length', (join) => add(join, KIND | MORE, 8, 1, -1)],
  ['a first part without its prefix', (join) => join.add(KIND | MORE, source, 0, 7)],
  ['more than was announced', (join) => add(join, KIND | MORE, 9, 1, 8)],
  ['an end before the end', (join) => add(join, KIND, 8, 1, 9)],
  ['a part of another kind', (join) => [add(join, KIND | MORE, 8, 1, 16), add(join, KIND + 1, 8, 1)]],
  ['a part that brings nothing on', (join) => [add(join, KIND | MORE, 8, 1, 16), add(join, KIND | MORE, 0, 1)]],
];
for (const [what, body] of wrong) {
  test(`${what} is a LayoutError`, () => {
    assert.throws(() => body(new Join(1000)), LayoutError);
  });
}

test('what is not had at once is had as parts come, and the whole is the same', () => {
  const KIB = 1024;
  const join = new Join(1024 * KIB, 64 * KIB);
  const large = viewsOf(new ArrayBuffer(101 * KIB));
  for (let round = 0; round < 2; round++) {
    large.words[0] = 300 * KIB;
    large.bytes.fill(1, 8, 8 + 100 * KIB);
    assert.equal(join.add(KIND | MORE, large, 0, 8 + 100 * KIB), false);
    large.bytes.fill(2);
    assert.equal(join.add(KIND | MORE, large, 0, 100 * KIB), false);
    large.bytes.fill(3);
    assert.equal(join.add(KIND, large, 0, 100 * KIB), true);
    join.take((_, whole, length) => {
      assert.equal(length, 300 * KIB);
      for (const i of [0, 1, 2]) {
        assert.deepEqual([whole.bytes[i * 100 * KIB], whole.bytes[(i + 1) * 100 * KIB - 1]], [i + 1, i + 1]);
      }
    });
  }
});

test('a message of which no more will come is dropped, and the next one begins', () => {
  const join = new Join(1000);
  add(join, KIND | MORE, 10, 1, 25);
  join.drop();
  assert.equal(join.open, false);
  join.drop();
  add(join, KIND | MORE, 10, 2, 12);
  assert.equal(add(join, KIND, 2, 3), true);
});
