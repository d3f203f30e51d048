// What is said last, and what comes late: words of a process that goes, of a listener that closes while a line is broken, a greeting that was long on its way; and what
// strangers leave behind.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect as connectTcp, createServer, type Socket } from 'node:net';
import process from 'node:process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { attach, bridge, CLOSED, channel, type Port } from '../../src/index.ts';
import { acceptor, connect, type LinkedPort, type Listener, listen } from '../../src/net/index.ts';
import { CuttingProxy, portIn } from '../kit/cutting-proxy.ts';
import { freePort } from '../kit/engine-servers.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import { rejection } from '../kit/rejection.ts';
import { STEP_MS, turn, until, within } from '../kit/watchdog.ts';
import { RUN, runProgram, runtimeKind } from '../runtimes/program.ts';

const PROGRAM = fileURLToPath(inOneFile(new URL('./program.js', import.meta.url)));
const ADDRESSES = { tcp: 'tcp:127.0.0.1:0', ws: 'ws://127.0.0.1:0/' };

const take = async (server: Listener): Promise<LinkedPort> => {
  for await (const port of server) return port as LinkedPort;
  throw new Error('no connection');
};

for (const [kind, address] of Object.entries(ADDRESSES)) {
  for (const count of [20, 80])
    test(`${kind}: ${count} messages of 50 kB that a program says last arrive, all of them, whole`, async () => {
      const server = await listen(address);
      for (let round = 0; round < 3; round++) {
        const ended = runProgram(PROGRAM, ['much', server.address, String(count)], STEP_MS);
        const port = await within('a connection', take(server));
        let got = 0;
        for await (const value of port) assert.equal((value as Uint8Array)[49_999], got++);
        assert.deepEqual([got, port.reason], [count, 'closed']);
        assert.deepEqual(await within('its end', ended), { status: 0, output: '' });
      }
      await server.close();
    });

  for (const how of ['blocking', 'not blocking'])
    test(`${kind}, ${how}: who has ended its connection may exit`, async () => {
      const server = await listen(address);
      const proxy = await CuttingProxy.to(portIn(server.address));
      for (const count of [1, 100]) {
        const ended = runProgram(PROGRAM, ['close-link', proxy.inFrontOf(server.address), String(count), how], STEP_MS);
        const port = await within('a connection', take(server));
        let got = 0;
        for await (const value of port) {
          if (value === 'cut') proxy.cut();
          else assert.equal((value as Uint8Array)[9999], got++ % 256);
        }
        assert.deepEqual([got, port.reason], [count, 'closed']);
        assert.deepEqual(await within('its end', ended), { status: 0, output: '' });
      }
      await server.close();
      await proxy.close();
    });

  test(`${kind}: who ends a connection that has no line waits two seconds for one, and no longer`, async () => {
    const server = await listen(address);
    const proxy = await CuttingProxy.to(portIn(server.address));
    const near = await connect(proxy.inFrontOf(server.address));
    await within('a connection', take(server));
    await proxy.close();
    await until('it to be noticed', () => near.link.status === 'reconnecting');
    near.postMessage('last');
    await within('the end', near.link.close(), 5);
    await within('its end', server.close());
  });

  for (const how of ['blocking', 'not blocking'])
    test(`${kind}, ${how}: a program ends in which both sides end in the same moment`, async () => {
      // A session that one side thinks is not over yet would be looked for, and hold it, for a minute.
      assert.deepEqual(await runProgram(PROGRAM, ['both-end', address, how], 30_000), { status: 0, output: '' });
    });

  for (const blocking of runtimeKind === 'node' ? [false, true] : [false])
    test(`${kind}${blocking ? ', blocking' : ''}: what a listener says last, while a line is broken, arrives over the next one`, async () => {
      const server = await listen(address, { blocking });
      const proxy = await CuttingProxy.to(portIn(server.address));
      const near = await connect(proxy.inFrontOf(server.address));
      const far = await within('a connection', take(server));
      near.postMessage('there');
      assert.equal(await within('a message', far.receiveAsync()), 'there');
      await proxy.close();
      await until('it to be noticed', () => far.link.status === 'reconnecting');
      const many = Array.from({ length: 20 }, (_, i) => new Uint8Array(50_000).fill(i));
      for (const words of many) far.postMessage(words);
      const closing = server.close();
      await turn();
      await proxy.open();
      for (const words of many) assert.deepEqual(await within('them', near.receiveAsync()), words);
      assert.equal(await within('the end', near.receiveAsync()), CLOSED);
      assert.equal(near.reason, 'closed', String(near.error));
      await within('its end', closing);
      await proxy.close();
    });
}

test('tcp: a greeting that was long on its way takes nothing from the line that came after it', async () => {
  const options = { pingMs: 100, resumeMs: 5000 };
  const server = await listen(ADDRESSES.tcp, options);
  const proxy = await CuttingProxy.to(portIn(server.address));
  const near = await connect(proxy.inFrontOf(server.address), options);
  const far = await within('a connection', take(server));
  const counts = [0, 0];
  far.on('message', () => counts[0]++);
  near.on('message', () => counts[1]++);
  proxy.stall(true);
  proxy.cut();
  await until('another line', () => proxy.lines >= 2);
  proxy.stallNew = false;
  // Given up by who has connected.
  await until('one more', () => proxy.lines >= 3);
  const bytes = new Uint8Array(20_000);
  const say = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) {
      near.postMessage(bytes);
      far.postMessage(bytes);
      if (near.full) await within('room', near.drained());
      if (far.full) await within('room', far.drained());
    }
  };
  await say(100);
  await until('all of it', () => counts[0] === 100 && counts[1] === 100);
  proxy.stall(false);
  await turn();
  await say(100);
  await until('all of it', () => counts[0] === 200 && counts[1] === 200);
  assert.deepEqual([near.reason, far.reason], [undefined, undefined], `${near.error} ${far.error}`);
  await near.link.close();
  await server.close();
  await proxy.close();
});

// The server of another runtime is its own.
if (runtimeKind === 'node')
  test('ws: who is turned down keeps no socket of the server', async () => {
    const server = await listen('ws://127.0.0.1:0/live');
    const closed: Promise<unknown>[] = [];
    for (const path of ['/live', '/other']) {
      const socket = connectTcp({ port: portIn(server.address), host: '127.0.0.1', allowHalfOpen: true });
      socket.on('error', () => {});
      closed.push(new Promise((resolve) => socket.once('close', resolve)));
      // It says its end never, and goes on: nobody is there to hear it.
      const say = (): void => {
        if (socket.destroyed) return;
        socket.write('x');
        setTimeout(say, 10);
      };
      socket.once('end', say);
      socket.write(
        `GET ${path} HTTP/1.1\r\nHost: a\r\nOrigin: http://evil.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n`,
      );
      socket.resume();
    }
    await within('their ends', Promise.all(closed));
    await server.close();
  });

test('blocking: who ends a connection to a side that takes nothing in waits two seconds', async () => {
  const child = spawn(process.execPath, [...RUN, PROGRAM, 'serve', 'tcp:127.0.0.1:0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const said = (await within('its address', once(child.stdout, 'data'))) as [Buffer];
    const near = await connect(String(said[0]).trim(), { blocking: true, resumeMs: 60_000, pingMs: 60_000 });
    near.postMessage('there');
    await within('an answer', near.receiveAsync());
    child.kill('SIGSTOP');
    // More than the system, the carrier and the memory between the two take.
    for (let i = 0; i < 200; i++) near.postMessage(new Uint8Array(50_000));
    await turn();
    await within('the end', near.link.close(), 10);
  } finally {
    child.kill('SIGKILL');
  }
});

// As `ws` does, which waits for half a minute; Deno's server waits for ever, and nothing can be done there.
if (runtimeKind === 'node')
  test('ws: who is told that it makes no sense, and never answers, is not waited for', async () => {
    const server = await listen('ws://127.0.0.1:0/');
    const socket = connectTcp({ port: portIn(server.address), host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => {});
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(
      'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n',
    );
    await within('an answer', new Promise((resolve) => socket.once('data', resolve)));
    // A frame of 64 bytes that mean nothing, behind a mask of zeros.
    socket.write(Buffer.concat([Buffer.of(0x82, 0x80 | 64, 0, 0, 0, 0), Buffer.alloc(64, 0xff)]));
    const say = (): void => {
      if (socket.destroyed) return;
      socket.write(Buffer.of(0x89, 0x80, 0, 0, 0, 0));
      setTimeout(say, 50);
    };
    say();
    socket.resume();
    await within('its end', closed, 10);
    await within('the end', server.close(), 5);
  });

/** Damages the first message that has this text. */
async function damaging(to: number): Promise<{ port: number; close(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connectTcp(to, '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
      one.on('data', (bytes: Buffer) => {
        const at = bytes.indexOf('millrace-marker');
        for (const back of at > 8 ? [8, 4] : []) bytes[at - back] = 0xff ^ (bytes[at - back] as number);
        other.write(bytes);
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { port: (server.address() as { port: number }).port, close };
}

test('a message that cannot be read ends nobody: it is a warning where nobody asks for it', async () => {
  const uncaught: unknown[] = [];
  const caught = (error: unknown): void => void uncaught.push(error);
  process.on('uncaughtException', caught);
  const { warn } = console;
  const warnings: unknown[][] = [];
  console.warn = (...said: unknown[]) => void warnings.push(said);
  try {
    const server = await listen('tcp:127.0.0.1:0');
    const proxy = await damaging(portIn(server.address));
    const join = async (): Promise<[Port, LinkedPort]> => [
      await connect(`tcp:127.0.0.1:${proxy.port}`),
      await within('a connection', take(server)),
    ];
    const [near, far] = await join();
    const got: unknown[] = [];
    far.onmessage = ({ data }) => got.push(data);
    near.postMessage({ x: 'millrace-marker' });
    near.postMessage('next');
    await until('the next one', () => got.length === 1);

    const [other, bridged] = await join();
    const { port, remote } = channel();
    const inner = attach(remote);
    const ended = bridge(bridged, port);
    other.postMessage({ x: 'millrace-marker' });
    other.postMessage('next');
    assert.equal(await within('the next one', inner.receiveAsync()), 'next');
    assert.deepEqual([got, warnings.length, uncaught], [['next'], 2, []]);
    assert.match(String(warnings[0]?.[1]), /CodecError/);
    inner.close();
    await within('its end', ended);
    await (near as LinkedPort).link.close();
    await server.close();
    proxy.close();
  } finally {
    console.warn = warn;
    process.off('uncaughtException', caught);
  }
});

test('a socket is accepted once', async () => {
  const listener = acceptor({ timeoutMs: 1000 });
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    listener.accept(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const near = await connect(`tcp:127.0.0.1:${(server.address() as { port: number }).port}`);
  assert.throws(() => listener.accept(sockets[0] as Socket), /twice/);
  for (const odd of [{ setKeepAlive() {}, write() {} }, { addEventListener() {} }])
    assert.throws(() => listener.accept(odd as never), { code: 'ERR_OPTION' });
  await near.link.close();
  await listener.close();
  server.close();
});

test('ws: where nobody listens, what the runtime says of it is said', async () => {
  const error = await rejection(connect(`ws://127.0.0.1:${await freePort()}/`));
  assert.match(String(error), /Cannot connect to ws:\S+: \w/);
});
