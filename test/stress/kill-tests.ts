// The tests of kills over one transport, for kills.test.ts and where the addon is there.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cases, seed } from '../kit/prng.ts';
import { playSeries } from './kill-series.ts';

/** What is promised is 50 ms; machines on which tests run are busy. */
const SETTLED_MS = 500;

export function killsOver(transport: string): void {
  test(`${transport}: whoever is killed has lost nothing that was acknowledged, and leaves nothing (SEED=${seed})`, async () => {
    const options = { transport, way: transport, kills: cases(12, 1000), jobs: 2, seed };
    const { settleMs, texts, messages } = await playSeries(options);
    assert.deepEqual(texts, []);
    assert.ok(settleMs.median < SETTLED_MS, `half of them took ${settleMs.median} ms and more`);
    console.log(
      `${transport}: settled after ${settleMs.median} ms (median), ${settleMs.max} (most); ${JSON.stringify(messages)}`,
    );
  });
}
