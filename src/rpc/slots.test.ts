import assert from 'node:assert/strict';
import { test } from 'node:test';
import { following } from './messages.ts';
import { Slots } from './slots.ts';

test('slots hold what a Map would, whoever stays and whoever goes, also behind the last number', () => {
  const slots = new Slots<{ readonly id: number }>();
  const map = new Map<number, { readonly id: number }>();
  let seed = 7;
  const random = (below: number): number => (seed = (seed * 48_271) % 0x7fffffff) % below;
  let last = 0x7fffffff - 2_000;
  for (let step = 0; step < 20_000; step++) {
    // By turns more come than go, and more go than come; some stay for long.
    const comes = map.size === 0 || random(100) < (step % 4_000 < 2_000 ? 60 : 35);
    if (comes) {
      do last = following(last);
      while (!slots.free(last));
      const thing = { id: last };
      slots.add(thing);
      map.set(last, thing);
    } else {
      const ids = [...map.keys()];
      const id = ids[Math.min(random(ids.length), random(ids.length))]!;
      slots.delete(id);
      map.delete(id);
      assert.equal(slots.get(id), undefined);
    }
    assert.equal(slots.size, map.size);
  }
  for (const [id, thing] of map) assert.equal(slots.get(id), thing);
  assert.equal(slots.get(following(last)), undefined);
  assert.deepEqual(
    slots.all(),
    [...map.values()].sort((a, b) => a.id - b.id),
  );
});

test('a slot is found by its own number only', () => {
  const slots = new Slots<{ readonly id: number }>();
  slots.add({ id: 5 });
  assert.equal(slots.free(5 + 16), false);
  assert.equal(slots.get(5 + 16), undefined);
  slots.delete(5);
  assert.equal(slots.free(5 + 16), true);
});
