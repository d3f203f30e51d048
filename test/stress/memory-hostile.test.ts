// Damaged bytes on the line of descriptors and in memory between processes: a few thousand; `npm run damage` does a hundred thousand of each.
// asked for: node-22, node-26
// watchdog: 120 s
// needs: native
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cases, seed } from '../kit/prng.ts';
import { damaged } from './memory-hostile.ts';

const INPUTS = cases(600, 100_000);

for (const kind of ['line', 'memory'] as const) {
  test(`${INPUTS} damaged inputs, ${kind}: only errors of ours, nobody hangs, nothing stays (SEED=${seed})`, async () => {
    const { inputs } = await damaged(kind, seed, INPUTS);
    assert.ok(inputs >= INPUTS);
  });
}
