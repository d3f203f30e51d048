import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atEndOfTurn, endTurn } from '../../src/compat/end-of-turn.ts';

test('a hundred thousand are told of the end of a turn in little more time than it took to gather them', () => {
  const count = 100_000;
  let told = 0;
  const each = Array.from({ length: count }, () => ({
    endTurn() {
      told++;
    },
  }));
  const begun = performance.now();
  for (const it of each) atEndOfTurn(it);
  const gathered = performance.now() - begun;
  const start = performance.now();
  endTurn();
  const ms = performance.now() - start;
  assert.equal(told, count);
  // Where each is taken off the front of the list that moves the others.
  assert.ok(ms < 200 + 5 * gathered, `${ms} ms, and ${gathered} to gather them`);
});

test('who comes behind one that throws is told by the next call, and nobody twice', () => {
  const told: number[] = [];
  let throws = true;
  for (let i = 0; i < 3; i++) {
    atEndOfTurn({
      endTurn() {
        if (i === 1 && throws) throw new RangeError('Maximum call stack size exceeded');
        told.push(i);
      },
    });
  }
  assert.throws(endTurn, RangeError);
  throws = false;
  endTurn();
  assert.deepEqual(told, [0, 1, 2]);
});
