import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IDENTITY_LOOP_MAX, IDENTITY_SCAN_MAX } from '../limits.ts';
import { MetObjects } from './met-objects.ts';

for (const count of [1, 2, IDENTITY_LOOP_MAX, IDENTITY_LOOP_MAX + 1, IDENTITY_SCAN_MAX + 2]) {
  test(`${count} objects keep their numbers, and none of them is known after clear()`, () => {
    const met = new MetObjects();
    const objects = Array.from({ length: count }, () => ({}));
    for (let lap = 0; lap < 2; lap++) {
      for (const object of objects) {
        assert.equal(met.has(object), false);
        assert.equal(met.number(object), -1);
      }
      objects.forEach((object, i) => {
        assert.equal(met.has(object), true);
        assert.equal(met.number(object), i);
      });
      met.clear();
    }
  });
}
