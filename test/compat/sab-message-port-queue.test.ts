// What waits in a writer's queue: what it was when it was posted, whoever changes it or the queue afterwards.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layOut } from '../../src/compat/sab-message-port/layout.ts';
import { SABMessagePort, SABPipe } from '../../src/compat/sab-message-port.ts';
import { HEAD } from '../../src/memory/layout.ts';
import { viewsOf } from '../../src/memory/region.ts';
import { within } from '../kit/watchdog.ts';

const pipes = (bytes = 8192): [SABPipe, SABPipe] => {
  const writer = new SABPipe('w', bytes);
  return [writer, new SABPipe('r', writer.buffer)];
};
/** Everything there, oldest first. */
const all = (reader: SABPipe): unknown[] => (reader.tryRead(1000) as unknown[]).reverse();

test('an object that was posted several times is what it was each time, also behind an overflow callback', async () => {
  const [writer, reader] = pipes();
  writer.queueLimit = 2;
  writer.onQueueOverflow = (queue) => queue.shift();
  const value = { n: 0 };
  let written: Promise<void> | undefined;
  for (const n of [1, 2, 3, 4]) {
    value.n = n;
    written = writer.postMessage(value);
  }
  await written;
  assert.deepEqual(all(reader), [{ n: 3 }, { n: 4 }]);
});

test('an overflow callback may put in, replace and reorder', async () => {
  const [writer, reader] = pipes();
  writer.queueLimit = 3;
  writer.onQueueOverflow = (queue) => {
    queue.splice(0, queue.length, 'new', queue[3], { is: queue[0] });
  };
  for (const n of [1, 2, 3]) void writer.postMessage(n);
  await writer.postMessage(4);
  assert.deepEqual(all(reader), ['new', 4, { is: 1 }]);
});

test('an overflow callback may post: what JSON made of the message at hand does not stand in the place of its own', async () => {
  const [writer, reader] = pipes();
  writer.queueLimit = 1;
  writer.onQueueOverflow = (queue) => {
    queue.shift();
    writer.queueLimit = null;
    void writer.postMessage({ notice: 'one was dropped' });
  };
  const when = new Date(0);
  for (const n of [1, 2]) void writer.postMessage({ n, when });
  await writer.postMessage('last');
  assert.deepEqual(all(reader), [{ n: 2, when: when.toJSON() }, { notice: 'one was dropped' }, 'last']);
});

test('an overflow callback that throws, or puts in what has no JSON, rejects that call alone', async () => {
  const [writer, reader] = pipes();
  writer.queueLimit = 1;
  const first = writer.postMessage('first');
  writer.onQueueOverflow = () => {
    throw new Error('from the callback');
  };
  const second = writer.postMessage('second');
  writer.onQueueOverflow = (queue) => queue.splice(0, queue.length, 1n);
  const third = writer.postMessage('third');
  writer.onQueueOverflow = null;
  const fourth = writer.postMessage('fourth');
  await assert.rejects(second, /from the callback/);
  await assert.rejects(third, TypeError);
  await Promise.all([first, fourth]);
  assert.deepEqual(all(reader), ['fourth']);
  writer.queueLimit = null;
  await writer.postMessage('fifth');
  assert.equal(reader.tryRead(), 'fifth');
});

for (const [how, bytes, limit] of [
  ['at once', 8192, null],
  ['through the queue', 8192, 10],
  ['in parts', 1024, null],
  ['in parts, through the queue', 1024, 10],
] as const) {
  test(`toJSON is called once for a message that goes ${how}`, async () => {
    const [writer, reader] = pipes(bytes);
    writer.queueLimit = limit;
    let calls = 0;
    const text = 'x'.repeat(2000);
    const written = writer.postMessage({
      toJSON() {
        calls++;
        return { text };
      },
    });
    assert.deepEqual(await within('the message', reader.asyncRead()), { text });
    await written;
    assert.equal(calls, 1);
  });
}

test('a toJSON that throws rejects its own promise, whatever waits before it and comes after it', async () => {
  const [writer, reader] = pipes(1024);
  const long = 'x'.repeat(10_000);
  const before = writer.postMessage(long);
  const failed = writer.postMessage({
    toJSON() {
      throw new Error('from toJSON');
    },
  });
  const after = writer.postMessage({ after: new Date(0) });
  await assert.rejects(failed, /from toJSON/);
  assert.equal(await within('what waited', reader.asyncRead()), long);
  assert.deepEqual(await within('what came after', reader.asyncRead()), { after: '1970-01-01T00:00:00.000Z' });
  await Promise.all([before, after]);
});

test('a toJSON that posts, posts behind its own message', async () => {
  const [writer, reader] = pipes();
  void writer.postMessage({
    toJSON() {
      void writer.postMessage('inner');
      return 'outer';
    },
  });
  assert.equal(await within('the outer one', reader.asyncRead()), 'outer');
  assert.equal(await within('the inner one', reader.asyncRead()), 'inner');
});

for (const [how, length] of [
  ['at once', 10],
  ['in parts', 100_000],
] as const) {
  test(`a getter that closes the port leaves nobody waiting, in a message that would go ${how}`, async () => {
    const a = new SABMessagePort('a', 8);
    const b = new SABMessagePort('b', a.buffer);
    const reading = b.asyncRead();
    const posted = a.postMessage({
      text: 'x'.repeat(length),
      get closing() {
        a.close();
        return 1;
      },
    });
    const settled = await within('both', Promise.allSettled([reading, posted]));
    assert.equal(settled.length, 2);
    assert.equal(a.hasRef(), false);
    assert.throws(() => a.postMessage(1), /SABPipe disposed/);
  });
}

test('an overflow callback that closes the port leaves nobody waiting', async () => {
  const [writer] = pipes();
  writer.queueLimit = 1;
  writer.onQueueOverflow = () => writer.close();
  const settled = await within('both', Promise.allSettled([writer.postMessage(1), writer.postMessage(2)]));
  assert.deepEqual(
    settled.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.equal(writer.hasRef(), false);
});

test('a position of the reader that makes no sense rejects what waits, and what comes later is sent', async () => {
  const [writer, reader] = pipes(1024);
  const views = viewsOf(writer.buffer);
  const head = layOut(views, 0, writer.buffer.byteLength)!.lane.block + HEAD;
  const before = views.words[head] as number;
  const waits = writer.postMessage('w'.repeat(5000));
  views.words[head] = 3;
  const follows = writer.postMessage('f');
  const settled = await within('both', Promise.allSettled([waits, follows]));
  for (const result of settled) assert.ok(result.status === 'rejected' && result.reason.name === 'LayoutError');
  views.words[head] = before;
  const later = writer.postMessage('later');
  assert.equal(await within('what comes later', reader.asyncRead()), 'later');
  await later;
});
