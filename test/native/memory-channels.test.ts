// Channels that end while something of theirs is on the line of descriptors, and threads that end with a line: nothing is lost, nobody hangs, no
// descriptor stays.
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
import { Worker } from 'node:worker_threads';
import { CLOSED } from '../../src/index.ts';
import { connect, type Listener, listen, type Port, type PortLink } from '../../src/process/index.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import { descriptors, native } from '../kit/native.ts';
import { STEP_MS, until, within } from '../kit/watchdog.ts';
import { runProgram, runtimeKind } from '../runtimes/program.ts';

const PROGRAM = fileURLToPath(inOneFile(new URL('./backlog-program.js', import.meta.url)));

let names = 0;
async function met(): Promise<{ server: Listener; near: Port; far: Port }> {
  const server = await listen(join(tmpdir(), `millrace-memory-channels-${process.pid}-${++names}.sock`));
  const taken = server[Symbol.asyncIterator]().next();
  const near = await within('a connection', connect(server.address));
  const far = (await within('who has connected', taken)).value as Port;
  await within('both ends', Promise.all([near.ready, far.ready]));
  assert.equal(near.link?.way?.name, 'memory');
  return { server, near, far };
}
const linkOf = (port: Port): PortLink => port.link as PortLink;

for (const who of ['who has connected', 'who listens']) {
  test(`a channel that ${who} closes just when the other side has taken it: its memory is nobody's, and the connection goes on`, async () => {
    const { server, near, far } = await met();
    const [opener, taker] = who === 'who listens' ? [far, near] : [near, far];
    const offers = linkOf(taker).channels[Symbol.asyncIterator]();
    const before = descriptors().length;
    for (let i = 0; i < 20; i++) {
      const port = linkOf(opener).channel(`short ${i}`);
      const offer = (await within('an offer', offers.next())).value;
      const accepted = offer.accept() as Port;
      port.close();
      assert.equal(await within('the end over there', accepted.closed), 'closed');
    }
    const other = linkOf(opener).channel('another');
    other.postMessage('goes on');
    const offer = (await within('an offer', offers.next())).value;
    assert.equal(await within('a message', offer.accept().receiveAsync()), 'goes on');
    assert.equal(other.stats().way?.name, 'memory');
    assert.deepEqual([opener.reason, taker.reason], [undefined, undefined]);
    assert.equal(descriptors().length, before);
    await within('the end', server.close());
  });
}

test('a thread that is terminated: who is blocked for it hears so, and none of its descriptors stays', async () => {
  const server = await listen(join(tmpdir(), `millrace-memory-channels-${process.pid}-${++names}.sock`));
  const ports = server[Symbol.asyncIterator]();
  let before = 0;
  for (let i = 0; i < 4; i++) {
    const worker = new Worker(inOneFile(new URL('./connected-thread.js', import.meta.url)), {
      workerData: server.address,
    });
    const port = (await within('a connection', ports.next())).value as Port;
    assert.equal(await within('its word', port.receiveAsync()), 'memory');
    const gone = worker.terminate();
    assert.equal(port.receive({ timeoutMs: STEP_MS }), CLOSED);
    assert.equal(port.reason, 'lost');
    await within('the end', gone);
    await within('the end of the connection', linkOf(port).closed);
    // The first of a runtime's threads leaves some of its own; Deno keeps sockets of each. By calls of libc nobody closes them.
    if (i === 0) before = descriptors().length;
  }
  if (runtimeKind !== 'deno' && native.keepsToProcess !== true)
    await until('none is left', () => descriptors().length <= before);
  await server.close();
});

async function readAll(port: Port): Promise<number> {
  let count = 0;
  for (let value = await port.receiveAsync(); value !== CLOSED; value = await port.receiveAsync()) {
    assert.equal((value as [number])[0], count++);
  }
  assert.equal(port.reason, 'closed');
  return count;
}

const still = new Int32Array(new SharedArrayBuffer(4));

test('more channels that close with a backlog than the line has room for: all of it is read', async () => {
  const count = 400;
  const server = await listen(join(tmpdir(), `millrace-memory-channels-${process.pid}-${++names}.sock`));
  const taken = server[Symbol.asyncIterator]().next();
  const closed = join(tmpdir(), `millrace-memory-channels-${process.pid}-closed`);
  const program = runProgram(PROGRAM, [server.address, String(count), closed], STEP_MS);
  const main = (await within('a connection', taken)).value as Port;
  const reads: Promise<number>[] = [];
  (async () => {
    for await (const offer of linkOf(main).channels) reads.push(readAll(offer.accept({ capacityBytes: 1024 })));
  })();
  assert.equal(await within('its word', main.receiveAsync()), 'memory');
  assert.equal(reads.length, count);
  // It closes them while nobody here takes anything off the line.
  const endMs = performance.now() + STEP_MS;
  while (!existsSync(closed) && performance.now() < endMs) Atomics.wait(still, 0, 0, 1);
  rmSync(closed);
  const got = await within('all', Promise.all(reads));
  assert.deepEqual(new Set(got), new Set([10]));
  assert.deepEqual(await within('the program', program), { status: 0, output: '' });
  await server.close();
});
