// What a first look at this door found: who is told when, where descriptors run out, and who is slow.
// watchdog: 300 s
import assert from 'node:assert/strict';
import { lstatSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { connect, fork, type Listener, listen, type Port } from '../../src/process/index.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import { STEP_MS, until, within } from '../kit/watchdog.ts';
import { runProgram, runtimeKind } from '../runtimes/program.ts';

const PROGRAM = fileURLToPath(new URL('./fresh-eyes-program.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'millrace-fresh-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let names = 0;
const fresh = (): string => join(folder, `${++names}.sock`);
const ADDRESSES = { tcp: () => 'tcp:127.0.0.1:0', unix: fresh };
const take = async (server: Listener): Promise<Port> => {
  for await (const port of server) return port;
  throw new Error('no connection');
};

for (const [kind, address] of Object.entries(ADDRESSES)) {
  test(`${kind}: what a listener says and then ends with its first words is read`, async () => {
    const server = await listen(address());
    const served = take(server).then((port) => {
      port.postMessage('all there is');
      return server.close();
    });
    const port = await within('a port', connect(server.address));
    assert.equal(await within('a message', port.receiveAsync()), 'all there is');
    assert.equal(await within('the end', port.closed), 'closed');
    await within('all over', served);
  });

  test(`${kind}: a loop that closes its listener while others wait ends, and does not throw`, async () => {
    const server = await listen(address());
    const ports = await within('two', Promise.all([connect(server.address), connect(server.address)]));
    let taken = 0;
    for await (const _ of server) {
      taken++;
      void server.close();
    }
    assert.equal(taken, 1);
    await within('both ends', Promise.all(ports.map((port) => port.closed)));
  });

  test(`${kind}: what had room over there arrives when the connection is closed and the other thread computes for 2.5 s`, async () => {
    const server = await listen(address());
    const ended = runProgram(PROGRAM, ['busy', server.address], STEP_MS);
    const port = await within('a connection', take(server));
    const ports: Port[] = [];
    for (let i = 0; i < 20; i++) ports.push((port.link as NonNullable<Port['link']>).channel(`c${i}`));
    await within('all', Promise.all(ports.map((each) => each.ready)));
    port.postMessage('compute');
    assert.equal(await within('it begins', port.receiveAsync()), 'now');
    for (let i = 0; i < 100; i++) (ports[i % 20] as Port).postMessage('x'.repeat(10_000));
    await until('all is on its way', () => ports.every((each) => each.stats().outboxBytes === 0));
    await server.close();
    assert.match((await ended).output, /closed 100/);
  });
}

test('without descriptors fork gives a port that ends, and the process lives', async () => {
  const { output, status } = await runProgram(PROGRAM, ['fork-full'], STEP_MS);
  assert.equal(status, 0);
  assert.match(output, /lost/);
});

test('without descriptors nobody takes the address of who lives', async () => {
  const at = fresh();
  const server = await listen(at);
  const { ino } = lstatSync(at);
  const { output } = await runProgram(PROGRAM, ['listen-full', at], STEP_MS);
  assert.doesNotMatch(output, /listens/);
  assert.equal(lstatSync(at).ino, ino);
  await server.close();
});

test('an error of a child that lives does not end its port', async () => {
  const { port, child } = fork(inOneFile(new URL('./child.js', import.meta.url)));
  port.postMessage('echo');
  assert.equal(await within('an echo', port.receiveAsync()), 'echo');
  child.emit('error', new Error('about something else'));
  port.postMessage('echo');
  assert.equal(await within('an echo', port.receiveAsync()), 'echo');
  port.close();
});

/** Waits with the thread until the process has ended; who waits for its end by the event loop has not been told. */
function blockUntilGone(pid: number): void {
  const asleep = new Int32Array(new SharedArrayBuffer(4));
  const untilMs = performance.now() + STEP_MS;
  const gone = (): boolean => {
    try {
      return readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') Z ');
    } catch {
      return true;
    }
  };
  while (!gone() && performance.now() < untilMs) Atomics.wait(asleep, 0, 0, 2);
}

test('what a process has said before it was killed is read, though this side writes before it looks', async () => {
  const server = await listen(fresh(), { memory: false });
  const ended = runProgram(PROGRAM, ['killed', server.address], STEP_MS);
  const port = await within('a port', take(server));
  const pid = (await within('its number', port.receiveAsync())) as number;
  let got = 0;
  port.on('message', () => got++);
  const over = new Promise((resolve) => port.on('close', resolve));
  port.postMessage('go on');
  await new Promise((resolve) => setImmediate(resolve));
  blockUntilGone(pid);
  port.postMessage('too late');
  assert.equal(await within('the end', over), 'lost');
  // Deno gives up what lies unread in a socket when it cannot write to it, and its descriptors are numbers of its own.
  if (runtimeKind !== 'deno') assert.equal(got, 50);
  await within('its end', ended);
  await server.close();
});
