// Damaged frames over real sockets between two processes: a few hundred; `npm run damage` does a hundred thousand of each.
// asked for: node-22, node-26
// watchdog: 120 s
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cases, seed } from '../kit/prng.ts';
import { damagedStreams } from './stream-damage.ts';

const INPUTS = cases(600, 100_000);

for (const kind of ['unix', 'tcp'] as const) {
  test(`${INPUTS} damaged inputs over ${kind}: only errors of ours, nobody hangs, nothing stays (SEED=${seed})`, async () => {
    const { inputs } = await damagedStreams(kind, seed, INPUTS);
    assert.ok(inputs >= INPUTS);
  });
}
