// Ports and handles that nobody holds are collected, and their peers are told; those that have something to do stay. Each
// case in a process of its own, with a collector that can be called.
// asked for: node-22, node-26
// watchdog: 300 s
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { STEP_MS } from '../kit/watchdog.ts';
import { runProgram, WITH_GC } from '../runtimes/program.ts';

const PROGRAM = fileURLToPath(new URL('./dropped-program.js', import.meta.url));
const run = (...args: string[]): ReturnType<typeof runProgram> => runProgram(PROGRAM, args, STEP_MS * 2, WITH_GC);

const listed = await run();
for (const name of JSON.parse(listed.output) as string[]) {
  test(`dropped: ${name}`, async () => {
    const { status, output } = await run(name);
    assert.deepEqual([status, output.trim()], [0, 'ok'], `ended with ${status} and said:\n${output}`);
  });
}
