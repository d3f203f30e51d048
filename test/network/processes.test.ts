// Other processes at the other end: such as block for long, end by themselves, or are killed.
// watchdog: 300 s
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Port } from '../../src/index.ts';
import { connect, type Listener, listen } from '../../src/net/index.ts';
import { CuttingProxy, portIn } from '../kit/cutting-proxy.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import { STEP_MS, within } from '../kit/watchdog.ts';
import { RUN, runProgram } from '../runtimes/program.ts';

const PROGRAM = fileURLToPath(inOneFile(new URL('./program.js', import.meta.url)));
const ADDRESSES = { tcp: 'tcp:127.0.0.1:0', ws: 'ws://127.0.0.1:0/' };
/** More than twice as long as a side has without a line, and eight times what it waits for a sign before it tries another line. */
const BLOCKED_MS = 2500;
const OPTIONS = { pingMs: 100, resumeMs: 1000 };

const take = async (server: Listener): Promise<Port> => {
  for await (const port of server) return port;
  throw new Error('no connection');
};
async function ask(port: Port): Promise<void> {
  const since = performance.now();
  port.postMessage('block');
  port.postMessage('question');
  assert.deepEqual(await within('an answer', port.receiveAsync()), { answer: 'question' });
  assert.ok(performance.now() - since >= BLOCKED_MS / 2, 'it was not blocked');
  assert.equal(port.reason, undefined);
  port.postMessage('another one');
  assert.deepEqual(await within('an answer', port.receiveAsync()), { answer: 'another one' });
}

for (const [kind, address] of Object.entries(ADDRESSES)) {
  test(`${kind}: who has connected and blocks for long is not ended, and nothing is lost`, async () => {
    const server = await listen(address, OPTIONS);
    const child = start('answer', server.address, String(BLOCKED_MS));
    await ask(await within('a connection', take(server)));
    child.kill('SIGKILL');
    await server.close();
  });

  test(`${kind}: a listener that blocks for long is not ended, and nothing is lost`, async () => {
    const child = start('serve', address, String(BLOCKED_MS));
    const [line] = (await within('its address', once(child.stdout as NonNullable<typeof child.stdout>, 'data'))) as [
      Buffer,
    ];
    const port = await connect(String(line).trim(), OPTIONS);
    await ask(port);
    child.kill('SIGKILL');
    await port.link?.close();
  });

  test(`${kind}: a program that has said all it had to say ends by itself, and all of it arrives`, async () => {
    const server = await listen(address);
    const ended = runProgram(PROGRAM, ['say', server.address], STEP_MS);
    const got: unknown[] = [];
    const port = await within('a connection', take(server));
    for await (const value of port) got.push(value);
    assert.deepEqual(got, [...Array(100).keys()]);
    assert.equal(port.reason, 'closed');
    const { status, output } = await within('its end', ended);
    assert.deepEqual([status, output], [0, '']);
    await server.close();
  });

  test(`${kind}: what a program says last while there is no line arrives, though it has nothing else to do`, async () => {
    const server = await listen(address);
    const proxy = await CuttingProxy.to(portIn(server.address));
    const ended = runProgram(PROGRAM, ['last', proxy.inFrontOf(server.address)], STEP_MS);
    const port = await within('a connection', take(server));
    assert.equal(await within('a message', port.receiveAsync()), 'ready');
    port.postMessage('goes');
    await port.flush();
    await proxy.close();
    await new Promise((resolve) => setTimeout(resolve, 500));
    await proxy.open();
    assert.equal(await within('the last message', port.receiveAsync()), 'last');
    assert.equal(await within('its end', port.closed), 'closed');
    const { status, output } = await within('its end', ended);
    assert.deepEqual([status, output], [0, '']);
    await server.close();
    await proxy.close();
  });

  test(`${kind}: one that is killed is lost once its time is over, behind all that had come`, async () => {
    const server = await listen(address, { resumeMs: 200 });
    const ended = runProgram(PROGRAM, ['kill', server.address], STEP_MS);
    const got: unknown[] = [];
    const port = await within('a connection', take(server));
    for await (const value of port) got.push(value);
    assert.deepEqual([got.length, port.reason], [100, 'lost']);
    assert.equal((await ended).status, 'SIGKILL');
    await server.close();
  });
}

function start(...args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [...RUN, PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
}
