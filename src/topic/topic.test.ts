import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClosedError, CodecError, DataCloneError, LayoutError, type UsageError } from '../errors.ts';
import { CLOSED, createTopic, EMPTY, subscribe, type Topic, type TopicReader } from './index.ts';
import { HOLDER, INTENT, SEAT_0, TAIL } from './layout.ts';

const CAPACITY = 1024;

/** A topic and a reader of it, in this thread. */
function pair(start: 'latest' | 'next' | 'oldest' = 'latest'): { topic: Topic<number>; reader: TopicReader<number> } {
  const topic = createTopic<number>({ capacityBytes: CAPACITY });
  return { topic, reader: subscribe(topic.handle(), { start }) };
}
/** Everything that is there. */
function all<T>(reader: TopicReader<T>): T[] {
  const values: T[] = [];
  for (let value = reader.tryReceive(); value !== EMPTY && value !== CLOSED; value = reader.tryReceive())
    values.push(value);
  return values;
}
const wordsOf = (handle: { readonly memory: SharedArrayBuffer }): Int32Array => new Int32Array(handle.memory);

test('a reader gets what is published, in order, each as a copy of its own', () => {
  using topic = createTopic<object>();
  using one = subscribe<object>(topic.handle());
  using two = subscribe<object>(topic.handle());
  const values = [
    { a: 1, list: [1, 2, 3] },
    { a: 1, list: [] },
    new Map([['key', new Date(5)]]),
    { text: 'é'.repeat(5000) },
  ];
  for (const value of values) topic.publish(value);
  assert.deepEqual(all(one), values);
  assert.deepEqual(all(two), values);
  assert.equal(one.tryReceive(), EMPTY);
  assert.equal(one.missed, 0);
});

test('who joins late begins with the newest, the next or the oldest message, as it likes', () => {
  const { topic } = pair();
  for (let i = 0; i < 100; i++) topic.publish(i);
  const readers = (['latest', 'next', 'oldest'] as const).map((start) => subscribe<number>(topic.handle(), { start }));
  topic.publish(100);
  const [latest = [], next = [], oldest = []] = readers.map((reader) => all(reader));
  assert.deepEqual([latest, next], [[99, 100], [100]]);
  // 1,024 bytes hold 32 of them, less the step that the writer goes ahead.
  assert.ok(
    oldest.length > 20 && oldest.at(-1) === 100 && oldest.every((value, i) => value === (oldest[0] as number) + i),
  );
  topic.close();
});

test('payloads are self-contained: a reader decodes the newest message without one before it', () => {
  using topic = createTopic<object>();
  const text = 'a text that channels remember '.repeat(500);
  for (let i = 0; i < 3; i++) topic.publish({ nested: { shape: i }, text });
  using late = subscribe<object>(topic.handle());
  assert.deepEqual(late.tryReceive(), { nested: { shape: 2 }, text });
});

test('a reader that is overtaken goes on with the newest message, and is told how many it missed', () => {
  const topic = createTopic<number>({ capacityBytes: CAPACITY });
  const told: number[] = [];
  const reader = subscribe<number>(topic.handle(), { start: 'next', onMissed: (count) => told.push(count) });
  for (let i = 0; i < 10; i++) topic.publish(i);
  assert.equal(reader.tryReceive(), 0);
  for (let i = 10; i < 1000; i++) topic.publish(i);
  assert.deepEqual([reader.tryReceive(), reader.missed, told], [999, 998, [998]]);
  topic.publish(1000);
  assert.deepEqual([reader.tryReceive(), reader.missed, told], [1000, 998, [998]]);
  topic.close();
});

test('a reader of the newest message gets no other', () => {
  using topic = createTopic<number>();
  using reader = subscribe<number>(topic.handle(), { slow: 'newest' });
  for (const burst of [1, 5, 2]) {
    for (let i = 1; i <= burst; i++) topic.publish(i);
    assert.deepEqual(all(reader), [burst]);
  }
  assert.equal(reader.missed, 5);
});

test('a topic that ends is read to its end; then it says why', async () => {
  const { topic, reader } = pair();
  topic.publish(1);
  topic.publish(2);
  topic.close();
  topic.close();
  assert.throws(() => topic.publish(3), ClosedError);
  assert.throws(() => topic.handle(), ClosedError);
  assert.equal(reader.reason, 'closed');
  assert.deepEqual(
    [reader.tryReceive(), reader.receive(), reader.receive(), reader.tryReceive()],
    [1, 2, CLOSED, CLOSED],
  );
  assert.equal(await reader.receiveAsync(), CLOSED);
  assert.equal(await reader.closed, 'closed');
  reader.close();
  assert.throws(() => reader.tryReceive(), ClosedError);
  await assert.rejects(reader.receiveAsync(), ClosedError);
});

test('a handle that was posted before the end is good behind it', () => {
  const topic = createTopic<number>();
  const handle = topic.handle();
  topic.publish(7);
  topic.close();
  const reader = subscribe<number>(handle);
  assert.deepEqual([reader.tryReceive(), reader.tryReceive()], [7, CLOSED]);
});

test('promises are kept in their order, at their time limits, and by their signals', async () => {
  const { topic, reader } = pair();
  const controller = new AbortController();
  const first = reader.receiveAsync();
  const aborted = reader.receiveAsync({ signal: controller.signal });
  const second = reader.receiveAsync();
  assert.equal(await reader.receiveAsync({ timeoutMs: 1 }), EMPTY);
  controller.abort(new Error('enough'));
  await assert.rejects(aborted, /enough/);
  topic.publish(1);
  topic.publish(2);
  assert.deepEqual([await first, await second], [1, 2]);
  const last = reader.receiveAsync();
  reader.close();
  assert.equal(await last, CLOSED);
  topic.close();
});

test('for await ends with the writer, and lets others have their turn', async () => {
  const { topic, reader } = pair();
  const got: number[] = [];
  let turns = 0;
  const timer = setInterval(() => {
    turns++;
    if (turns === 5) topic.close();
  });
  topic.publish(0);
  for await (const value of reader) {
    got.push(value);
    // There is always one more.
    if (reader.reason === undefined) topic.publish(value + 1);
  }
  clearInterval(timer);
  assert.ok(turns >= 5 && got.length > 0);
});

test('what cannot be published publishes nothing, and the next value is', () => {
  const topic = createTopic<unknown>({ capacityBytes: CAPACITY });
  const reader = subscribe(topic.handle());
  assert.throws(() => topic.publish(() => {}), DataCloneError);
  assert.throws(() => topic.publish(new SharedArrayBuffer(8)), DataCloneError);
  assert.throws(
    () => topic.publish('x'.repeat(300)),
    (error: UsageError) => error.code === 'ERR_TOO_LARGE',
  );
  const nested = {
    get inner(): unknown {
      return topic.publish('inside');
    },
  };
  assert.throws(
    () => topic.publish(nested),
    (error: UsageError) => error.code === 'ERR_BUSY',
  );
  const closing = {
    get inner(): number {
      throw new Error('a getter');
    },
  };
  assert.throws(() => topic.publish(closing), /a getter/);
  assert.equal(reader.tryReceive(), EMPTY);
  topic.publish('x'.repeat(200));
  assert.deepEqual(all(reader), ['x'.repeat(200)]);
  assert.equal(topic.stats().published, 1);
  topic.close();
});

test('a getter that closes the topic publishes nothing', () => {
  const topic = createTopic<unknown>();
  const reader = subscribe(topic.handle());
  const value = {
    get inner(): number {
      topic.close();
      return 1;
    },
  };
  assert.throws(() => topic.publish(value), ClosedError);
  assert.equal(reader.tryReceive(), CLOSED);
});

test('a reliable reader misses nothing: what it holds up is dropped, and counted', () => {
  const topic = createTopic<number>({ capacityBytes: CAPACITY, reliableReaders: 1, whenHeld: 'drop-newest' });
  const reader = subscribe<number>(topic.handle(), { slow: 'reliable' });
  for (let i = 0; i < 100; i++) topic.publish(i);
  const { published, dropped } = topic.stats();
  assert.ok(dropped > 0 && published + dropped === 100);
  assert.deepEqual(
    all(reader),
    Array.from({ length: published }, (_, i) => i),
  );
  assert.ok(reader.reliable);
  topic.publish(100);
  assert.equal(reader.tryReceive(), 100);
  assert.equal(reader.missed, 0);
  topic.close();
});

test('what is published inside cork wakes a sleeper once, at its end, also where that is by an error', async () => {
  const { topic, reader } = pair();
  const three = [reader.receiveAsync(), reader.receiveAsync(), reader.receiveAsync()];
  const answer = topic.cork(() => {
    topic.publish(1);
    topic.cork(() => topic.publish(2));
    assert.equal(topic.stats().wakes, 0);
    return 'what it returns';
  });
  assert.deepEqual([answer, topic.stats().wakes], ['what it returns', 1]);
  assert.throws(
    () =>
      topic.cork(() => {
        topic.publish(3);
        throw new Error('inside');
      }),
    /inside/,
  );
  assert.deepEqual(await Promise.all(three), [1, 2, 3]);
  assert.throws(
    () => topic.cork(5 as never),
    (error: UsageError) => error.code === 'ERR_OPTION',
  );
  topic.cork(() => topic.close());
  assert.equal(reader.tryReceive(), CLOSED);
});

test('a seat is free again when its reader leaves', () => {
  const topic = createTopic<number>({ capacityBytes: CAPACITY, reliableReaders: 1, whenHeld: 'drop-newest' });
  const reader = subscribe(topic.handle(), { slow: 'reliable' });
  assert.throws(
    () => subscribe(topic.handle(), { slow: 'reliable' }),
    (error: UsageError) => error.code === 'ERR_OPTION',
  );
  reader.close();
  subscribe(topic.handle(), { slow: 'reliable' }).close();
  for (let i = 0; i < 100; i++) topic.publish(i);
  assert.equal(topic.stats().dropped, 0);
  topic.close();
});

test('a writer whose patience is at its end skips the reader, which is told', () => {
  const topic = createTopic<number>({ capacityBytes: CAPACITY, reliableReaders: 1, patienceMs: 5 });
  const reader = subscribe<number>(topic.handle(), { slow: 'reliable' });
  for (let i = 0; i < 100; i++) topic.publish(i);
  assert.deepEqual([topic.stats().evicted, topic.stats().dropped, reader.reliable], [1, 0, false]);
  assert.deepEqual([all(reader), reader.missed], [[99], 99]);
  topic.close();
});

test('a seat that makes no sense holds the writer no longer than its patience', () => {
  const topic = createTopic<number>({ capacityBytes: CAPACITY, reliableReaders: 1, patienceMs: 5 });
  const words = wordsOf(topic.handle());
  words[SEAT_0 + HOLDER] = 1;
  words[SEAT_0 + 1] = 1 << 30;
  for (let i = 0; i < 100; i++) topic.publish(i);
  assert.equal(topic.stats().evicted, 1);
  topic.close();
});

test('a handle is good for one reader', () => {
  const topic = createTopic();
  const handle = topic.handle();
  subscribe(handle).close();
  for (const bad of [handle, {}, null, 'handle', { ...topic.handle(), tether: undefined }]) {
    assert.throws(
      () => subscribe(bad),
      (error: UsageError) => error.code === 'ERR_HANDLE',
    );
  }
  assert.throws(() => subscribe({ ...topic.handle(), version: 99 }), LayoutError);
  assert.throws(() => subscribe({ ...topic.handle(), memory: new SharedArrayBuffer(64) }), LayoutError);
  topic.close();
});

test('options that make no sense are refused by name', () => {
  for (const options of [
    { capacityBytes: 0 },
    { capacityBytes: 2 ** 31 },
    { capacityBytes: 1024, maxMessageBytes: 512 },
    { reliableReaders: 65 },
    { whenHeld: 'block' },
    { patienceMs: 0 },
    { capacity: 5 },
  ]) {
    assert.throws(
      () => createTopic(options as object),
      (error: UsageError) => error.code === 'ERR_OPTION',
    );
  }
  using topic = createTopic();
  for (const options of [{ start: 'first' }, { slow: 'wait' }, { onMissed: 5 }, { from: 'latest' }]) {
    assert.throws(
      () => subscribe(topic.handle(), options as object),
      (error: UsageError) => error.code === 'ERR_OPTION',
    );
  }
});

test('damage ends the reader with an error that names it; a payload that is none is one message less', () => {
  const { topic, reader } = pair();
  const words = wordsOf(topic.handle());
  const data = SEAT_0;
  topic.publish(1);
  words[data + 4] = -1;
  topic.publish(2);
  assert.throws(() => reader.tryReceive(), CodecError);
  assert.equal(reader.tryReceive(), 2);
  topic.publish(3);
  words[data + (Atomics.load(words, TAIL) - 32) / 4] = 1 << 20;
  assert.throws(() => reader.tryReceive(), LayoutError);
  assert.throws(() => reader.tryReceive(), ClosedError);
  topic.close();
});

test('a writer that says it writes everywhere, always, holds no reader in a call', () => {
  const { topic, reader } = pair();
  const words = wordsOf(topic.handle());
  topic.publish(1);
  Atomics.store(words, INTENT, 1 << 20);
  assert.equal(reader.tryReceive(), EMPTY);
  assert.equal(reader.receive({ timeoutMs: 5 }), EMPTY);
  topic.close();
});

test('where the clock stands still a blocked reader has its time limit all the same', () => {
  const { topic, reader } = pair();
  const { now } = performance;
  let looks = 0;
  performance.now = () => {
    assert.ok(++looks < 1000, 'it goes on sleeping');
    return 0;
  };
  try {
    assert.equal(reader.receive({ timeoutMs: 3 }), EMPTY);
  } finally {
    performance.now = now;
  }
  reader.close();
  topic.close();
});
