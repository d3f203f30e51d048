// Processes killed in the middle of their work, over each transport: 36 on each runtime in CI, 1,000 over each with `npm run kills`. The seed is
// printed; SEED repeats a run, CASE one of its kills.
// watchdog: 300 s
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cases, seed } from '../kit/prng.ts';
import { SOCKETS } from './kill-round.ts';
import { playSeries } from './kill-series.ts';

/** What is promised is 50 ms; machines on which tests run are busy. */
const SETTLED_MS = 500;

for (const transport of SOCKETS) {
  test(`${transport}: whoever is killed has lost nothing that was acknowledged, and leaves nothing (SEED=${seed})`, async () => {
    const { settleMs, texts, messages } = await playSeries({
      transport,
      way: transport,
      kills: cases(12, 1000),
      jobs: 2,
      seed,
    });
    assert.deepEqual(texts, []);
    assert.ok(settleMs.median < SETTLED_MS, `half of them took ${settleMs.median} ms and more`);
    console.log(
      `${transport}: settled after ${settleMs.median} ms (median), ${settleMs.max} (most); ${JSON.stringify(messages)}`,
    );
  });
}
