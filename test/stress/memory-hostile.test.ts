// Damaged bytes on the line of descriptors and in memory between processes: some of each; `npm run damage` does a hundred thousand of each.
// asked for: node-22, node-26
// watchdog: 120 s
// needs: native
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cases, seed } from '../kit/prng.ts';
import { damaged } from './memory-hostile.ts';

const COUNTS = { line: 600, memory: 600, 'topic-line': 300, 'topic-memory': 3000 };

for (const kind of ['line', 'memory', 'topic-line', 'topic-memory'] as const) {
  const least = cases(COUNTS[kind], 100_000);
  test(`${least} damaged inputs, ${kind}: only errors of ours, nobody hangs, nothing stays (SEED=${seed})`, async () => {
    const { inputs } = await damaged(kind, seed, least);
    assert.ok(inputs >= least);
  });
}
