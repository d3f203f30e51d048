// An address that changes hands, where that is close: many at once, one that is busy, what a refusal leaves, in what order things go.
import assert from 'node:assert/strict';
import { existsSync, linkSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, connect as netConnect, Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { AddressError, CLOSED, RefusedError } from '../../src/index.ts';
import { connect, type Listener, listen } from '../../src/process/index.ts';
import { within } from '../kit/watchdog.ts';
import { runtimeKind } from '../runtimes/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'millrace-taking-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let names = 0;
const fresh = (): string => join(folder, `${++names}.sock`);
const isInUse = (error: unknown): boolean => error instanceof AddressError && error.code === 'ERR_ADDRESS_IN_USE';

/** A name at which nobody listens any more. */
async function dead(): Promise<string> {
  const path = fresh();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(`${path}-first`, resolve));
  linkSync(`${path}-first`, path);
  await new Promise((resolve) => server.close(resolve));
  assert.equal(existsSync(path), true, 'its name is left over');
  return path;
}

if (process.platform === 'linux') {
  test('of six that take a dead one over in the same turns one has it, and whoever connects reaches that one', async () => {
    for (let round = 0; round < 3; round++) {
      const path = await dead();
      const all = await within('all', Promise.allSettled(Array.from({ length: 6 }, () => listen(path))));
      const won = all.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
      const refused = all.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
      assert.equal(won.length, 1, `${won.length} listen at one address`);
      assert.equal(refused.every(isInUse), true);
      const server = won[0] as Listener;
      const taken = server[Symbol.asyncIterator]().next();
      const port = await connect(path);
      await within('who has connected', taken);
      port.close();
      await server.close();
    }
  });

  // Bun says of such a one what it says of a dead one, unless it may call libc: taking-over-by-ffi.test.ts.
  const tellsFull = runtimeKind !== 'bun' || process.env['MILLRACE_NATIVE'] === 'ffi';
  if (tellsFull)
    test('one that lives and has no room for another who connects keeps its address', async () => {
      const path = fresh();
      const stop = new Int32Array(new SharedArrayBuffer(4));
      const text = `import { createServer } from 'node:net';
      import { parentPort, workerData } from 'node:worker_threads';
      const server = createServer().listen({ path: ${JSON.stringify(path)}, backlog: 1 }, () => {
        parentPort.postMessage('listens');
        while (Atomics.wait(workerData, 0, 0, 50) === 'timed-out');
        server.close();
        parentPort.close();
      });`;
      const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(text)}`), { workerData: stop });
      await within('its start', new Promise((resolve) => worker.once('message', resolve)));
      const sockets: Socket[] = [];
      try {
        // As many as the system lets wait there, some hundreds where a runtime has its own mind of that.
        for (let full = false; !full && sockets.length < 600; ) {
          const socket = netConnect({ path });
          sockets.push(socket);
          full = await new Promise<boolean>((resolve) => {
            socket.once('connect', () => resolve(false)).on('error', () => resolve(true));
            setTimeout(resolve, 1000, true);
          });
        }
        await assert.rejects(listen(path), isInUse);
        assert.equal(existsSync(path), true);
      } finally {
        for (const each of sockets) each.destroy();
        Atomics.store(stop, 0, 1);
        Atomics.notify(stop, 0);
        await worker.terminate();
      }
    });
}

if (process.platform !== 'win32') {
  test('whoever is refused an address leaves nothing beside it', async () => {
    const path = fresh();
    await using _server = await listen(path);
    const before = readdirSync(folder);
    await assert.rejects(listen(path), isInUse);
    assert.deepEqual(readdirSync(folder), before);
  });

  test('a listener that closes takes its name away while it still listens: nobody finds it dead, and takes it for left over', async () => {
    const path = fresh();
    const server = await listen(path);
    const { close } = Server.prototype;
    const named: boolean[] = [];
    Server.prototype.close = function (this: Server, told) {
      named.push(existsSync(path));
      return close.call(this, told);
    };
    try {
      await server.close();
    } finally {
      Server.prototype.close = close;
    }
    assert.deepEqual(named, [false]);
  });
}

test('whoever waits to be taken by the program of a listener that closes is told why', async () => {
  const server = await listen('tcp:0');
  const port = await connect(server.address);
  port.postMessage('who reads this?');
  await within('its end', server.close());
  assert.equal(await within('the end', port.receiveAsync()), CLOSED);
  assert.ok(port.error instanceof RefusedError);
  assert.equal(port.error.text, 'the listener is closing');
});
