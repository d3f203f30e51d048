// What sab-message-port 1.0.4 got wrong and this door does not. Each test has a line in
// docs/guides/moving-from-sab-message-port.md.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { MessageChannel, Worker } from 'node:worker_threads';
import { SABMessagePort, SABPipe } from '../../src/compat/sab-message-port.ts';
import { features } from '../../src/index.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import { runProgram } from '../runtimes/program.ts';
import type { Task } from './sab-message-port-worker.ts';

const url = inOneFile(new URL('./sab-message-port-worker.js', import.meta.url));
const start = (task: Task): Worker => new Worker(url, { workerData: { task } });
const message = async (worker: Worker): Promise<unknown> => (await once(worker, 'message'))[0];
const disposed = new Error('SABPipe disposed');
const pair = (sizeKB = 256): [SABMessagePort, SABMessagePort] => {
  const a = new SABMessagePort('a', sizeKB);
  return [a, new SABMessagePort('b', a.buffer)];
};

test('postInit(worker) works: the shared buffer is not in the transfer list', async () => {
  const worker = start('echo-blocking');
  const port = new SABMessagePort();
  port.postInit(worker);
  port.postMessage({ end: true });
  assert.deepEqual(await port.asyncRead(), { end: true });
  await worker.terminate();
});

test('SABPipe has the buffer that its document uses', () => {
  const writer = new SABPipe('w');
  const reader = new SABPipe('r', writer.buffer);
  writer.postMessage('there');
  assert.equal(reader.tryRead(), 'there');
});

test('a value that is no JSON rejects its own promise, and the others go through', async () => {
  const [a, b] = pair();
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  const before = a.postMessage(1);
  const bigint = a.postMessage(10n);
  const cycle = a.postMessage(cyclic);
  const after = a.postMessage(2);
  await assert.rejects(bigint, TypeError);
  await assert.rejects(cycle, TypeError);
  await Promise.all([before, after]);
  assert.deepEqual(b.tryRead(10), [2, 1]);
});

test('a value that is no JSON rejects its own promise also behind a queue limit and in a full pipe', async () => {
  const [a, b] = pair(4);
  a.queueLimit = 100;
  const full = a.postMessage('x'.repeat(20_000));
  await assert.rejects(a.postMessage(10n), TypeError);
  const after = a.postMessage('after');
  assert.equal(((await b.asyncRead()) as string).length, 20_000);
  assert.equal(await b.asyncRead(), 'after');
  await Promise.all([full, after]);
});

test('a message is what it was when it was posted', () => {
  const [a, b] = pair();
  const value = { n: 1 };
  a.queueLimit = 10;
  void a.postMessage(value);
  value.n = 2;
  a.queueLimit = null;
  void a.postMessage(value);
  assert.deepEqual(b.tryRead(10), [{ n: 2 }, { n: 1 }]);
});

test('a promise that is pending at close rejects, and nobody need be listening', async () => {
  const [a, b] = pair(4);
  const written = a.postMessage('x'.repeat(50_000));
  void a.postMessage('nobody looks at this one');
  const read = b.asyncRead(60_000);
  b.close();
  await assert.rejects(read, disposed);
  await assert.rejects(written, disposed);
});

test('a second asyncRead waits its turn', async () => {
  const [a, b] = pair();
  const reads = [b.asyncRead(), b.asyncRead(60_000), b.asyncRead(60_000, 5)];
  for (const n of [1, 2, 3, 4]) a.postMessage(n);
  assert.deepEqual(await Promise.all(reads), [1, 2, [4, 3]]);
});

test('a reader whose time is up leaves the line to the others', async () => {
  const [a, b] = pair();
  const first = b.asyncRead(1);
  const second = b.asyncRead();
  assert.equal(await first, null);
  a.postMessage('for the second');
  assert.equal(await second, 'for the second');
});

test('between two messages the microtasks of the first one run', async () => {
  const [a, b] = pair();
  const order: string[] = [];
  const all = new Promise<void>((resolve) => {
    b.onmessage = (e) => {
      order.push(`m${e.data}`);
      void Promise.resolve().then(() => {
        order.push(`micro${e.data}`);
        if (e.data === 3) resolve();
      });
    };
  });
  for (const n of [1, 2, 3]) a.postMessage(n);
  await all;
  assert.deepEqual(order, ['m1', 'micro1', 'm2', 'micro2', 'm3', 'micro3']);
  b.close();
});

test('a worker that never returns to its event loop gets a reply out that is larger than the buffer', async () => {
  const worker = start('big-reply');
  const port = new SABMessagePort('a', 16);
  port.postInit(worker);
  port.postMessage({ length: 200_000 });
  assert.equal(((await port.asyncRead()) as string).length, 200_000);
  port.postMessage({ end: true });
  assert.deepEqual(await port.asyncRead(), { end: true });
  await worker.terminate();
});

test('what a thread wrote before it ended can still be read; then what would wait for ever throws', async () => {
  const worker = start('exit-after-post');
  const port = new SABMessagePort();
  port.postInit(worker);
  await once(worker, 'exit');
  for (let n = 0; n < 10; n++) assert.deepEqual(port.read(), { n });
  assert.throws(() => port.read(), disposed);
  await assert.rejects(() => port.asyncRead(), disposed);
});

test('a reader that is blocked when the other thread ends is woken', () => {
  const worker = start('exit-after-post');
  const port = new SABMessagePort();
  port.postInit(worker);
  let count = 0;
  assert.throws(() => {
    for (;;) {
      port.read();
      count++;
    }
  }, disposed);
  assert.equal(count, 10);
});

const siblings = [
  { door: 'SABMessagePort', reader: 'that made the port', makes: true },
  { door: 'SABMessagePort', reader: 'that was handed the port', makes: false },
  { door: 'MWChannel', reader: 'that was handed the channel', makes: false },
];
for (const { door, reader, makes } of siblings) {
  test(`${door}: a reader ${reader} is woken when the other thread is killed while it is blocked`, async () => {
    const { port1, port2 } = new MessageChannel();
    const blocked = start('sibling');
    const killed = start('sibling');
    blocked.postMessage({ sibling: port1, door, makes, reads: true }, [port1]);
    killed.postMessage({ sibling: port2, door, makes: !makes, reads: false }, [port2]);
    assert.equal(await message(blocked), 'up');
    const second = message(blocked);
    await killed.terminate();
    // Elsewhere nobody can tell, as the guide says; the reader would sleep on.
    if (features().probesPeers) assert.equal(await second, 'SABPipe disposed');
    await blocked.terminate();
  });
}

test('a port that was handed to a second thread does not end with the first one', async () => {
  const first = new Worker('setInterval(() => {}, 1e6)', { eval: true });
  const second = start('echo-blocking');
  const port = new SABMessagePort();
  port.postInit(first);
  await once(first, 'online');
  port.postInit(second);
  await first.terminate();
  for (let n = 0; n < 20; n++) {
    port.postMessage({ n });
    assert.deepEqual(await port.asyncRead(), { n });
  }
  await second.terminate();
});

test('onmessage is given what was there when the other side closed', async () => {
  const worker = start('close-after-post');
  const port = new SABMessagePort();
  port.postInit(worker);
  await once(worker, 'exit');
  const seen: unknown[] = [];
  await new Promise<void>((resolve) => {
    port.onmessage = (e) => {
      seen.push(e.data);
      if (seen.length === 10) resolve();
    };
  });
  assert.equal(seen.length, 10);
  port.close();
});

test('a thread that was killed settles a pending asyncRead and a pending postMessage', async () => {
  const worker = start('wait-forever');
  const port = new SABMessagePort('a', 4);
  port.postInit(worker);
  assert.equal(await message(worker), 'waiting');
  const read = port.asyncRead();
  const settled = Promise.allSettled([read]);
  await worker.terminate();
  assert.equal(((await settled)[0] as PromiseRejectedResult).reason.message, 'SABPipe disposed');

  const idle = new Worker(url, { workerData: { task: 'mw-quiet' } });
  const writer = new SABMessagePort('a', 4);
  writer.postInit(idle);
  const written = Promise.allSettled([writer.postMessage('x'.repeat(50_000))]);
  await idle.terminate();
  assert.equal(((await written)[0] as PromiseRejectedResult).reason.message, 'SABPipe disposed');
});

test('a new reader in a new thread takes the place of one that ended', async () => {
  const writer = new SABPipe('w', 4096);
  const run = async (): Promise<unknown> => {
    const worker = new Worker(url, { workerData: { task: 'pipe-count', buffer: writer.buffer } });
    const [answer] = await Promise.all([message(worker), once(worker, 'exit')]);
    return answer;
  };
  const first = run();
  writer.postMessage({ n: 1 });
  writer.postMessage({ n: -1 });
  assert.deepEqual(await first, { count: 1, sum: 1 });
  const reader = new SABPipe('r', writer.buffer);
  writer.postMessage('again');
  assert.equal(await reader.asyncRead(), 'again');
  writer.close();
});

for (const kind of ['SABMessagePort', 'MWChannel']) {
  test(`${kind}: onmessage alone keeps the process alive, unref lets it go`, async () => {
    const program = fileURLToPath(new URL('./keep-alive-program.js', import.meta.url));
    const held = await runProgram(program, ['held', kind], 30_000);
    assert.match(held.output, /delivered/);
    assert.equal(held.status, 0);
    const released = await runProgram(program, ['released', kind], 30_000);
    assert.doesNotMatch(released.output, /delivered/);
    assert.equal(released.status, 0);
  });
}

test('hasRef tells whether something waits; a closed port holds nothing', async () => {
  const [a, b] = pair();
  assert.equal(b.hasRef(), false);
  b.onmessage = () => {};
  assert.equal(b.hasRef(), true);
  b.unref();
  assert.equal(b.hasRef(), false);
  b.ref();
  b.onmessage = null;
  assert.equal(b.hasRef(), false);
  const read = b.asyncRead();
  assert.equal(b.hasRef(), true);
  a.close();
  await assert.rejects(read, disposed);
  assert.equal(b.hasRef(), false);
});
