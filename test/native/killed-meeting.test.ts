// A process that is killed at a step of a meeting, behind a call of the system's that it makes, on either side: the other one is told, with the right reason,
// and has nothing left. Every sixth call in its turn, from a different one on each time; SOAK=1: each.
// watchdog: 120 s
// asked for: node-22, node-26
// needs: native
import assert from 'node:assert/strict';
import { existsSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { MillraceError } from '../../src/index.ts';
import { connect, listen, type Port } from '../../src/process/index.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import { descriptors } from '../kit/native.ts';
import { Random, seed, soak } from '../kit/prng.ts';
import { STEP_MS, until, within } from '../kit/watchdog.ts';
import { type ProgramEnd, runProgram } from '../runtimes/program.ts';

const PROGRAM = fileURLToPath(inOneFile(new URL('./killed-meeting-program.js', import.meta.url)));
const place = join(tmpdir(), `millrace-killed-meeting-${process.pid}`);
/** A meeting has at least so many on a side, and never so many. */
const [CALLS_MIN, CALLS_MAX] = [15, 60];

/** Says back what is said, and how it ended. */
async function answered(port: Port): Promise<string> {
  port.on('message', (value: unknown) => port.postMessage(value));
  return within('the end', port.closed);
}
/** Kills behind a call, and behind later ones, until one lives. */
async function calls(once: (nth: number) => Promise<ProgramEnd>): Promise<void> {
  const stride = soak ? 1 : 6;
  let nth = new Random(seed).int(1, stride);
  for (; nth < CALLS_MAX; nth += stride) {
    const { status, output } = await once(nth);
    if (status === 'SIGKILL') continue;
    assert.deepEqual([status, Number(output) >= CALLS_MIN, nth > CALLS_MIN], [0, true, true], output);
    return;
  }
  assert.fail('it was killed each time');
}

test(`who connects is killed (SEED=${seed})`, async () => {
  const server = await listen(`${place}-here.sock`);
  const ends: Promise<string>[] = [];
  (async () => {
    for await (const port of server) ends.push(answered(port));
  })();
  let had: number | undefined;
  await calls(async (nth) => {
    const end = await runProgram(PROGRAM, ['connects', server.address, `${nth}`], STEP_MS);
    await until('the connection is over', () => server.connections === 0);
    const reasons = await Promise.all(ends.splice(0));
    // Behind its last word it is told of by that.
    assert.ok(
      reasons.every((each) => each === 'lost' || each === 'closed'),
      `call ${nth}: ${reasons.join()}`,
    );
    had ??= descriptors().length;
    await until(`no descriptor is left of call ${nth}`, () => descriptors().length <= (had as number));
    return end;
  });
  await server.close();
});

test(`who listens is killed (SEED=${seed})`, async () => {
  const path = `${place}-there.sock`;
  let had: number | undefined;
  await calls(async (nth) => {
    const program = runProgram(PROGRAM, ['listens', path, `${nth}`], STEP_MS);
    await until('it listens', () => existsSync(path));
    try {
      const reason = await answered(await within('a connection', connect(path)));
      assert.ok(reason === 'lost' || reason === 'closed', `call ${nth}: ${reason}`);
    } catch (error) {
      assert.ok(error instanceof MillraceError, String(error));
    }
    const end = await program;
    rmSync(path, { force: true });
    had ??= descriptors().length;
    await until(`no descriptor is left of call ${nth}`, () => descriptors().length <= (had as number));
    return end;
  });
});
