// 1,000 channels a round in CI, 10,000 under SOAK=1: handles, memory and descriptors return to where they were.
// asked for: node-22, node-26
// watchdog: 600 s
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { cases, seed } from '../kit/prng.ts';
import { STEP_MS } from '../kit/watchdog.ts';
import { runProgram, WITH_GC } from '../runtimes/program.ts';

const PROGRAM = fileURLToPath(new URL('./many-channels-program.js', import.meta.url));
const COUNT = cases(1_000, 10_000);

test(`${COUNT} channels opened, used, dropped and closed in random order leave nothing behind (SEED=${seed})`, async () => {
  const { status, output } = await runProgram(PROGRAM, [`${COUNT}`, `${seed}`], STEP_MS * 8, WITH_GC);
  // Node warns of what it counts native ports with.
  assert.deepEqual([status, output.trim().split('\n').at(-1)], [0, 'ok'], `ended with ${status} and said:\n${output}`);
});
