import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as layout from '../../memory/layout.ts';
import { Life } from './life.ts';

const ways: Readonly<Record<string, { readonly told: string; readonly end: (life: Life) => void }>> = {
  'this side closes': { told: 'closed', end: (life) => life.end('closed') },
  'nobody knows where the other end is': { told: 'lost', end: (life) => life.peerVanished('lost') },
};
for (const [how, { told, end }] of Object.entries(ways)) {
  test(`the other end is told also if the last words meet damage: ${how}`, () => {
    const words = new Int32Array(layout.DATA);
    const said: unknown[] = [];
    const life = new Life(
      words,
      layout.SIDE_1,
      {
        teller: { tell: (...rest: readonly unknown[]) => void said.push(rest) },
        remains: { watch() {}, keep() {}, over() {} },
      } as ConstructorParameters<typeof Life>[2],
      {
        lastWords: () => {
          throw new RangeError('damage');
        },
        woken: () => {},
      },
    );
    assert.throws(() => end(life), RangeError);
    assert.deepEqual(said, [[told, 0]]);
    assert.equal(life.ended, told);
  });
}
