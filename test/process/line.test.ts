// A line's descriptor: what is said behind its end is written to nobody who has that number by then.
import assert from 'node:assert/strict';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { SocketStream } from '../../src/transport/process/socket-stream.ts';
import { until, within } from '../kit/watchdog.ts';

/** A connected socket by which `SocketStream` goes, and what has come at its other end. */
async function line(t: TestContext, received: (bytes: Uint8Array, stream: SocketStream) => void = () => {}) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-line-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  let came = '';
  const server = createServer((far) => {
    far.on('error', () => {});
    far.on('data', (bytes) => {
      came += bytes;
      far.emit('came');
    });
    t.after(() => far.destroy());
    arrived(far);
  });
  t.after(() => server.close());
  let arrived: (far: Socket) => void = () => {};
  const far = new Promise<Socket>((resolve) => {
    arrived = resolve;
  });
  await new Promise<void>((resolve) => server.listen(join(folder, 's'), resolve));
  const near = connect({ path: join(folder, 's'), allowHalfOpen: true });
  await new Promise((resolve) => near.once('connect', resolve));
  t.after(() => near.destroy());
  const stream = new SocketStream(near);
  const over = new Promise<void>((resolve) => {
    stream.connect({ received: (bytes) => received(bytes, stream), drained() {}, closed: () => resolve() });
  });
  return { folder, stream, near, far: await far, came: () => came, over };
}

test('bytes that are said behind the end of a line are written to no file that has its number by then', async (t) => {
  const { folder, stream, far, came } = await line(t);
  const heard = new Promise((resolve) => far.once('came', resolve));
  stream.write(new TextEncoder().encode('before'));
  await heard;
  stream.destroy();
  // The number is free at once, and the line hears of its end in a turn to come.
  const files: number[] = [];
  for (let i = 0; i < 8; i++) files.push(openSync(join(folder, String(i)), 'w+'));
  stream.write(new TextEncoder().encode('behind'));
  stream.flushSync?.(0);
  await new Promise((resolve) => setImmediate(resolve));
  for (const each of files) closeSync(each);
  assert.equal(files.map((_, i) => readFileSync(join(folder, String(i)), 'utf8')).join(''), '');
  assert.equal(came(), 'before');
});

test('what is to go with a write goes with it, once, and behind what was said before', async (t) => {
  const { stream, far, came } = await line(t);
  const encoder = new TextEncoder();
  let asked = 0;
  const heard = new Promise((resolve) => far.once('came', resolve));
  stream.write(encoder.encode('a'));
  const takes = stream.beforeWrite(() => {
    asked++;
    stream.write(encoder.encode('b'));
  });
  assert.equal(takes, true);
  await heard;
  assert.deepEqual([came(), asked], ['ab', 1]);
});

test('what came to a line that was told to stop comes in its order when a write fails, behind what was taken before', async (t) => {
  const got: number[] = [];
  const { stream, near, far, over } = await line(t, (bytes, stream) => {
    got.push(...new Uint32Array(bytes.slice().buffer, 0, bytes.length >>> 2));
    stream.flow(false);
  });
  // More than the runtime takes at a time, and than the system keeps beside that.
  far.write(new Uint8Array(Uint32Array.from({ length: 1 << 18 }, (_, i) => i).buffer));
  await until('some that the runtime has', () => near.readableLength > 0);
  const before = got.length;
  far.destroy();
  stream.write(new Uint8Array(8));
  await within('the end', over);
  assert.ok(got.length > before, 'nothing came when the write had failed');
  assert.equal(
    got.findIndex((number, i) => number !== i),
    -1,
  );
});
