// Processes that end, crash, are killed, close and leave, over real sockets: what each posted right before, and what the other side is told.
// watchdog: 300 s
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CLOSED, type CloseReason, EMPTY, type Port } from '../../src/index.ts';
import { StreamConnection } from '../../src/transport/stream/connection.ts';
import { listening, socketTo } from '../kit/late-pair.ts';
import { SocketStream } from '../kit/socket-stream.ts';
import { portOver } from '../kit/stream-pair.ts';
import { STEP_MS, within } from '../kit/watchdog.ts';
import { runProgram, runtimeKind } from '../runtimes/program.ts';

const PROGRAM = fileURLToPath(new URL('./stream-sockets-program.js', import.meta.url));

interface Heard {
  readonly values: unknown[];
  readonly port: Port;
  readonly connection: StreamConnection;
  readonly status: number | string;
}

/** Runs a process that connects, tells it to go, and reads until its end. */
async function hear(
  kind: 'tcp' | 'unix',
  how: string,
  count: number,
  bytes = 0,
  windowBytes = 2 ** 24,
): Promise<Heard> {
  const { server, address } = await listening(kind);
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const ended = runProgram(PROGRAM, [String(address), how, String(count), String(bytes)], STEP_MS);
  const [socket] = await within('a connection', accepted);
  const stream = new SocketStream(socket);
  const connection = new StreamConnection(stream, { initiator: false, windowBytes }, { opened() {}, ended() {} });
  stream.connect(connection);
  const port = portOver(connection, connection.open('x'));
  await within('both ends', port.ready);
  port.postMessage('go');
  const values: unknown[] = [];
  for (;;) {
    const value = await within('a message', port.receiveAsync());
    if (value === CLOSED || value === EMPTY) break;
    values.push(value);
    if (value === 'answer') port.close();
    if (value === 'answer') break;
  }
  await within('the end', port.closed);
  const { status } = await ended;
  server.close();
  return { values, port, connection, status };
}

for (const kind of ['tcp', 'unix'] as const) {
  for (const [how, reason, status] of [
    ['exit', 'exit', 7],
    ['throw', 'crash', 1],
    ['kill', 'lost', 'SIGKILL'],
    ['close', 'closed', 0],
  ] as readonly (readonly [string, CloseReason, number | string])[]) {
    // Elsewhere than on Node this medium cannot write with the thread, nor read: its socket may take back what it has sent, or not have sent it.
    const keeps = runtimeKind === 'node' || how === 'close';
    test(`${kind}: a process that ends (${how}) is heard with its reason, after what it has just posted`, async () => {
      const { values, port, connection, status: code } = await hear(kind, how, 50, 100);
      if (keeps) {
        assert.equal(port.reason, reason);
        if (how !== 'kill')
          assert.deepEqual(
            values.map((value) => (value as [number])[0]),
            [...Array(50).keys()],
          );
      } else assert.ok([reason, 'lost'].includes(port.reason as string), port.reason);
      assert.equal(code, status);
      if (!keeps) return;
      const { error } = port as {
        error: { name?: string; message?: string; code?: string; stack?: string } | undefined;
      };
      if (how === 'throw') {
        assert.deepEqual([error?.name, error?.message, error?.code], ['RangeError', 'what it died of', 'ERR_OWN']);
        assert.match(error?.stack ?? '', /stream-sockets-program/);
      }
      assert.equal(connection.exit?.code, how === 'exit' ? 7 : how === 'throw' ? connection.exit?.code : undefined);
    });
  }

  test(`${kind}: a process that leaves answers, and ends with its last channel`, async () => {
    const { values, connection, status } = await hear(kind, 'leave', 0);
    assert.deepEqual([values, status, connection.peerLeaving?.text], [['answer'], 0, 'enough']);
    await within(
      'goodbye',
      (async () => {
        while (connection.ended === undefined) await new Promise((resolve) => setTimeout(resolve, 1));
      })(),
    );
    assert.equal(connection.ended, 'closed');
  });

  if (runtimeKind === 'node') {
    test(`${kind}: eight megabytes that were posted right before process.exit() arrive, for they are written with the thread`, async () => {
      const { values, port } = await hear(kind, 'exit', 80, 100_000);
      assert.deepEqual([port.reason, values.length], ['exit', 80]);
    });

    test(`${kind}: a process with three connections exits while the reader of one has stopped: the others get four megabytes each, and the end`, async () => {
      const { server, address } = await listening(kind);
      const sockets: Socket[] = [];
      const three = new Promise<void>((resolve) => {
        server.on('connection', (socket: Socket) => {
          if (sockets.push(socket) === 3) resolve();
        });
      });
      const ended = runProgram(PROGRAM, [String(address), 'exit-of-three', '40', '100000'], STEP_MS);
      await within('three connections', three);
      const sides = sockets.map((socket) => {
        const stream = new SocketStream(socket);
        const connection = new StreamConnection(
          stream,
          { initiator: false, windowBytes: 2 ** 24 },
          { opened() {}, ended() {} },
        );
        stream.connect(connection);
        return { socket, port: portOver(connection, connection.open('x')) };
      });
      await within('all ends', Promise.all(sides.map(({ port }) => port.ready)));
      const [stopped, ...others] = sides as [(typeof sides)[0], ...typeof sides];
      stopped.socket.pause();
      for (const { port } of others) port.postMessage('go');
      for (const { port } of others) {
        let count = 0;
        while ((await within('a message', port.receiveAsync())) !== CLOSED) count++;
        assert.deepEqual([count, port.reason], [40, 'exit']);
      }
      assert.equal((await ended).status, 7);
      stopped.socket.destroy();
      server.close();
    });
  }
}

// A TCP socket that goes with something unread takes back what it has sent, and the sockets of node:net on Bun and Deno drop what they have not
// read when a write fails: what comes whole there depends on when.
if (runtimeKind === 'node') {
  test('unix: what a peer has said before it went is heard, though what is said to it cannot go out any more', async () => {
    const { server, address } = await listening('unix');
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const sockets = [socketTo(address), (await within('a connection', accepted))[0]] as const;
    const streams = sockets.map((socket) => new SocketStream(socket));
    const connections = streams.map((stream, side) => {
      const options = { initiator: side === 0, windowBytes: 2 ** 18 };
      const connection = new StreamConnection(stream, options, { opened() {}, ended() {} });
      stream.connect(connection);
      return connection;
    });
    const [a, b] = connections.map((each) => portOver(each, each.open('x'))) as [Port, Port];
    await within('both ends', Promise.all([a.ready, b.ready]));
    sockets[1].pause();
    for (let i = 0; i < 15; i++) a.postMessage([i, 'x'.repeat(10_000)]);
    a.close();
    const written = once(sockets[0], 'finish');
    streams[0]?.end();
    await within('what is written', written);
    sockets[0].destroy();
    await within('the end of its socket', once(sockets[0], 'close'));
    const heard: unknown[] = [];
    b.on('message', (value) => heard.push((value as [number])[0]));
    sockets[1].resume();
    assert.equal(await within('the end', b.closed), 'closed');
    assert.deepEqual(heard, [...Array(15).keys()]);
    server.close();
  });
}

// Nobody can wait for the peer's end by then, as a TCP socket would have to.
test('unix: a process that posts six megabytes, closes its port and has nothing more to do writes all of them', async () => {
  const { server, address } = await listening('unix');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const ended = runProgram(PROGRAM, [String(address), 'return', '60', '100000'], STEP_MS);
  const [socket] = await within('a connection', accepted);
  const stream = new SocketStream(socket);
  const connection = new StreamConnection(
    stream,
    { initiator: false, windowBytes: 2 ** 24 },
    { opened() {}, ended() {} },
  );
  // Nothing is said to it but what makes it go: no write fails when it is gone.
  let bytes = 0;
  stream.connect(connection);
  const port = portOver(connection, connection.open('x'));
  await within('both ends', port.ready);
  socket.on('data', (chunk: Uint8Array) => {
    bytes += chunk.length;
  });
  port.postMessage('go');
  await within('the end', once(socket, 'end'));
  assert.ok(bytes > 6_000_000, `${bytes}`);
  assert.equal((await ended).status, 0);
  server.close();
});
