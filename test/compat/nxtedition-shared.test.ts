// @nxtedition/shared 3.0.2, sentence by sentence: each test quotes the section of its README and the sentence it holds
// us to, in its words. Tests named `beyond:` are for what we add.
import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { test } from 'node:test';
import { setImmediate as immediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { alloc, type BufferRegion, reader, type SharedBuffers, writer } from '../../src/compat/nxtedition-shared.ts';
import { ClosedError, TimeoutError, UsageError } from '../../src/errors.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import type { Job } from './nxtedition-shared-worker.ts';

const workerUrl = inOneFile(new URL('./nxtedition-shared-worker.js', import.meta.url));
const start = (job: Job): Worker => new Worker(workerUrl, { workerData: job });
const message = async (worker: Worker): Promise<unknown> => (await once(worker, 'message'))[0];

const put =
  (text: string) =>
  (data: BufferRegion): number =>
    data.offset + data.buffer.write(text, data.offset);
const textOf = (data: BufferRegion): string => data.buffer.toString('utf8', data.offset, data.offset + data.length);
const readAll = (buffers: SharedBuffers): string[] => {
  const found: string[] = [];
  reader(buffers).readSome((data) => void found.push(textOf(data)));
  return found;
};
const fill = (length: number, value: number) => (data: BufferRegion) => {
  data.buffer.fill(value, data.offset, data.offset + length);
  return data.offset + length;
};

test('Usage: "allocate shared memory, write hello world, read hello world"', () => {
  const { sharedState, sharedBuffer } = alloc(1024 * 1024);
  const w = writer({ sharedState, sharedBuffer });
  const payload = Buffer.from('hello world');
  w.writeSync(payload.length, (data) => {
    payload.copy(data.buffer, data.offset);
    return data.offset + payload.length;
  });
  w.flushSync();
  const r = reader({ sharedState, sharedBuffer });
  const found: string[] = [];
  const count = r.readSome((data) => {
    found.push(data.buffer.subarray(data.offset, data.offset + data.length).toString());
  });
  assert.deepEqual(found, ['hello world']);
  assert.equal(count, 1);
});

test('Why: "the write pointer is only published to the reader after a high-water mark is reached or the current event loop tick ends"', async () => {
  const buffers = alloc(1024 * 1024);
  const w = writer(buffers);
  const r = reader(buffers);
  w.writeSync(5, put('early'));
  assert.equal(
    r.readSome(() => {}),
    0,
  );
  await immediate();
  assert.equal(
    r.readSome(() => {}),
    1,
  );
  let written = 0;
  while (r.readSome(() => {}) === 0 && written < 1024 * 1024) {
    w.writeSync(1000, fill(1000, 1));
    written += 1000;
  }
  assert.ok(written < 1024 * 1024, 'nothing was published before the ring was full');
});

test('Why: "the reader callback receives a DataView directly into the shared buffer, so parsing can happen in-place"', () => {
  const buffers = alloc(1024);
  const w = writer(buffers);
  w.writeSync(8, (data) => {
    data.view.setFloat64(data.offset, 1.5, true);
    return data.offset + 8;
  });
  w.flushSync();
  reader(buffers).readSome((data) => {
    assert.ok(data.view instanceof DataView);
    assert.equal(data.view.buffer, buffers.sharedBuffer);
    assert.equal(data.view.getFloat64(data.offset, true), 1.5);
  });
});

test('Batching writes with cork: "all writes flushed atomically when cork returns"', async () => {
  const buffers = alloc(1024 * 1024);
  const w = writer(buffers);
  const r = reader(buffers);
  const answer = w.cork(() => {
    // More than any high-water mark, yet nothing may be seen.
    for (let i = 0; i < 900; i++) w.writeSync(1000, fill(1000, i & 0x7f));
    assert.equal(
      r.readSome(() => {}),
      0,
    );
    return 'done';
  });
  assert.equal(answer, 'done');
  let count = 0;
  for (let more = 1; more > 0; count += more) more = r.readSome(() => {});
  assert.equal(count, 900);
});

test('cork: an exception inside still publishes what was written, and passes on', () => {
  const buffers = alloc(1024);
  const w = writer(buffers);
  assert.throws(
    () =>
      w.cork(() => {
        w.writeSync(1, put('x'));
        throw new Error('inside');
      }),
    /inside/,
  );
  assert.deepEqual(readAll(buffers), ['x']);
});

test('index.d.ts: "cork(): void; uncork(): void" hold publication across ticks and nest', async () => {
  const buffers = alloc(1024);
  const w = writer(buffers);
  const r = reader(buffers);
  w.writeSync(1, put('a'));
  w.cork();
  w.cork();
  w.writeSync(1, put('b'));
  await immediate();
  assert.equal(
    r.readSome(() => {}),
    0,
    'a tick must not publish what is corked',
  );
  w.uncork();
  assert.equal(
    r.readSome(() => {}),
    0,
  );
  w.uncork();
  assert.deepEqual(readAll(buffers), ['a', 'b']);
  w.uncork();
  w.writeSync(1, put('c'));
  await immediate();
  assert.deepEqual(readAll(buffers), ['c']);
});

test('index.d.ts: "flushSync(): void" publishes at once', () => {
  const buffers = alloc(1024);
  const w = writer(buffers);
  w.writeSync(3, put('now'));
  assert.deepEqual(readAll(buffers), []);
  w.flushSync();
  assert.deepEqual(readAll(buffers), ['now']);
});

test('Non-blocking writes with tryWrite: "buffer is full — the reader hasn\'t caught up yet"', () => {
  const buffers = alloc(1024);
  const w = writer(buffers);
  let written = 0;
  while (w.tryWrite(100, fill(100, 7))) written++;
  assert.ok(written >= 7, `only ${written} records of 100 bytes went into 1024`);
  assert.ok(written <= 10);
  let read = 0;
  const r = reader(buffers);
  for (let more = 1; more > 0; read += more) more = r.readSome(() => {});
  assert.equal(read, written, 'a full ring publishes what it holds');
  assert.equal(w.tryWrite(100, fill(100, 7)), true);
});

test('alloc: "size — buffer capacity in bytes (must be a positive integer, max ~2 GB)"', () => {
  for (const size of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, '64' as never, undefined as never]) {
    assert.throws(() => alloc(size), UsageError);
  }
  for (const size of [1, 2, 3]) assert.ok(alloc(size).sharedBuffer.byteLength >= size);
});

test('alloc: "returns { sharedState: SharedArrayBuffer, sharedBuffer: SharedArrayBuffer }"', () => {
  const buffers = alloc(100);
  assert.deepEqual(Object.keys(buffers), ['sharedState', 'sharedBuffer']);
  assert.ok(buffers.sharedState instanceof SharedArrayBuffer);
  assert.ok(buffers.sharedBuffer instanceof SharedArrayBuffer);
  assert.ok(buffers.sharedBuffer.byteLength >= 100);
});

test('reader.readSome: "data has buffer, view, offset, length" (and byteOffset, byteLength: index.d.ts)', () => {
  const buffers = alloc(1024);
  const w = writer(buffers);
  w.writeSync(3, put('one'));
  w.writeSync(4, put('four'));
  w.flushSync();
  const regions = new Set<BufferRegion>();
  const lengths: number[] = [];
  reader(buffers).readSome((data) => {
    regions.add(data);
    lengths.push(data.length);
    assert.deepEqual(Object.keys(data), ['buffer', 'view', 'offset', 'length', 'byteOffset', 'byteLength']);
    assert.ok(Buffer.isBuffer(data.buffer));
    assert.equal(data.buffer.buffer as unknown, buffers.sharedBuffer);
    assert.equal(data.byteOffset, data.offset);
    assert.equal(data.byteLength, data.length);
  });
  assert.deepEqual(lengths, [3, 4]);
  assert.equal(regions.size, 1, 'one object is reused');
});

test('reader.readSome: "return false from the callback to stop reading early"; "returns the number of messages processed"', () => {
  const buffers = alloc(1024);
  const w = writer(buffers);
  for (const text of ['a', 'b', 'c']) w.writeSync(1, put(text));
  w.flushSync();
  const r = reader(buffers);
  const found: string[] = [];
  assert.equal(
    r.readSome((data) => {
      found.push(textOf(data));
      return found.length < 2;
    }),
    2,
  );
  assert.equal(
    r.readSome((data) => void found.push(textOf(data))),
    1,
  );
  assert.deepEqual(found, ['a', 'b', 'c']);
  assert.equal(
    r.readSome(() => {}),
    0,
  );
});

test('reader.readSome: only false stops; undefined, 0 and null do not', () => {
  const buffers = alloc(1024);
  const w = writer(buffers);
  for (const text of ['a', 'b', 'c', 'd']) w.writeSync(1, put(text));
  w.flushSync();
  const answers = [undefined, 0, null, ''];
  assert.equal(
    reader(buffers).readSome(() => answers.pop() as never),
    4,
  );
});

test('reader.readSome: "messages are batched: up to 1024 items or 256 KiB per call"', () => {
  const buffers = alloc(4 * 1024 * 1024);
  const w = writer(buffers);
  const r = reader(buffers);
  for (let i = 0; i < 3000; i++) w.writeSync(4, fill(4, 1));
  w.flushSync();
  assert.equal(
    r.readSome(() => {}),
    1024,
  );
  assert.equal(
    r.readSome(() => {}),
    1024,
  );
  assert.equal(
    r.readSome(() => {}),
    3000 - 2048,
  );
  for (let i = 0; i < 20; i++) w.writeSync(32 * 1024, fill(32 * 1024, 1));
  w.flushSync();
  assert.equal(
    r.readSome(() => {}),
    8,
  );
});

test('reader.readSome: the opaque value is handed to the callback (index.d.ts)', () => {
  const buffers = alloc(1024);
  const w = writer(buffers);
  w.writeSync(1, put('x'));
  w.flushSync();
  const opaque: string[] = [];
  reader(buffers).readSome((data, into) => void into.push(textOf(data)), opaque);
  assert.deepEqual(opaque, ['x']);
});

test('reader.readSome: a callback that throws has taken its message; the next call goes on behind it', () => {
  const buffers = alloc(1024);
  const w = writer(buffers);
  for (const text of ['a', 'b']) w.writeSync(1, put(text));
  w.flushSync();
  const r = reader(buffers);
  assert.throws(
    () =>
      r.readSome(() => {
        throw new Error('mine');
      }),
    /mine/,
  );
  const found: string[] = [];
  r.readSome((data) => void found.push(textOf(data)));
  assert.deepEqual(found, ['b']);
});

test('writer, options: "yield — called when the writer must wait for the reader to catch up; useful to prevent deadlocks when the writer thread also drives the reader"', () => {
  const buffers = alloc(1024);
  const r = reader(buffers);
  let yields = 0;
  let read = 0;
  const warnings: string[] = [];
  const w = writer(buffers, {
    yield: () => {
      yields++;
      read += r.readSome(() => {});
    },
    logger: { warn: (object, text) => void warnings.push(`${typeof object} ${typeof text}`) },
  });
  for (let i = 0; i < 100; i++) w.writeSync(100, fill(100, i));
  w.flushSync();
  read += r.readSome(() => {});
  assert.equal(read, 100);
  assert.ok(yields > 5);
  // "logger — logger for yield warnings (pino-compatible)"
  assert.equal(warnings[0], 'object string');
});

test('writer.writeSync: "blocks (via Atomics.wait) until buffer space is available"', async () => {
  const buffers = alloc(1024);
  const worker = start({ buffers, task: 'read-after', count: 50 });
  const answer = message(worker);
  // Without `yield` the writer sleeps; the logger is called just before, and lets the other thread begin to read.
  const go = new Int32Array(buffers.sharedState);
  const w = writer(buffers, {
    logger: {
      warn: () => {
        Atomics.store(go, 8, 1);
        Atomics.notify(go, 8);
      },
    },
  });
  for (let i = 0; i < 50; i++) w.writeSync(100, fill(100, 1));
  w.flushSync();
  assert.deepEqual(await answer, { count: 50, sum: 5000 });
  await worker.terminate();
});

test('writer.writeSync: "must return the end position, not the byte count"; fewer bytes than len may be written', () => {
  const buffers = alloc(1024);
  const w = writer(buffers);
  w.writeSync(100, put('short'));
  w.flushSync();
  assert.deepEqual(readAll(buffers), ['short']);
  for (const wrong of [-1, Number.NaN, undefined as never]) {
    assert.throws(() => w.writeSync(4, () => wrong), UsageError);
  }
  assert.throws(() => w.writeSync(4, (data) => data.offset + 5), UsageError);
  w.writeSync(4, (data) => data.offset);
  w.writeSync(2, put('ok'));
  w.flushSync();
  assert.deepEqual(readAll(buffers), ['', 'ok'], 'a bad end position leaves nothing behind');
});

test('writer.writeSync: a callback that throws leaves nothing behind, and the next write goes on', () => {
  const buffers = alloc(1024);
  const w = writer(buffers);
  assert.throws(
    () =>
      w.writeSync(4, () => {
        throw new Error('mine');
      }),
    /mine/,
  );
  w.writeSync(2, put('ok'));
  w.flushSync();
  assert.deepEqual(readAll(buffers), ['ok']);
});

test('writer.writeSync: "timeout — max wait time in ms (default: 60000). Throws on timeout"', () => {
  const buffers = alloc(64);
  const w = writer(buffers, {});
  while (w.tryWrite(8, fill(8, 1)));
  const one = (data: BufferRegion): number => fill(8, 1)(data);
  // As the README has it: third. As the types leave room for it: fourth, behind the opaque value.
  assert.throws(() => w.writeSync(8, one, 5), TimeoutError);
  assert.throws(() => w.writeSync(8, (data, _opaque: number) => one(data), 60_000, 5), TimeoutError);
  const impatient = writer(alloc(64), { timeoutMs: 5 });
  while (impatient.tryWrite(8, fill(8, 1)));
  assert.throws(() => impatient.writeSync(8, one), TimeoutError);
});

test('writer.writeSync: a number is opaque, not a time limit, for a callback that declares a second parameter', () => {
  const buffers = alloc(64);
  const r = reader(buffers);
  const w = writer(buffers, { yield: () => void r.readSome(() => {}) });
  const seen: number[] = [];
  for (let i = 0; i < 20; i++) {
    w.writeSync(
      8,
      (data, opaque) => {
        seen.push(opaque);
        return data.offset + 8;
      },
      0,
    );
  }
  assert.equal(seen.length, 20);
});

test('writer.tryWrite: "the fn callback follows the same contract as writeSync", opaque included', () => {
  const buffers = alloc(1024);
  const w = writer(buffers);
  assert.equal(
    w.tryWrite(3, (data, text) => put(text)(data), 'abc'),
    true,
  );
  assert.throws(() => w.tryWrite(4, () => -1), UsageError);
  w.flushSync();
  assert.deepEqual(readAll(buffers), ['abc']);
});

test('a record that can never fit is refused at once', () => {
  const w = writer(alloc(1024));
  assert.throws(() => w.tryWrite(4096, () => 0), UsageError);
  assert.throws(() => w.writeSync(4096, () => 0), UsageError);
  assert.throws(() => w.tryWrite(-1, () => 0), UsageError);
});

test('Cross-thread usage: a polling reader in a worker receives everything in order', async () => {
  const buffers = alloc(64 * 1024);
  const count = 20_000;
  const worker = start({ buffers, task: 'poll', count });
  const w = writer(buffers);
  let sum = 0;
  for (let i = 0; i < count; i++) {
    const length = 1 + (i % 90);
    w.writeSync(length, fill(length, i & 0x7f));
    sum += length * (i & 0x7f);
  }
  assert.deepEqual(await message(worker), { count, sum });
  await worker.terminate();
});

for (const task of ['wait', 'wait-async'] as const) {
  test(`beyond: a reader that sleeps (${task}) is woken for each publication, and ends when the writer closes`, async () => {
    const buffers = alloc(4096);
    const worker = start({ buffers, task });
    assert.equal(await message(worker), 'up');
    const w = writer(buffers, {});
    const answer = message(worker);
    for (let i = 0; i < 300; i++) {
      w.writeSync(10, fill(10, 1));
      if (i % 10 === 0) await immediate();
    }
    w.close();
    assert.deepEqual(await answer, { count: 300, sum: 3000 });
    await worker.terminate();
  });
}

test('beyond: what a closed writer has published can still be read, then the reader sees the end', async () => {
  const buffers = alloc(1024 * 1024);
  const worker = start({ buffers, task: 'write', count: 100, length: 1000 });
  await once(worker, 'exit');
  const r = reader(buffers, {});
  assert.equal(r.ended, false);
  let count = 0;
  while (r.waitReadable()) count += r.readSome(() => {});
  assert.equal(count, 100);
  assert.equal(r.ended, true);
  assert.equal(await r.waitReadableAsync(), false);
});

test('beyond: a closed reader ends the wait of a writer', () => {
  const buffers = alloc(64);
  const r = reader(buffers, {});
  const w = writer(buffers, { yield: () => r.close() });
  assert.throws(() => {
    for (;;) w.writeSync(8, fill(8, 1));
  }, ClosedError);
  assert.throws(() => r.readSome(() => {}), ClosedError);
  assert.equal(r.waitReadable(), false);
  w.close();
  w.close();
  assert.throws(() => w.writeSync(8, fill(8, 1)), ClosedError);
});

test('beyond: with `liveness`, a thread that ends closes its side', async () => {
  const buffers = alloc(64);
  await once(start({ buffers, task: 'end', length: 0 }), 'exit');
  const w = writer(buffers, {});
  assert.equal(w.abandoned, true);
  const ended = alloc(64);
  await once(start({ buffers: ended, task: 'end', length: 1 }), 'exit');
  assert.equal(reader(ended, {}).ended, true);
});

test('beyond: with `peer`, a thread that was killed counts as closed', async () => {
  const buffers = alloc(64);
  const worker = start({ buffers, task: 'hold' });
  assert.equal(await message(worker), 'up');
  const w = writer(buffers, { peer: worker });
  const r = reader(alloc(64), { peer: worker });
  const woken = r.waitReadableAsync();
  assert.equal(w.abandoned, false);
  await worker.terminate();
  assert.equal(await woken, false);
  assert.equal(r.ended, true);
  assert.equal(w.abandoned, true);
});

test('beyond: waitReadable and waitReadableAsync give up after their time limit', async () => {
  const r = reader(alloc(64), {});
  assert.equal(r.waitReadable(0), false);
  assert.equal(r.waitReadable(2), false);
  assert.equal(await r.waitReadableAsync(2), false);
  const pending = r.waitReadableAsync();
  r.close();
  assert.equal(await pending, false);
});
