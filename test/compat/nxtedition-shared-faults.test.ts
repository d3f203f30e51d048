// What the nxtedition-shared door does when the other side is gone, replaced, or has damaged the memory.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { alloc, type BufferRegion, reader, type SharedBuffers, writer } from '../../src/compat/nxtedition-shared.ts';
import { LayoutError } from '../../src/errors.ts';
import { Gates } from '../kit/gate.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import { within } from '../kit/watchdog.ts';
import type { Job } from './nxtedition-shared-worker.ts';

const workerUrl = inOneFile(new URL('./nxtedition-shared-worker.js', import.meta.url));
const start = (job: Job): Worker => new Worker(workerUrl, { workerData: job });
const put =
  (text: string) =>
  (data: BufferRegion): number =>
    data.offset + data.buffer.write(text, data.offset);
const textOf = (data: BufferRegion): string => data.buffer.toString('utf8', data.offset, data.offset + data.length);

for (const side of ['writer', 'reader'] as const) {
  test(`a ${side} with \`liveness\` whose thread ends after another has taken its place does not end it for that one`, async () => {
    const buffers = alloc(1024);
    const gates = new Gates();
    const worker = start({ buffers, task: 'end-later', length: side === 'writer' ? 1 : 0, gates: gates.memory });
    await within('the first', once(worker, 'message'));
    const w = writer(buffers, {});
    const r = reader(buffers, {});
    gates.open(0);
    await within('its end', once(worker, 'exit'));
    assert.equal(r.ended, false);
    assert.equal(w.abandoned, false);
    w.writeSync(2, put('on'));
    w.flushSync();
    assert.equal(await r.waitReadableAsync(), true);
    w.close();
    r.readSome(() => {});
    assert.equal(r.ended, true);
    r.close();
    assert.equal(w.abandoned, true);
  });
}

test('a thread that writes and then blocks, on any ring, has published what it wrote', async () => {
  const questions = alloc(4096);
  const answers = alloc(4096);
  const worker = start({ buffers: answers, task: 'ask', other: questions });
  const answered = once(worker, 'message');
  const r = reader(questions, {});
  const w = writer(answers, {});
  assert.equal(await within('the question', r.waitReadableAsync()), true);
  r.readSome((data) => {
    assert.equal(textOf(data), 'question');
    w.writeSync(6, put('answer'));
  });
  w.flushSync();
  assert.deepEqual((await within('the answer', answered))[0], 'answer');
});

/** Three records, the second's header spoilt. */
function spoilt(): { buffers: SharedBuffers; write: (text: string) => void } {
  const buffers = alloc(1024);
  const w = writer(buffers, {});
  const write = (text: string): void => {
    w.writeSync(text.length, put(text));
    w.flushSync();
  };
  for (const text of ['first', 'second', 'third']) write(text);
  const at = Buffer.from(buffers.sharedBuffer).indexOf('second');
  new Uint8Array(buffers.sharedBuffer).fill(0xff, at - 8, at);
  return { buffers, write };
}

test('a damaged record is thrown once; what is written later is read', async () => {
  const { buffers, write } = spoilt();
  const r = reader(buffers, {});
  const seen: string[] = [];
  const note = (data: BufferRegion): void => void seen.push(textOf(data));
  assert.throws(() => r.readSome(note), LayoutError);
  assert.deepEqual(seen, ['first']);
  assert.equal(r.readSome(note), 0);
  assert.equal(r.waitReadable(1), false);
  const waiting = r.waitReadableAsync();
  write('later');
  assert.equal(await within('a record', waiting), true);
  assert.equal(r.readSome(note), 1);
  assert.deepEqual(seen, ['first', 'later']);
});

test('a position that makes no sense wakes whoever waits, and the next publication mends it', async () => {
  const buffers = alloc(1024);
  const w = writer(buffers, {});
  const r = reader(buffers, {});
  const words = new Int32Array(buffers.sharedBuffer);
  const before = words.slice(0, 256);
  w.writeSync(1, put('a'));
  w.flushSync();
  const [tail] = [...before.keys()].filter((i) => before[i] !== words[i]);
  assert.equal(
    r.readSome(() => {}),
    1,
  );
  words[tail!] = 3;
  assert.equal(await within('the damage', r.waitReadableAsync()), true);
  assert.throws(() => r.readSome(() => {}), LayoutError);
  w.writeSync(1, put('b'));
  w.flushSync();
  assert.equal(await r.waitReadableAsync(), true);
  assert.equal(
    r.readSome(() => {}),
    1,
  );
});
