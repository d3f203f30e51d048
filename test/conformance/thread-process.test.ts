// How long a port keeps its process alive (G8) and where an exception of a handler goes, each in a process of its own.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { STEP_MS } from '../kit/watchdog.ts';
import { runProgram } from '../runtimes/program.ts';

const PROGRAM = fileURLToPath(new URL('./thread-program.js', import.meta.url));

async function run(name: string): Promise<string[]> {
  const { status, output } = await runProgram(PROGRAM, [name], STEP_MS);
  assert.equal(status, 0, `ended with ${status} and said:\n${output}`);
  return output.split('\n').filter((line) => line !== '');
}

const ENDS = [
  'idle',
  'a listener, unref',
  'a listener that was removed',
  'a listener on a port that was closed',
  'ports that were closed where the stack ended',
  'what was let go where the stack ended',
] as const;
for (const name of ENDS) {
  test(`the process ends by itself: ${name}`, async () => {
    assert.deepEqual(await run(name), []);
  });
}

const STAYS: readonly (readonly [name: string, says: readonly string[]])[] = [
  ['a listener', ['got late']],
  ['a listener, unref, ref', ['got late']],
  ['a listener whose peer ends', ['got last words', 'closed: exit']],
  ['a pending receive', ['got late']],
  ['a pending receive with a time limit', ['got Symbol(millrace.EMPTY)']],
  ['a pending flush', ['flushed']],
  ['an outbox that is not empty', ['got all came']],
  ['what comes by way of a thread that was left, behind the end', ['got 7', 'got Symbol(millrace.CLOSED)']],
];
for (const [name, says] of STAYS) {
  test(`the process stays as long as needed, and no longer: ${name}`, async () => {
    assert.deepEqual(await run(name), says);
  });
}

test('exceptions of handlers reach the runtime; other listeners get the message, and the next message still comes', async () => {
  const lines = await run('handlers that throw');
  assert.deepEqual(
    lines.filter((line) => line.startsWith('got')),
    ['got 1', 'got 2', 'got 3'],
  );
  assert.deepEqual(lines.filter((line) => line.startsWith('uncaught')).sort(), [
    'uncaught a listener of 2',
    'uncaught onmessage of 1',
    'uncaught onmessage of 2',
    'uncaught onmessage of 3',
  ]);
});
