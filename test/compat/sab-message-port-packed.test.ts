// Values that JSON gives back unchanged travel packed. Nobody may notice: not a reader that comes later, not a message
// behind one that was dropped, not a pipe whose log of shapes is full.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layOut } from '../../src/compat/sab-message-port/layout.ts';
import { SABMessagePort, SABPipe } from '../../src/compat/sab-message-port.ts';
import { viewsOf } from '../../src/memory/region.ts';

/** Bytes of shared memory in which the shape log of a pipe counts what it holds. */
const logUsed = (pipe: SABPipe): number => {
  const views = viewsOf(pipe.buffer);
  return views.words[layOut(views, 0, pipe.buffer.byteLength)!.log.used] as number;
};
/** An object with keys that no other number gives. */
const strange = (n: number): Record<string, number> => Object.fromEntries([...'abcdef'].map((c) => [`${c}_${n}`, n]));

test('a reader that takes the place of another reads what was written for it', () => {
  const writer = new SABPipe('w', 8192);
  const first = new SABPipe('r', writer.buffer);
  writer.postMessage({ id: 1, name: 'one' });
  assert.deepEqual(first.tryRead(), { id: 1, name: 'one' });
  writer.postMessage({ id: 2, name: 'two' });
  writer.postMessage({ id: 3, name: 'three', more: [{ deep: true }] });
  assert.ok(logUsed(writer) > 0, 'nothing was taught');
  const second = new SABPipe('r', writer.buffer);
  assert.deepEqual(second.tryRead(), { id: 2, name: 'two' });
  assert.deepEqual(second.tryRead(), { id: 3, name: 'three', more: [{ deep: true }] });
  writer.postMessage({ id: 4, name: 'four' });
  assert.deepEqual(second.tryRead(), { id: 4, name: 'four' });
});

test('a writer that takes the place of another is understood', () => {
  const first = new SABPipe('w', 8192);
  const reader = new SABPipe('r', first.buffer);
  first.postMessage({ a: 1, b: 2 });
  first.postMessage({ a: 2, b: 3 });
  assert.deepEqual(reader.tryRead(), { a: 1, b: 2 });
  const second = new SABPipe('w', first.buffer);
  second.postMessage({ x: 1, y: 2 });
  second.postMessage({ a: 3, b: 4 });
  assert.deepEqual(reader.tryRead(), { a: 2, b: 3 });
  assert.deepEqual(reader.tryRead(), { x: 1, y: 2 });
  assert.deepEqual(reader.tryRead(), { a: 3, b: 4 });
});

test('what a dropped message taught is known all the same', async () => {
  const writer = new SABPipe('w', 8192, 0, null, 1);
  const reader = new SABPipe('r', writer.buffer);
  writer.postMessage({ key: 'dropped' });
  await writer.postMessage({ key: 'kept' });
  assert.deepEqual(reader.tryRead(10), [{ key: 'kept' }]);
});

test('when the log is full, new kinds of objects travel as text and old ones as before', () => {
  const writer = new SABPipe('w', 8192);
  const reader = new SABPipe('r', writer.buffer);
  let used = -1;
  let n = 0;
  for (; used !== logUsed(writer); n++) {
    used = logUsed(writer);
    writer.postMessage(strange(n));
    assert.deepEqual(reader.tryRead(), strange(n));
  }
  assert.ok(n > 10, `full after ${n} kinds`);
  for (const again of [0, n + 1, 1, n + 2]) {
    writer.postMessage(strange(again));
    assert.deepEqual(reader.tryRead(), strange(again));
  }
  assert.equal(logUsed(writer), used);
});

test('a section without room for a log carries everything as text', () => {
  const writer = new SABPipe('w', 512);
  const reader = new SABPipe('r', writer.buffer);
  for (const value of [{ a: 1 }, [{ a: 2 }], 'x', 3, null]) {
    writer.postMessage(value);
    assert.deepEqual(reader.tryPeek(), value);
    reader.tryRead();
  }
});

test('messages that wait keep what they were, packed or not, large or small', async () => {
  const a = new SABMessagePort('a', 4);
  const b = new SABMessagePort('b', a.buffer);
  const sent: unknown[] = [];
  for (let n = 0; n < 200; n++) {
    const value = { n, text: 'x'.repeat(n * 7), when: n % 3 === 0 ? new Date(n) : n, list: [n, { n }] };
    sent.push(JSON.parse(JSON.stringify(value)));
    void a.postMessage(value);
    value.n = -1;
    value.list.length = 0;
  }
  void a.postMessage({ long: 'y'.repeat(100_000) });
  for (const value of sent) assert.deepEqual(await b.asyncRead(), value);
  assert.equal(((await b.asyncRead()) as { long: string }).long.length, 100_000);
});

test('a getter that posts does not come between', async () => {
  const writer = new SABPipe('w', 8192);
  const reader = new SABPipe('r', writer.buffer);
  void writer.postMessage({
    get outer() {
      void writer.postMessage({ inner: 1 });
      return 2;
    },
  });
  assert.deepEqual(await reader.asyncRead(), { outer: 2 });
  assert.deepEqual(await reader.asyncRead(), { inner: 1 });
});

test('a getter that throws rejects its own promise', async () => {
  const writer = new SABPipe('w', 8192);
  const reader = new SABPipe('r', writer.buffer);
  const failed = writer.postMessage({
    get bad() {
      throw new Error('bad getter');
    },
  });
  await writer.postMessage({ good: 1 });
  await assert.rejects(failed, /bad getter/);
  assert.deepEqual(reader.tryRead(10), [{ good: 1 }]);
});

test('a record that cannot be decoded leaves what it taught known: it stands in the log', () => {
  const writer = new SABPipe('w', 8192);
  const reader = new SABPipe('r', writer.buffer);
  const views = viewsOf(writer.buffer);
  const { lane } = layOut(views, 0, writer.buffer.byteLength)!;
  for (let round = 0; round < 3; round++) {
    const at = views.words[lane.block] as number;
    writer.postMessage(strange(round));
    // The first word of the value: header of the record, header of the payload, then this.
    views.words[((lane.data + (at & (lane.capacity - 1))) >>> 2) + 3] = -1;
    writer.postMessage({ ...strange(round), and: 'more' });
    writer.postMessage(strange(round));
    assert.throws(() => reader.tryRead(), { code: 'ERR_DECODE' });
    assert.deepEqual(reader.tryRead(), { ...strange(round), and: 'more' });
    assert.deepEqual(reader.tryRead(), strange(round));
  }
});
