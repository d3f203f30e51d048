// What features() of this door says is what connections then do.
// asked for: node-22, node-26
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { features as ofThreads } from '../../src/index.ts';
import { features } from '../../src/process/index.ts';
import { overMemory } from '../kit/way.ts';
import { runProgram } from '../runtimes/program.ts';

const PROGRAM = fileURLToPath(new URL('./features-program.js', import.meta.url));
const CHOICE = 'MILLRACE_NATIVE';

interface Said {
  readonly processWay: object;
  readonly taken: object;
}

async function said(choice?: string): Promise<Said> {
  const before = process.env[CHOICE];
  if (choice !== undefined) process.env[CHOICE] = choice;
  try {
    const address = join(tmpdir(), `millrace-features-${process.pid}-${choice}.sock`);
    const { status, output } = await runProgram(PROGRAM, [address], 20_000);
    assert.equal(status, 0, output);
    return JSON.parse(output) as Said;
  } finally {
    if (before === undefined) delete process.env[CHOICE];
    else process.env[CHOICE] = before;
  }
}

test('features() of this door says all that the front door says, and by what processes go', () => {
  const { processWay, loopWay, ...rest } = features();
  assert.deepEqual(rest, ofThreads());
  assert.equal(loopWay.name, rest.eventLoopWait);
  assert.equal(processWay.name, overMemory ? 'memory' : 'unix');
  assert.equal(typeof processWay.why, overMemory ? 'undefined' : 'string');
});

test('a connection of two that can goes by what features() says, for the same reason', async () => {
  const { processWay, taken } = await said();
  assert.deepEqual(taken, processWay);
});

test('without memory it says why', async () => {
  const { processWay, taken } = await said('none');
  assert.deepEqual(processWay, { name: 'unix', why: `${CHOICE} says none` });
  assert.deepEqual(taken, processWay);
});
