// runtimes: node
// What is opened, used and closed again soon is collected as young objects are. V8 keeps these, at ten times the cost, if anything
// old leads to them: something registered with a FinalizationRegistry, a table that a long-lived Map has outgrown, a hidden class of
// their own, a function that is assigned to a property where it is written (V8 takes it for a method and makes it old).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { STEP_MS } from '../kit/watchdog.ts';
import { runProgram, WITH_GC } from '../runtimes/program.ts';

const PROGRAM = fileURLToPath(new URL('./young-program.js', import.meta.url));
/** Room for all that is made, so that nothing grows old while it is in use. */
const FLAGS: readonly string[] = [...WITH_GC, '--min-semi-space-size=64', '--max-semi-space-size=64'];
/** Bytes. One channel takes 10,000 and more while it is open; what the registry holds of it is a few hundred. */
const LEFT_MAX = 4096;

for (const how of ['untouched', 'used']) {
  test(`channels that were closed (${how}) are collected as young objects are`, async () => {
    const { status, output } = await runProgram(PROGRAM, [how], STEP_MS * 2, FLAGS);
    assert.equal(status, 0, output);
    const left = Number(output);
    assert.ok(left < LEFT_MAX, `${left} bytes a channel are left`);
  });
}
