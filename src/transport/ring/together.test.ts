import assert from 'node:assert/strict';
import { test } from 'node:test';
import { throughLittleStack } from '../../../test/kit/little-stack.ts';
import { MarkedTogether } from './together.ts';

test('an end that was marked where the stack ended is looked at all the same, at the latest with the next mark', async () => {
  for (let spare = 0; spare < 14; spare++) {
    for (let skipped = 0; skipped < 5; skipped++) {
      let looks = 0;
      const place = (): never => assert.fail('nobody selects');
      const together = new MarkedTogether(place, { arrived: () => looks++ });
      throughLittleStack(spare, skipped, () => together.marked(true));
      await undefined;
      together.marked(true);
      await undefined;
      assert.ok(looks > 0, `${spare}, ${skipped}`);
    }
  }
});
