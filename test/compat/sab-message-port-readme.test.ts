// sab-message-port 1.0.4, sentence by sentence, SABPipe and SABMessagePort: each test quotes the section of its README
// and the sentence it holds us to. MWChannel is in sab-message-port-channel.test.ts, what were faults in
// sab-message-port-faults.test.ts.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setImmediate as immediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { SABMessagePort, SABPipe } from '../../src/compat/sab-message-port.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import type { Given, Task } from './sab-message-port-worker.ts';

const url = inOneFile(new URL('./sab-message-port-worker.js', import.meta.url));
const start = (task: Task, given: Partial<Given> = {}): Worker => new Worker(url, { workerData: { task, ...given } });
const message = async (worker: Worker): Promise<unknown> => (await once(worker, 'message'))[0];
const pair = (sizeKB = 256, limit: number | null = null): [SABMessagePort, SABMessagePort] => {
  const a = new SABMessagePort('a', sizeKB, limit);
  return [a, new SABMessagePort('b', a.buffer, limit)];
};
const pipes = (bytes = 131072, limit: number | null = null): [SABPipe, SABPipe] => {
  const writer = new SABPipe('w', bytes, 0, null, limit);
  return [writer, new SABPipe('r', writer.buffer, 0, null, limit)];
};
const errorOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    return (error as Error).message;
  }
  return 'no error';
};

test('Quick Start: main posts ping to a worker and receives an answer', async () => {
  const worker = start('echo-async');
  const port = new SABMessagePort();
  port.postInit(worker);
  const answer = new Promise((resolve) => {
    port.onmessage = (e) => resolve(e.data);
  });
  port.postMessage({ cmd: 'ping', end: true });
  assert.deepEqual(await answer, { cmd: 'ping', end: true });
  port.close();
  await worker.terminate();
});

test('Blocking Reads with Interrupt: "port.tryRead() checks for signals mid-computation, all without yielding to the event loop"', async () => {
  const worker = start('sync-loop');
  const port = new SABMessagePort();
  port.postInit(worker);
  port.postMessage({ cmd: 'run', task: 'A' });
  const first = (await port.asyncRead()) as { task: string; step: number };
  assert.equal(first.task, 'A');
  port.postMessage({ cmd: 'abort' });
  port.postMessage({ cmd: 'run', task: 'B' });
  let last: Record<string, unknown> = first;
  const steps: unknown[] = [];
  while (last.task !== 'B') {
    last = (await port.asyncRead()) as Record<string, unknown>;
    if (last.aborted === true) steps.push(last.task);
  }
  assert.deepEqual(steps, ['A']);
  port.postMessage({ cmd: 'abort' });
  port.postMessage({ cmd: 'stop' });
  while ((last as { aborted?: boolean }).aborted !== true) last = (await port.asyncRead()) as Record<string, unknown>;
  port.close();
  await worker.terminate();
});

test('SABMessagePort: "both sides can read and write simultaneously — full duplex"', () => {
  const [a, b] = pair();
  a.postMessage('to b');
  b.postMessage('to a');
  assert.equal(a.read(), 'to a');
  assert.equal(b.read(), 'to b');
});

test('SABMessagePort: "all messages must be JSON-serializable (they go through JSON.stringify/JSON.parse internally)"', () => {
  const [a, b] = pair();
  const values: [unknown, unknown][] = [
    [{ a: [1, 'x', null, true] }, { a: [1, 'x', null, true] }],
    [Number.NaN, null],
    [undefined, null],
    [() => 1, null],
    [Symbol('s'), null],
    [new Map([[1, 2]]), {}],
    [new Uint8Array([1]), { '0': 1 }],
    [new Date(0), '1970-01-01T00:00:00.000Z'],
    [{ a: undefined, b: -0 }, { b: 0 }],
    ['\ud800 é 漢 😀', '\ud800 é 漢 😀'],
    ['', ''],
    [0, 0],
  ];
  for (const [sent, received] of values) {
    a.postMessage(sent);
    assert.deepEqual(b.tryRead(), received);
  }
});

test('SABMessagePort: "message ordering is FIFO — messages are always delivered in the order they were sent"', async () => {
  const worker = start('echo-blocking');
  const port = new SABMessagePort('a', 4);
  port.postInit(worker);
  const count = 500;
  const received: unknown[] = [];
  const done = new Promise<void>((resolve) => {
    port.onmessage = ({ data }) => {
      received.push((data as { n: number }).n);
      if (received.length === count) resolve();
    };
  });
  // Some larger than a quarter of the buffer, some than all of it.
  for (let n = 0; n < count; n++) {
    const end = n === count - 1;
    port.postMessage({ n, end, text: 'x'.repeat(n % 100 === 0 ? 9000 : n % 10 === 0 ? 700 : n % 50) });
  }
  await done;
  assert.deepEqual(
    received,
    Array.from({ length: count }, (_, n) => n),
  );
  port.close();
  await worker.terminate();
});

test('new SABMessagePort: "side = \'a\', sizeKB = 256", split in half, or an existing SharedArrayBuffer', () => {
  assert.equal(new SABMessagePort().buffer.byteLength, 256 * 1024);
  assert.equal(new SABMessagePort('a', 512).buffer.byteLength, 512 * 1024);
  const sab = new SharedArrayBuffer(64 * 1024);
  assert.equal(new SABMessagePort('a', sab).buffer, sab);
  assert.equal(SABMessagePort.length, 0);
  assert.equal(SABPipe.length, 1);
});

test("new SABMessagePort: \"throws if side is not 'a' or 'b'\"", () => {
  for (const side of ['c', '', null, 1] as never[]) {
    assert.equal(
      errorOf(() => new SABMessagePort(side)),
      "side must be 'a' or 'b'",
    );
  }
});

test('SABMessagePort.from: "throws if initMsg.type !== \'SABMessagePort\'"', () => {
  for (const wrong of [{ type: 'MWChannel' }, {}, null, undefined, 5] as never[]) {
    assert.equal(
      errorOf(() => SABMessagePort.from(wrong)),
      'Not a SABMessagePort init message',
    );
  }
});

test('port.postInit: "additional properties merged into the init message"; "calls target.postMessage"', () => {
  const port = new SABMessagePort();
  const calls: unknown[] = [];
  assert.equal(port.postInit({ postMessage: (data: unknown) => calls.push(data) }, { channel: 'rpc' }), undefined);
  assert.deepEqual(calls, [{ type: 'SABMessagePort', buffer: port.buffer, channel: 'rpc' }]);
});

test('port.postInit: "when target is null, returns [data, transferList] where transferList is [sharedArrayBuffer]"', () => {
  const port = new SABMessagePort();
  const [data, transfer] = port.postInit(null, { channel: 'rpc' });
  assert.deepEqual(data, { type: 'SABMessagePort', buffer: port.buffer, channel: 'rpc' });
  assert.ok(Array.isArray(transfer));
  assert.equal(transfer.length, 1);
  assert.equal(transfer[0] as unknown, port.buffer);
});

test('port.postInit: "Manual — worker.postMessage(data, transfer)" arrives', async () => {
  const worker = start('echo-async');
  const port = new SABMessagePort();
  const [data, transfer] = port.postInit(null, { channel: 'rpc' });
  worker.postMessage(data, transfer as never);
  port.postMessage({ end: true });
  assert.deepEqual(await port.asyncRead(), { end: true });
  port.close();
  await worker.terminate();
});

test('port.postMessage: "returns a promise that resolves when the message has been written to the shared buffer"', async () => {
  const [a, b] = pair();
  const written = a.postMessage({ action: 'save' });
  assert.ok(written instanceof Promise);
  assert.equal(await written, undefined);
  assert.deepEqual(b.tryRead(), { action: 'save' });
});

test('port.postMessage: the promise of a message that found no room resolves once the reader has made some', async () => {
  const [a, b] = pair(4);
  let written = false;
  const last = a.postMessage('x'.repeat(10_000)).then(() => {
    written = true;
  });
  await immediate();
  assert.equal(written, false);
  assert.equal(((await b.asyncRead()) as string).length, 10_000);
  await last;
});

test('port.postMessage: "throws if the port has been closed"', () => {
  const [a] = pair();
  a.close();
  assert.equal(
    errorOf(() => a.postMessage(1)),
    'SABPipe disposed',
  );
});

test('port.onmessage: "the handler receives an event object with a data property"; "setting null stops it"', async () => {
  const [a, b] = pair();
  const seen: unknown[] = [];
  const first = new Promise<void>((resolve) => {
    b.onmessage = (e) => {
      assert.deepEqual(Object.keys(e), ['data']);
      seen.push(e.data);
      b.onmessage = null;
      resolve();
    };
  });
  a.postMessage(1);
  a.postMessage(2);
  await first;
  await immediate();
  assert.deepEqual(seen, [1]);
  assert.equal(b.tryRead(), 2, 'what came after stays for others to read');
  b.onmessage = undefined as never;
  assert.equal(b.onmessage, null);
});

test('port.onmessage, mutual exclusion: "you cannot call read(), asyncRead(), or tryRead() while an onmessage handler is active"', async () => {
  const [, b] = pair();
  b.onmessage = () => {};
  assert.equal(
    errorOf(() => b.read()),
    'Cannot call read while onmessage is active',
  );
  assert.equal(
    errorOf(() => b.tryRead()),
    'Cannot call read while onmessage is active',
  );
  assert.equal(
    errorOf(() => b.tryPeek()),
    'Cannot call tryPeek while onmessage is active',
  );
  await assert.rejects(() => b.asyncRead(), new Error('Cannot call asyncRead while onmessage is active'));
  b.onmessage = null;
  assert.equal(b.tryRead(), null);
});

test('port.onmessage, error resilience: "if the handler throws, the error is silently caught and the message loop continues"', async () => {
  const [a, b] = pair();
  const seen: unknown[] = [];
  const both = new Promise<void>((resolve) => {
    b.onmessage = (e) => {
      seen.push(e.data);
      if (e.data === 2) resolve();
      else throw new Error('mine');
    };
  });
  a.postMessage(1);
  a.postMessage(2);
  await both;
  assert.deepEqual(seen, [1, 2]);
  b.close();
});

test('port.onmessage, re-assignment: "replaces the current one immediately — no gap in delivery and no duplicate loops"', async () => {
  const [a, b] = pair();
  const seen: string[] = [];
  const all = new Promise<void>((resolve) => {
    const second = (e: { data: unknown }): void => {
      seen.push(`second ${e.data}`);
      if (e.data === 3) resolve();
    };
    b.onmessage = (e) => {
      seen.push(`first ${e.data}`);
      b.onmessage = second;
    };
  });
  for (const n of [1, 2, 3]) a.postMessage(n);
  await all;
  assert.deepEqual(seen, ['first 1', 'second 2', 'second 3']);
  b.close();
});

test('port.asyncRead: "maxMessages = 1: returns a single message, or null if timeout expired with no data"', async () => {
  const [a, b] = pair();
  assert.equal(await b.asyncRead(0), null);
  assert.equal(await b.asyncRead(5), null);
  const waiting = b.asyncRead();
  a.postMessage('here');
  assert.equal(await waiting, 'here');
});

test('port.asyncRead: "maxMessages > 1: an array newest-first, up to maxMessages; [] if timeout expired with no data"', async () => {
  const [a, b] = pair();
  assert.deepEqual(await b.asyncRead(0, 10), []);
  assert.deepEqual(await b.asyncRead(5, 10), []);
  for (const n of [0, 1, 2]) a.postMessage(n);
  assert.deepEqual(await b.asyncRead(1000, 2), [1, 0]);
  assert.deepEqual(await b.asyncRead(0, 10), [2]);
});

test('port.asyncRead: "throws if the port has been closed"', async () => {
  const [a, b] = pair();
  a.close();
  await assert.rejects(() => a.asyncRead(), new Error('SABPipe disposed'));
  await assert.rejects(() => b.asyncRead(), new Error('SABPipe disposed'));
});

test('port.read: "blocks until data arrives or timeout expires", null and [] at the timeout, newest first', async () => {
  const worker = start('read-then-report');
  const port = new SABMessagePort();
  const answers = message(worker);
  for (const n of [0, 1, 2, 3]) port.postMessage(n);
  port.postInit(worker, {
    reads: [
      [1000, 1],
      [1000, 10],
      [1, 1],
      [1, 5],
      [0, 1],
    ],
  });
  assert.deepEqual(await answers, [0, [3, 2, 1], null, [], null]);
  const text = message(worker);
  port.close();
  assert.equal(await text, 'SABPipe disposed', 'closing unblocks a blocked reader');
  await worker.terminate();
});

test('port.read: "blocking = false: returns immediately"; timeout is ignored', () => {
  const [a, b] = pair();
  assert.equal(b.read(60_000, false), null);
  assert.deepEqual(b.read(60_000, false, 3), []);
  a.postMessage('x');
  assert.equal(b.read(0, false), 'x');
});

test('port.tryRead: "equivalent to port.read(0, false, maxMessages)"', () => {
  const [a, b] = pair();
  assert.equal(b.tryRead(), null);
  assert.deepEqual(b.tryRead(10), []);
  for (const n of [0, 1, 2]) a.postMessage(n);
  assert.deepEqual(b.tryRead(0), []);
  assert.deepEqual(b.read(undefined, true, 0), [], 'nothing asked for, nothing to wait for');
  assert.equal(b.tryRead(), 0);
  const rest = b.tryRead(10) as number[];
  assert.deepEqual(rest, [2, 1]);
  assert.equal(rest.pop(), 1, 'pop() processes in send order');
});

test('port.tryPeek: "returns the next message without removing it from the queue", or null', () => {
  const [a, b] = pair();
  assert.equal(b.tryPeek(), null);
  a.postMessage('x');
  assert.equal(b.tryPeek(), 'x');
  assert.equal(b.tryPeek(), 'x');
  assert.equal(b.tryRead(), 'x');
  assert.equal(b.tryPeek(), null);
});

test('port.queueLimit: "when the queue exceeds the limit, the oldest messages are silently discarded" (write queue)', async () => {
  const [a, b] = pair(256, null);
  a.queueLimit = 2;
  const promises = [1, 2, 3, 4, 5].map((n) => a.postMessage(n));
  await Promise.all(promises);
  assert.deepEqual(b.tryRead(10), [5, 4]);
});

test('port.queueLimit: "applies to both the internal write queue and read queue"', () => {
  const [a, b] = pair();
  b.queueLimit = 2;
  for (const n of [1, 2, 3, 4, 5]) a.postMessage(n);
  assert.deepEqual(b.tryRead(10), [5, 4]);
});

test('port.queueLimit: "setting a lower limit immediately trims the existing queue"', () => {
  const [writer, reader] = pipes();
  for (const n of [1, 2, 3]) writer.postMessage(n);
  reader.queueLimit = 10;
  assert.equal(reader.tryPeek(), 1);
  reader.queueLimit = 1;
  assert.equal(reader.tryPeek(), 3);
  reader.queueLimit = null;
  for (const n of [4, 5]) writer.postMessage(n);
  assert.deepEqual(reader.tryRead(9), [5, 4, 3]);
});

test('port.queueLimit: "null (default) or non-negative integer", by constructor, from() and setter', () => {
  assert.equal(new SABMessagePort().queueLimit, null);
  const port = new SABMessagePort('a', 256, 5);
  assert.equal(port.queueLimit, 5);
  port.queueLimit = 10;
  assert.equal(port.queueLimit, 10);
  assert.equal(SABMessagePort.from({ type: 'SABMessagePort', buffer: port.buffer }, 7).queueLimit, 7);
  for (const wrong of [-1, 1.5, '3', undefined, Number.NaN] as never[]) {
    assert.equal(
      errorOf(() => {
        port.queueLimit = wrong;
      }),
      'queueLimit must be null or a non-negative integer',
    );
  }
  assert.equal(port.queueLimit, 10);
});

test('port.queueLimit: 0 drops everything', async () => {
  const [a, b] = pair();
  a.queueLimit = 0;
  await a.postMessage('gone');
  assert.equal(b.tryRead(), null);
});

test('port.onQueueOverflow: "receives the overflowing queue array by reference — the callback can inspect, log, or modify it"', async () => {
  const [a, b] = pair();
  const sizes: number[] = [];
  a.queueLimit = 3;
  a.onQueueOverflow = (queue) => {
    sizes.push(queue.length);
    queue.splice(1, 2);
  };
  for (const n of [1, 2, 3, 4, 5]) a.postMessage(n);
  await a.postMessage(6);
  assert.deepEqual(sizes, [4, 4]);
  assert.deepEqual(b.tryRead(10), [6, 1]);
});

test('port.onQueueOverflow: "after the callback returns, the queue is truncated only if it still exceeds the limit"', () => {
  const [writer, reader] = pipes();
  const shown: unknown[][] = [];
  reader.queueLimit = 2;
  reader.onQueueOverflow = (queue) => shown.push([...queue]);
  for (const n of [1, 2, 3]) writer.postMessage(n);
  assert.deepEqual(reader.tryRead(10), [3, 2]);
  assert.deepEqual(shown, [[1, 2, 3]]);
  reader.onQueueOverflow = null;
  assert.equal(reader.onQueueOverflow, null);
});

test('port.close: "after closing, all postMessage(), read(), asyncRead(), and tryRead() calls will throw"; safe to repeat', async () => {
  const [a, b] = pair();
  a.close();
  a.close();
  for (const port of [a, b]) {
    for (const run of [() => port.postMessage(1), () => port.read(), () => port.tryRead(), () => port.tryPeek()]) {
      assert.equal(errorOf(run), 'SABPipe disposed');
    }
    await assert.rejects(() => port.asyncRead(), new Error('SABPipe disposed'));
  }
  assert.ok(a.buffer instanceof SharedArrayBuffer, 'port.buffer stays');
});

test('port.close: "unblocks any waiting readers/writers by signaling disposal"', async () => {
  const [a, b] = pair(4);
  const reading = b.asyncRead();
  const writing = a.postMessage('x'.repeat(50_000));
  const both = Promise.allSettled([reading, writing]);
  a.close();
  assert.deepEqual(
    (await both).map((it) => (it as PromiseRejectedResult).reason.message),
    ['SABPipe disposed', 'SABPipe disposed'],
  );
});

test("SABPipe: \"role 'w' or 'r'. Throws if invalid\"; statics and fields", () => {
  for (const role of ['x', '', undefined] as never[]) {
    assert.equal(
      errorOf(() => new SABPipe(role)),
      "Invalid role parameter: must be 'r' or 'w'",
    );
  }
  const writer = new SABPipe('w');
  assert.equal(writer.buffer.byteLength, 131072);
  assert.equal(writer.isWriter, true);
  assert.equal(writer.isReader, false);
  assert.equal(Atomics.load(writer.i32 as Int32Array, SABPipe.STATUS), SABPipe.STATUS_ACTIVE);
  assert.deepEqual(
    [SABPipe.RW_SIGNAL, SABPipe.W_DATA_LEN, SABPipe.NUM_PARTS, SABPipe.PART_INDEX, SABPipe.CONTROL_TOP],
    [1, 2, 3, 4, 8],
  );
  assert.deepEqual([SABPipe.STATUS_DISPOSED, SABPipe.RW_CAN_WRITE, SABPipe.RW_CAN_READ], [-1, 0, 1]);
  assert.deepEqual([SABPipe.RESERVED_1, SABPipe.RESERVED_2, SABPipe.RESERVED_3, SABPipe.DATA_OFFSET], [5, 6, 7, 32]);
});

test('SABPipe: "byteOffset, sectionSize: must share the same SharedArrayBuffer (and same offset/section)"', async () => {
  const sab = new SharedArrayBuffer(10_000);
  for (const [offset, size] of [
    [0, 3000],
    [3000, 1004],
    [4004, 1000],
    [5004, 236],
    [5240, 140],
    [5380, null],
  ] as const) {
    const writer = new SABPipe('w', sab, offset, size);
    const reader = new SABPipe('r', sab, offset, size);
    for (let n = 0; n < 30; n++) {
      const text = 'é'.repeat(n * 11);
      // Longer than most of the sections, so both take several turns.
      const written = writer.postMessage({ n, text });
      assert.deepEqual(await reader.asyncRead(), { n, text });
      await written;
    }
  }
  assert.throws(() => new SABPipe('w', sab, 2), RangeError);
});

test('SABPipe: a section too small to carry anything is accepted, with its maxChunk', () => {
  assert.equal(new SABPipe('w', 16).maxChunk, -16);
  assert.equal(new SABPipe('w', 131072).maxChunk, 131072 - 32);
});

test('SABPipe: "role enforcement is strict. Calling the wrong method throws"', async () => {
  const [writer, reader] = pipes();
  assert.equal(
    errorOf(() => reader.postMessage(1)),
    'Only writer can write',
  );
  assert.equal(
    errorOf(() => writer.read()),
    'Only reader can read',
  );
  assert.equal(
    errorOf(() => writer.tryRead()),
    'Only reader can read',
  );
  assert.equal(
    errorOf(() => writer.tryPeek()),
    'Only reader can peek',
  );
  assert.equal(
    errorOf(() => {
      writer.onmessage = () => {};
    }),
    'Only reader can set onmessage',
  );
  await assert.rejects(() => writer.asyncRead(), new Error('Only reader can read'));
});

test('SABPipe: checks come in one order, role, onmessage, disposed', () => {
  const [writer, reader] = pipes();
  reader.onmessage = () => {};
  reader.close();
  assert.equal(
    errorOf(() => reader.read()),
    'Cannot call read while onmessage is active',
  );
  assert.equal(
    errorOf(() => writer.read()),
    'Only reader can read',
  );
});

test('pipe.close() / pipe.destroy(): "after disposal, all read/write operations throw \'SABPipe disposed\'. Safe to call multiple times"', () => {
  for (const end of ['close', 'destroy'] as const) {
    const [writer, reader] = pipes();
    writer.postMessage('unread');
    writer[end]();
    writer[end]();
    assert.equal(
      errorOf(() => writer.postMessage(1)),
      'SABPipe disposed',
    );
    assert.equal(
      errorOf(() => reader.read()),
      'SABPipe disposed',
    );
    assert.equal(writer.i32, null);
  }
});

test('pipe.isDisposed(): "returns true if the pipe has been disposed (by either side)"', () => {
  const [writer, reader] = pipes();
  assert.equal(writer.isDisposed(), false);
  reader.destroy();
  assert.equal(writer.isDisposed(), true);
  assert.equal(reader.isDisposed(), true);
});

test('Message Batching: "3 messages batched"; one by one, or all at once, newest first', () => {
  const [writer, reader] = pipes();
  for (const id of [0, 1, 2]) writer.postMessage({ id });
  assert.deepEqual(reader.read(), { id: 0 });
  assert.deepEqual(reader.read(), { id: 1 });
  assert.deepEqual(reader.read(), { id: 2 });
  for (const id of [0, 1, 2]) writer.postMessage({ id });
  const all = reader.read(Number.POSITIVE_INFINITY, true, 10) as unknown[];
  assert.deepEqual(all, [{ id: 2 }, { id: 1 }, { id: 0 }]);
  assert.deepEqual(all.pop(), { id: 0 });
});

test('Large Messages & Chunking: "messages larger than the buffer\'s data section are automatically split and reassembled"', async () => {
  const worker = start('echo-blocking');
  const port = new SABMessagePort('a', 8);
  port.postInit(worker);
  for (const length of [4000, 4096, 8192, 100_000, 1_000_000]) {
    const text = 'aé漢😀'.repeat(length / 5);
    port.postMessage({ text });
    assert.deepEqual(await port.asyncRead(), { text });
  }
  port.postMessage({ end: true });
  await port.asyncRead();
  await worker.terminate();
});

test('Large Messages & Chunking: "during a multipart read, timeout is suspended"', async () => {
  const [writer, reader] = pipes(1024);
  const text = 'x'.repeat(20_000);
  // The first part is there; the rest comes only as the event loop turns, after the limit.
  const written = writer.postMessage(text);
  assert.equal(await reader.asyncRead(1), text);
  await written;
});

test('SABPipe across threads: a blocked reader receives everything', async () => {
  const writer = new SABPipe('w', 2048);
  const worker = start('pipe-count', { buffer: writer.buffer });
  const answer = message(worker);
  const count = 3000;
  for (let n = 0; n < count; n++) {
    const written = writer.postMessage({ n });
    if (n % 100 === 0) await written;
  }
  writer.postMessage({ n: -1 });
  assert.deepEqual(await answer, { count, sum: (count * (count - 1)) / 2 });
  await worker.terminate();
});
