import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cases, eachCase } from '../../test/kit/prng.ts';
import { LINK_PAGE_BYTES, READY, SIDE_1 } from './layout.ts';
import { READY_SUMMARY_WORDS, ReadySet, readyWords } from './ready-set.ts';

const BASE = 5;
const setOf = (summaryWords = READY_SUMMARY_WORDS): { set: ReadySet; words: Int32Array } => {
  const words = new Int32Array(new SharedArrayBuffer((BASE + readyWords(summaryWords) + 3) * 4));
  return { set: new ReadySet(words, BASE, summaryWords), words };
};
const taken = (set: ReadySet): number[] => {
  const seats: number[] = [];
  const any = set.take((seat) => seats.push(seat));
  assert.equal(any, seats.length > 0);
  return seats.sort((a, b) => a - b);
};

test('take() gives each marked seat once, and then none', () => {
  const { set } = setOf();
  const seats = [0, 31, 32, 33, 1023, 1024, 8191];
  for (const seat of seats) set.mark(seat);
  set.mark(32);
  assert.deepEqual(taken(set), seats);
  assert.deepEqual(taken(set), []);
});

test('seats past the end share the bits of earlier ones', () => {
  const { set } = setOf();
  assert.equal(set.seats, 8192);
  set.mark(8192 + 7);
  set.mark(3 * 8192);
  assert.deepEqual(taken(set), [0, 7]);
});

test('whatever is marked is taken, and nothing outside of the set is written', () => {
  eachCase(0, cases(200, 5_000), (random) => {
    const summaryWords = random.pick([1, 2, 8]);
    const { set, words } = setOf(summaryWords);
    for (let round = 0; round < 4; round++) {
      const marked = new Set<number>();
      for (let i = random.int(0, 40); i > 0; i--) {
        const seat = random.chance(0.5) ? random.int(0, 40) : random.int(0, set.seats * 2 - 1);
        set.mark(seat);
        marked.add(seat % set.seats);
      }
      assert.deepEqual(
        taken(set),
        [...marked].sort((a, b) => a - b),
      );
      assert.ok(words.every((word) => word === 0));
    }
  });
});

test('a mark that comes while marks are taken is there for this take or for the next', () => {
  const { set } = setOf();
  for (const late of [0, 1, 40, 2000]) {
    const seen: number[] = [];
    set.mark(0);
    set.mark(33);
    set.take((seat) => {
      if (seen.push(seat) === 1) set.mark(late);
    });
    set.take((seat) => seen.push(seat));
    assert.deepEqual(
      [...new Set(seen)].sort((a, b) => a - b),
      [...new Set([0, 33, late])].sort((a, b) => a - b),
    );
  }
});

test('the ready sets of both sides fit the link page and do not meet', () => {
  assert.ok(READY + readyWords(READY_SUMMARY_WORDS) <= SIDE_1);
  assert.ok((SIDE_1 + READY + readyWords(READY_SUMMARY_WORDS)) * 4 <= LINK_PAGE_BYTES);
});
