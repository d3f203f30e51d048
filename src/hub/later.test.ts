// Things that are due, against a list that is sorted.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cases, Random, seed } from '../../test/kit/prng.ts';
import { Later } from './later.ts';

test('what is due comes in the order of its time, and what was taken out does not', () => {
  for (let round = 0; round < cases(100, 10_000); round++) {
    const random = new Random(seed + round);
    const later = new Later<{ readonly dueMs: number }>();
    const there = new Set<{ readonly dueMs: number }>();
    let now = 0;
    for (let step = 0; step < 200; step++) {
      const kind = random.int(0, 3);
      if (kind < 2) {
        const thing = { dueMs: now + random.int(0, 50) };
        there.add(thing);
        later.add(thing, thing.dueMs);
      } else if (kind === 2) {
        const gone = [...there][random.int(0, 20)];
        if (gone !== undefined) assert.equal(later.remove(gone), there.delete(gone));
      } else {
        now += random.int(0, 10);
        const due = [...there].filter(({ dueMs }) => dueMs <= now).map(({ dueMs }) => dueMs);
        const came: number[] = [];
        for (let thing = later.take(now); thing !== undefined; thing = later.take(now)) {
          came.push(thing.dueMs);
          assert.ok(there.delete(thing), `seed ${seed + round}`);
        }
        assert.deepEqual(
          came,
          due.sort((a, b) => a - b),
          `seed ${seed + round}`,
        );
      }
      assert.equal(later.size, there.size);
      const [next = Number.POSITIVE_INFINITY] = [...there].map(({ dueMs }) => dueMs).sort((a, b) => a - b);
      assert.ok(later.nextMs <= next, 'it may wake for what was taken out, and never too late');
    }
  }
});

test('where most were taken out, the others come in their order', () => {
  const later = new Later<{ dueMs: number }>();
  const random = new Random(seed);
  const things = Array.from({ length: 6000 }, () => ({ dueMs: random.int(0, 1_000_000) }));
  for (const thing of things) later.add(thing, thing.dueMs);
  const kept = things.filter((thing, i) => i % 50 === 0 || !later.remove(thing));
  const last = { dueMs: 500_000 };
  later.add(last, last.dueMs);
  const came: number[] = [];
  for (let thing = later.take(1_000_000); thing !== undefined; thing = later.take(1_000_000)) came.push(thing.dueMs);
  assert.deepEqual(
    came,
    [...kept, last].map(({ dueMs }) => dueMs).sort((a, b) => a - b),
  );
  assert.equal(kept.length, 120);
});
