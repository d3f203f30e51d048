import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JAM } from '../../memory/layout.ts';
import { Jam } from './jam.ts';

for (const asks of [0, 1] as const) {
  test(`two that wait: side ${asks} asks, is told, and leaves the other one waiting, who is asked anew`, () => {
    const words = new Int32Array(new SharedArrayBuffer(4 * (JAM + 1)));
    const woken: string[] = [];
    const asker = new Jam(words, asks, () => woken.push('waiter'));
    const waiter = new Jam(words, asks === 0 ? 1 : 0, () => woken.push('asker'));
    assert.equal(waiter.next(), 'sleep');
    for (let lap = 0; lap < 2; lap++) {
      assert.equal(asker.next(), 'sleep');
      assert.deepEqual([waiter.news, woken.splice(0)], [true, ['waiter']]);
      assert.equal(waiter.next(), 'again');
      assert.equal(waiter.next(), 'sleep');
      assert.deepEqual([asker.news, woken.splice(0)], [true, ['asker']]);
      assert.equal(asker.next(), 'jammed');
      asker.leave();
    }
    waiter.leave();
    assert.equal(asker.next(), 'sleep');
    assert.deepEqual([waiter.news, woken], [true, []]);
  });
}
