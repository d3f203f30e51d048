import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventLoopWait } from '../wait/async.ts';
import { SharedPlace } from '../wait/park-place.ts';
import { announce, DATA, DOORBELL, withdraw } from '../wait/signal.ts';
import { LINK_PAGE_BYTES, READY, REST, SIDE_0 } from './layout.ts';
import { LinkEnd } from './link-end.ts';
import { ReadySet } from './ready-set.ts';

const TOO_OFTEN = 1000;
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

function stage() {
  const words = new Int32Array(new SharedArrayBuffer(LINK_PAGE_BYTES));
  const ready = new ReadySet(words, SIDE_0 + READY);
  const rest = new SharedPlace(words, SIDE_0 + REST);
  const end = new LinkEnd(ready, rest);
  let marked = 0;
  end.add({ marked: () => void marked++ });
  return { ready, rest, end, marked: () => marked };
}

test('an agent that marks whenever we look keeps our event loop from nothing', async () => {
  const { ready, rest, end, marked } = stage();
  let parks = 0;
  const loop: EventLoopWait = {
    park(interest, look) {
      assert.ok(++parks < TOO_OFTEN);
      announce(rest, DOORBELL, interest);
      ready.mark(0);
      if (!look()) return true;
      withdraw(rest);
      return false;
    },
    unpark: () => withdraw(rest),
  };
  end.restOnLoop(loop);
  assert.equal(Atomics.load(rest.words, rest.index), DOORBELL | DATA);
  assert.equal(marked(), 0);
  await turn();
  assert.equal(marked(), 1);
});

test('an agent that rings whenever we go to rest leaves our event loop its turns, and we rest when it stops', async () => {
  const { rest, end } = stage();
  let parks = 0;
  let rings = true;
  const loop: EventLoopWait = {
    park(interest) {
      assert.ok(++parks < TOO_OFTEN);
      announce(rest, DOORBELL, interest);
      if (!rings) return true;
      withdraw(rest);
      return false;
    },
    unpark: () => withdraw(rest),
  };
  end.restOnLoop(loop);
  const before = parks;
  while (parks === before) {
    await turn();
    // In each turn so many are allowed.
    assert.ok(parks - before < TOO_OFTEN);
  }
  rings = false;
  while (Atomics.load(rest.words, rest.index) === 0) await turn();
});

test('a bell of all links wakes the one that was rung for, and leaves the others at rest', () => {
  const { ready, rest, end, marked } = stage();
  let parks = 0;
  const loop: EventLoopWait = {
    park(interest) {
      parks++;
      announce(rest, DOORBELL, interest);
      return true;
    },
    unpark: () => withdraw(rest),
  };
  end.restOnLoop(loop);
  end.heard(loop);
  assert.deepEqual([parks, marked()], [1, 0]);
  ready.mark(0);
  withdraw(rest);
  end.heard(loop);
  assert.deepEqual([parks, marked()], [2, 1]);
  assert.equal(Atomics.load(rest.words, rest.index), DOORBELL | DATA);
});

test('a taker that blocks and runs out of stack loses nobody: the next one tells all', async () => {
  for (const next of ['take', 'takeBlocked', 'restOnLoop'] as const) {
    const { ready, rest, end } = stage();
    let stackEnds = true;
    let told = 0;
    const first = end.add({
      marked() {
        if (stackEnds) throw new RangeError('Maximum call stack size exceeded');
      },
    });
    const second = end.add({ marked: () => void told++ });
    ready.mark(first);
    ready.mark(second);
    assert.throws(() => end.takeBlocked(), RangeError);
    stackEnds = false;
    const loop: EventLoopWait = { park: () => true, unpark: () => withdraw(rest) };
    if (next === 'restOnLoop') end.restOnLoop(loop);
    else assert.equal(end[next](), true);
    await turn();
    assert.equal(told, 1, next);
    assert.equal(end.take(), false);
  }
});

test('a thread that blocks before it was told of marks that it took as it went to rest is told of them at once', async () => {
  const { ready, rest, end, marked } = stage();
  const loop: EventLoopWait = {
    park(interest, look) {
      announce(rest, DOORBELL, interest);
      return !look();
    },
    unpark: () => withdraw(rest),
  };
  ready.mark(0);
  end.restOnLoop(loop);
  assert.equal(marked(), 0);
  assert.equal(end.takeBlocked(), true);
  assert.equal(marked(), 1);
  await turn();
  assert.equal(marked(), 1);
});
