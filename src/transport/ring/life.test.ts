import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as layout from '../../memory/layout.ts';
import { SPILL_FOLLOWS } from './end-teller.ts';
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

/** The life of one end whose peer has said that it is closed and sends on what it had accepted. */
function followed() {
  const words = new Int32Array(layout.DATA);
  words[layout.SIDE_1 + layout.CLOSED] = layout.CLOSE_CODES.closed;
  words[layout.SIDE_1 + layout.SPILLED] = SPILL_FOLLOWS;
  const said: unknown[] = [];
  let watched = true;
  let woken = 0;
  const life = new Life(
    words,
    layout.SIDE_1,
    {
      teller: { tell: (...rest: readonly unknown[]) => void said.push(rest) },
      remains: { watch() {}, keep() {}, over: () => void (watched = false) },
    } as ConstructorParameters<typeof Life>[2],
    { lastWords: () => 0, woken: () => void woken++ },
  );
  return { life, words, said, watched: () => watched, woken: () => woken };
}

test('what a closed peer had accepted follows until it says how much it has left over', () => {
  const { life, words, watched } = followed();
  assert.deepEqual([life.ended, life.follows, watched()], ['closed', true, true]);
  words[layout.SIDE_1 + layout.SPILLED] = 2;
  assert.deepEqual([life.follows, life.spilled, watched()], [false, 2, false]);
});

test('that nothing follows any more is told behind the call that has met it, once: who takes the ring for empty there sleeps no more', async () => {
  const { life, words, woken } = followed();
  assert.equal(life.over, true);
  await Promise.resolve();
  assert.deepEqual([woken(), life.follows], [1, true], 'the end itself');
  words[layout.SIDE_1 + layout.SPILLED] = 0;
  assert.deepEqual([life.follows, life.follows, woken()], [false, false, 1]);
  await Promise.resolve();
  assert.equal(woken(), 2);
});

test('who ends while that follows says so, once: else the peer would send on for ever', () => {
  const { life, said, watched } = followed();
  assert.equal(life.over, true);
  life.end('closed');
  life.end('exit');
  assert.deepEqual([said, life.follows, watched()], [[['closed', 0]], false, false]);
});

test('nothing follows any more once the thread of the closed peer is gone', () => {
  const { life, said } = followed();
  assert.equal(life.over, true);
  life.peerVanished();
  assert.deepEqual([life.ended, life.follows, life.spilled, said], ['closed', false, 0, []]);
});
