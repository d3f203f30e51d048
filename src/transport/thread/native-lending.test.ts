import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChannelLines } from './channel-lines.ts';
import { NativeLending } from './native-lending.ts';

test('memory that was made and could not be said is not said again in the place of what came after it', () => {
  let fails = true;
  const said: unknown[] = [];
  const lines = {
    post(_: number, rest: readonly unknown[]): number {
      if (fails) throw new RangeError('Maximum call stack size exceeded');
      said.push(rest);
      return 0;
    },
  };
  const lending = new NativeLending(lines as unknown as ChannelLines);
  assert.throws(() => lending.lend(1024, 0, 0), RangeError);
  fails = false;
  lending.lend(1024, 0, 0);
  assert.deepEqual(
    lending.lent.map(([, , memory]) => memory),
    [(said[0] as unknown[])[2]],
  );
  assert.equal(lending.lent[0]?.[2], (said[0] as unknown[])[2]);
});
