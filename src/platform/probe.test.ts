import assert from 'node:assert/strict';
import { test } from 'node:test';
import { platform } from '#platform';
import { withLittleStack } from '../../test/kit/little-stack.ts';

test('nobody counts as gone because the stack ended as that was asked', () => {
  const [open, other] = platform.messageChannel();
  const probes = platform.canProbe();
  let gone = 0;
  const ask = (): void => {
    try {
      if (platform.probeGone(open)) gone++;
    } catch (error) {
      assert.ok(error instanceof RangeError, `${error}`);
    }
  };
  // Not once: what is compiled first uses up the stack elsewhere.
  for (let round = 0; round < 8; round++) withLittleStack(1000, ask);
  assert.deepEqual([gone, platform.probeGone(open)], [0, false]);
  open.close();
  assert.equal(platform.probeGone(open), probes);
  other.close();
});
