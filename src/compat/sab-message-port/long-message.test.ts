// Parts of long messages, handed in one by one: what a reader does that misses some of them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KIND_JSON, MORE, PARTS_PREFIX_BYTES } from '../../frame/header.ts';
import { viewsOf } from '../../memory/region.ts';
import { LongMessage, LostMessage, REST } from './long-message.ts';

const source = viewsOf(new SharedArrayBuffer(64));
const TOTAL = 12;

class Reader {
  readonly long = new LongMessage();
  first(): boolean {
    source.words[0] = TOTAL;
    return this.long.add(KIND_JSON | MORE, source, 0, PARTS_PREFIX_BYTES + 4);
  }
  middle(): boolean {
    return this.long.add(KIND_JSON | REST | MORE, source, 0, 4);
  }
  last(): boolean {
    return this.long.add(KIND_JSON | REST, source, 0, 4);
  }
  whole(): void {
    assert.deepEqual([this.first(), this.middle(), this.last()], [false, false, true]);
    assert.equal(
      this.long.take((kind, _, length) => kind === KIND_JSON && length),
      TOTAL,
    );
    assert.equal(this.long.open, false);
  }
}

test('the rest of a message whose beginning another reader took is missed once, and passed over', () => {
  const reader = new Reader();
  assert.throws(() => reader.middle(), LostMessage);
  assert.deepEqual([reader.middle(), reader.last()], [false, false]);
  reader.whole();
});

test('each such rest is missed: a message that was whole lies between them', () => {
  const reader = new Reader();
  assert.throws(() => reader.middle(), LostMessage);
  reader.whole();
  assert.equal(reader.long.expected, false);
  assert.throws(() => reader.middle(), LostMessage);
});

test('what was reported already is not reported again, and its rest is passed over', () => {
  const reader = new Reader();
  reader.first();
  reader.long.lose();
  assert.equal(reader.long.open, false);
  assert.equal(reader.long.expected, true);
  assert.deepEqual([reader.middle(), reader.last()], [false, false]);
});

test('a message that was given up is missed by nobody', () => {
  const reader = new Reader();
  reader.first();
  assert.equal(reader.long.add(KIND_JSON | REST, source, 0, 0), false);
  assert.equal(reader.long.open, false);
  assert.equal(reader.long.add(KIND_JSON | REST, source, 0, 0), false, 'not even by who has nothing of it');
  reader.whole();
});

test('a part that is longer than what is left of its message is damage, and the rest is passed over', () => {
  const reader = new Reader();
  reader.first();
  assert.throws(() => reader.long.add(KIND_JSON | REST | MORE, source, 0, TOTAL - 3), { code: 'ERR_DECODE' });
  assert.deepEqual([reader.middle(), reader.last()], [false, false]);
  reader.whole();
});
