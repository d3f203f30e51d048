import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fifo } from './fifo.ts';
import { Inbox } from './inbox.ts';

test('a fifo against an array, through growth, removal and emptiness', () => {
  const fifo = new Fifo<number>();
  const array: number[] = [];
  let next = 0;
  let state = 12345;
  const random = (below: number): number => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >>> 8) % below;
  };
  for (let step = 0; step < 50_000; step++) {
    const growing = Math.floor(step / 5000) % 2 === 0;
    const which = random(10);
    if (which < (growing ? 7 : 3)) {
      fifo.push(next);
      array.push(next++);
    } else if (which < 9) assert.equal(fifo.shift(), array.shift());
    else if (array.length > 3) {
      const start = random(array.length - 2);
      assert.deepEqual(fifo.remove(start, 2), array.splice(start, 2));
    }
    assert.equal(fifo.length, array.length);
    assert.equal(fifo.first, array[0]);
  }
  assert.deepEqual(fifo.takeAll(), array);
  assert.equal(fifo.length, 0);
  assert.equal(fifo.shift(), undefined);
});

test('an inbox keeps order and counts bytes, failures too', () => {
  const inbox = new Inbox(() => {});
  const error = new Error('could not be decoded');
  inbox.push({ value: undefined, ports: [] }, 10);
  inbox.push({ error }, 20);
  assert.deepEqual([inbox.length, inbox.bytes], [2, 30]);
  assert.deepEqual(inbox.shift(), { value: undefined, ports: [] });
  assert.deepEqual([inbox.length, inbox.bytes], [1, 20]);
  assert.deepEqual(inbox.shift(), { error });
  assert.equal(inbox.shift(), undefined);
  assert.deepEqual([inbox.length, inbox.bytes], [0, 0]);
});
