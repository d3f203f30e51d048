// A process that has no descriptor left, and opens channels in memory all the same: those that come for a moment have one in reserve. On the side that made
// the connection, and on that which took it.
// needs: native
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CLOSED } from '../../src/index.ts';
import { fork, listen, type Port, type PortLink } from '../../src/process/index.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import { within } from '../kit/watchdog.ts';

const CHILD = inOneFile(new URL('./few-descriptors-child.js', import.meta.url));
const LIMIT = 160;
/** Beside the ring. */
const LARGE = 300_000;

/** A runtime that may have so many, both by the soft limit and by the hard one. */
const LIMITED = {
  execPath: '/bin/sh',
  execArgv: [
    '-c',
    `ulimit -n ${LIMIT} && exec "$0" "$@"`,
    process.execPath,
    ...(process.versions['deno'] === undefined ? [] : ['run', '--allow-all']),
  ],
};

async function tell(port: Port, what: unknown): Promise<unknown> {
  port.postMessage(what);
  return within(`an answer to ${String(what)}`, port.receiveAsync());
}
/** Whatever is opened from here. */
async function openHere(link: PortLink): Promise<void> {
  for (const bytes of [10, LARGE]) {
    const name = `from here, ${bytes} bytes`;
    const own = link.channel(name, { capacityBytes: 16 << 10 });
    const value = new Uint8Array(bytes).fill(7);
    own.postMessage(value);
    assert.deepEqual(await within(name, own.receiveAsync()), value);
    assert.equal(own.stats().way?.name, 'memory');
    own.close();
  }
}
/** More than there is room for, and closed right then: the child counts what comes. */
async function leaveHere(port: Port): Promise<void> {
  const own = (port.link as PortLink).channel('counted', { capacityBytes: 1024 });
  for (let i = 0; i < 30; i++) own.postMessage([i, 'x'.repeat(200)]);
  own.close();
  assert.equal(await within('a count', port.receiveAsync()), 30);
  assert.equal(own.stats().undelivered, 0);
}
/** Whatever the child opens, and what it leaves over, all of which is read here. */
async function acceptHere(port: Port): Promise<void> {
  const offers = (port.link as PortLink).channels[Symbol.asyncIterator]();
  for (const bytes of [10, LARGE]) {
    const value = new Uint8Array(bytes).fill(8);
    port.postMessage([`from there, ${bytes} bytes`, value]);
    const own = (await within('an offer', offers.next())).value!.accept({ capacityBytes: 16 << 10 });
    own.postMessage(await within('what comes over it', own.receiveAsync()));
    assert.deepEqual(await within('its answer', port.receiveAsync()), [value, 'memory']);
    own.close();
  }
  port.postMessage('leave');
  const own = (await within('an offer', offers.next())).value!.accept({ capacityBytes: 1024 });
  let i = 0;
  for (let got = await own.receiveAsync(); got !== CLOSED; got = await own.receiveAsync())
    assert.equal((got as [number])[0], i++);
  assert.equal(i, 30);
}

async function goOn(port: Port): Promise<void> {
  assert.equal(port.stats().way?.name, 'memory');
  const counts: unknown[] = [];
  for (let round = 0; round < 3; round++) {
    counts.push(await tell(port, 'fill'));
    await openHere(port.link as PortLink);
    await leaveHere(port);
    await acceptHere(port);
    assert.equal(await tell(port, 'free'), 'free');
  }
  // What a runtime opens once, it has opened in the first round.
  assert.equal(counts[2], counts[1]);
  port.close();
  assert.equal(await within('the end', port.link!.closed), 'closed');
}

test('a child without a descriptor left', async () => {
  const { port } = fork(CHILD, { child: { ...LIMITED, stdio: ['ignore', 'inherit', 'inherit'] } });
  await within('the child', port.ready);
  await goOn(port);
});

test('one that has connected, without a descriptor left', async () => {
  const server = await listen(join(tmpdir(), `millrace-few-${process.pid}.sock`));
  const ports = server[Symbol.asyncIterator]();
  const args = [...LIMITED.execArgv, fileURLToPath(CHILD), server.address];
  spawn(LIMITED.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  const port = (await within('a connection', ports.next())).value!;
  await within('a connection', port.ready);
  await goOn(port);
  await server.close();
});
