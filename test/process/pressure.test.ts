// What a socket of ours says of its room, where the other side does not read.
import assert from 'node:assert/strict';
import { createServer, connect as netConnect, type Socket } from 'node:net';
import { test } from 'node:test';
import { SocketStream } from '../../src/transport/process/socket-stream.ts';
import { turn, until, within } from '../kit/watchdog.ts';

test('a socket that is not read says that it is enough, and once that it takes more when it is read', async () => {
  const server = createServer({ pauseOnConnect: true });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const taken = new Promise<Socket>((resolve) => server.once('connection', resolve));
  const ours = netConnect({
    port: (server.address() as { port: number }).port,
    host: '127.0.0.1',
    allowHalfOpen: true,
  });
  const theirs = await within('a connection', taken);
  const stream = new SocketStream(ours);
  let drained = 0;
  stream.connect({
    received() {},
    drained() {
      drained++;
    },
    closed() {},
  });
  const piece = new Uint8Array(65_536);
  let bytes = 0;
  // What the system takes for a while, and then a quarter of a MiB.
  for (let more = true; more; bytes += piece.length) {
    assert.ok(bytes < 2 ** 26, 'it has taken 64 MiB that nobody reads');
    more = stream.write(piece);
    await turn();
  }
  assert.equal(drained, 0);
  let came = 0;
  theirs.on('data', (chunk: Uint8Array) => {
    came += chunk.length;
  });
  theirs.resume();
  await until('all has come', () => came === bytes);
  await until('it takes more', () => drained > 0);
  assert.equal(drained, 1);
  stream.destroy();
  theirs.destroy();
  server.close();
});
