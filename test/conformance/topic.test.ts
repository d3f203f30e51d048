// A topic and readers in other threads: how they wait, how each end is told, on every runtime.
// asked for: node-22, node-26
// watchdog: 240 s
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { features, spawn } from '../../src/index.ts';
import { CLOSED, createTopic, EMPTY, subscribe, type TopicHandle } from '../../src/topic/index.ts';
import { type Role, spawnThread, startThread, type TestThread } from '../kit/thread.ts';
import { STEP_MS, until, within } from '../kit/watchdog.ts';

/** Reads to the end: values, and how it ended. `data.way` is how it waits. */
const readsAll: Role = async ({ data, topic, say }) => {
  const reader = topic.subscribe<number>(data.handle, data.options);
  say('here');
  const got: number[] = [];
  if (data.way === 'blocked') for (const value of reader.blocking()) got.push(value);
  else for await (const value of reader) got.push(value);
  return { got, missed: reader.missed, reason: reader.reason };
};

interface Story {
  readonly got: readonly number[];
  readonly missed: number;
  readonly reason: string;
}
function reading(handle: TopicHandle, way: string, options = {}): TestThread {
  return startThread(readsAll, { data: { handle, way, options }, transfer: handle.transfer });
}
const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

for (const way of ['blocked', 'loop'] as const) {
  test(`a reader that waits (${way}) is woken for what is published, and for the end`, async () => {
    const topic = createTopic<number>();
    const thread = reading(topic.handle(), way);
    await thread.next();
    for (let i = 0; i < 5; i++) {
      topic.publish(i);
      // So that it sleeps now and then.
      await new Promise((resolve) => setTimeout(resolve, 2 * i));
    }
    topic.close();
    assert.deepEqual(await thread.done(), { got: upTo(5), missed: 0, reason: 'closed' } satisfies Story);
  });

  test(`sixteen readers (${way}) hear of everything`, async () => {
    const topic = createTopic<number>();
    const threads = Array.from({ length: 16 }, () => reading(topic.handle(), way));
    for (const thread of threads) await thread.next();
    for (let i = 0; i < 1000; i++) topic.publish(i);
    topic.close();
    for (const thread of threads) assert.deepEqual(((await thread.done()) as Story).got, upTo(1000));
  });

  test(`a reader (${way}) that joins after the last message gets it`, async () => {
    const topic = createTopic<number>();
    for (let i = 0; i < 3; i++) topic.publish(i);
    const thread = reading(topic.handle(), way);
    await thread.next();
    topic.close();
    assert.deepEqual(((await thread.done()) as Story).got, [2]);
  });

  test(`a reliable reader (${way}) misses nothing of a writer that is quicker, and waits`, async () => {
    const topic = createTopic<number>({ capacityBytes: 2048, reliableReaders: 2, patienceMs: STEP_MS });
    const threads = [1, 2].map(() => reading(topic.handle(), way, { slow: 'reliable', start: 'next' }));
    for (const thread of threads) await thread.next();
    for (let i = 0; i < 5000; i++) topic.publish(i);
    topic.close();
    for (const thread of threads) assert.deepEqual(((await thread.done()) as Story).got, upTo(5000));
    assert.equal(topic.stats().evicted, 0);
  });
}

for (const way of ['blocked', 'loop'] as const) {
  test(`a reliable reader (${way}) that sleeps is woken where a corked writer has to wait for it`, async () => {
    const topic = createTopic<number>({ capacityBytes: 2048, reliableReaders: 1, patienceMs: STEP_MS });
    const thread = reading(topic.handle(), way, { slow: 'reliable', start: 'next' });
    await thread.next();
    await new Promise((resolve) => setTimeout(resolve, 5));
    topic.cork(() => {
      for (let i = 0; i < 1000; i++) topic.publish(i);
    });
    topic.close();
    assert.deepEqual(((await thread.done()) as Story).got, upTo(1000));
    assert.equal(topic.stats().evicted, 0);
  });
}

for (const way of ['blocked', 'loop'] as const) {
  test(`readers (${way}) whom a thread of the topic's own wakes hear of each message, and of the end`, async () => {
    const topic = createTopic<number>({ wakes: 'thread' });
    const threads = [1, 2, 3].map(() => reading(topic.handle(), way));
    for (const thread of threads) await thread.next();
    for (let i = 0; i < 30; i++) {
      topic.publish(i);
      // So that they sleep now and then, and the thread too.
      await new Promise((resolve) => setTimeout(resolve, i & 3));
    }
    topic.close();
    for (const thread of threads)
      assert.deepEqual(await thread.done(), { got: upTo(30), missed: 0, reason: 'closed' } satisfies Story);
  });
}

test('a reader that a thread wakes is woken while the writer does nothing more', async () => {
  const topic = createTopic<number>({ wakes: 'thread' });
  const reader = subscribe<number>(topic.handle());
  for (let i = 0; i < 20; i++) {
    const next = reader.receiveAsync();
    await new Promise((resolve) => setTimeout(resolve, i & 3));
    topic.publish(i);
    assert.equal(await within('a message', next), i);
  }
  topic.close();
  assert.equal(reader.tryReceive(), CLOSED);
});

/** Publishes what it is told to, then ends as it is told to. */
const publishes: Role = async ({ data, topic, say, hear, exit, crash, gates }) => {
  const own = topic.createTopic<number>();
  const handles = Array.from({ length: data.readers }, () => own.handle());
  say(
    handles,
    handles.flatMap((handle) => [...handle.transfer]),
  );
  await hear();
  for (let i = 0; i < 3; i++) own.publish(i);
  gates.open(0);
  await new Promise((resolve) => setTimeout(resolve, 1));
  if (data.end === 'exit') exit();
  if (data.end === 'crash') crash();
  if (data.end === 'closed') own.close();
  // Deno terminates no thread that computes on.
  for (; data.end === 'terminated' && 'Deno' in globalThis; own.publish(3))
    await new Promise((resolve) => setTimeout(resolve));
  if (data.end === 'terminated') for (;;) own.publish(3);
};

for (const end of ['closed', 'exit', 'crash', 'terminated'] as const) {
  test(`the writer's end is told: ${end}`, async () => {
    const writer = startThread(publishes, { data: { readers: 2, end } });
    const [mine, theirs] = (await writer.next()) as TopicHandle[];
    const reader = subscribe<number>(mine, { start: 'next' });
    const other = startThread(readsAll, {
      data: { handle: theirs, way: 'loop', options: { start: 'next' } },
      transfer: [theirs?.tether, theirs?.pass],
    });
    await other.next();
    const got: number[] = [];
    const mineDone = (async () => {
      for await (const value of reader) got.push(value);
    })();
    writer.tell('go');
    await writer.gates.passAsync(0);
    if (end === 'terminated') await writer.kill();
    await within('the end', mineDone);
    const story = (await other.done()) as Story;
    for (const values of [got, story.got]) {
      if (end !== 'terminated') assert.deepEqual(values, upTo(3));
      else assert.ok(values.every((value) => value >= 0 && value <= 3));
    }
    assert.deepEqual([await reader.closed, story.reason, reader.tryReceive()], [end, end, CLOSED]);
  });
}

// Bun and Deno give a blocked thread no sign of another one's terminate(): docs/guarantees.md.
if (features().probesPeers) {
  test('a blocked reader finds out that its writer was killed', async () => {
    const writer = startThread(publishes, { data: { readers: 1, end: 'terminated' } });
    const [handle] = (await writer.next()) as [TopicHandle];
    const blocked = startThread(readsAll, {
      data: { handle, way: 'blocked', options: { start: 'next', slow: 'newest' } },
      transfer: [handle.tether, handle.pass],
    });
    await blocked.next();
    writer.tell('go');
    await writer.gates.passAsync(0);
    await writer.kill();
    const story = (await blocked.done()) as Story;
    assert.equal(story.reason, 'terminated');
  });

  test('a blocked writer finds out that a reader which holds it was killed', async () => {
    const topic = createTopic<number>({ capacityBytes: 1024, reliableReaders: 1, patienceMs: 2 * STEP_MS });
    const handle = topic.handle();
    const holds: Role = ({ data, topic, gates, compute }) => {
      topic.subscribe(data.handle, { slow: 'reliable' });
      gates.open(0);
      compute(1);
    };
    const thread = startThread(holds, { data: { handle }, transfer: handle.transfer });
    await thread.gates.passAsync(0);
    // Nobody's event loop: it must be told while this thread is blocked.
    const killed = thread.kill();
    const start = performance.now();
    for (let i = 0; i < 200; i++) topic.publish(i);
    assert.ok(performance.now() - start < STEP_MS);
    assert.equal(topic.stats().evicted, 0);
    await killed;
    topic.close();
  });
}

test('a blocked reader hears of the end of a spawned writer on every runtime', async () => {
  const writes: Role = ({ topic, port, compute }) => {
    const own = topic.createTopic<number>();
    const handle = own.handle();
    port().postMessage(handle, handle.transfer);
    own.publish(1);
    compute(0);
  };
  const { port, thread } = spawnThread(spawn, writes);
  const handle = (await within('the handle', port.receiveAsync())) as TopicHandle;
  const blocked = startThread(readsAll, {
    data: { handle, way: 'blocked' },
    transfer: [handle.tether, handle.pass],
  });
  await blocked.next();
  void thread.kill();
  assert.equal(((await blocked.done()) as Story).reason, 'terminated');
});

test('a reliable reader that is killed holds nobody, once its writer has heard of it', async () => {
  const topic = createTopic<number>({ capacityBytes: 1024, reliableReaders: 1, whenHeld: 'drop-newest' });
  const handle = topic.handle();
  const holds: Role = ({ data, topic, gates, hear }) => {
    topic.subscribe(data.handle, { slow: 'reliable' });
    gates.open(0);
    return hear();
  };
  const thread = startThread(holds, { data: { handle }, transfer: handle.transfer });
  await thread.gates.passAsync(0);
  for (let i = 0; i < 100; i++) topic.publish(i);
  assert.ok(topic.stats().dropped > 0);
  await thread.kill();
  await until('its handle is forgotten', () => topic.stats().handles === 0);
  const { dropped } = topic.stats();
  for (let i = 0; i < 100; i++) topic.publish(i);
  assert.equal(topic.stats().dropped, dropped);
  topic.close();
});

test('a handle that is passed on is good where it arrives, and nowhere else', async () => {
  const topic = createTopic<number>();
  topic.publish(5);
  const handle = topic.handle();
  const passes: Role = ({ data, say, topic }) => {
    say(data.handle, [data.handle.tether, data.handle.pass]);
    try {
      topic.subscribe(data.handle);
    } catch (error) {
      return (error as { code: string }).code;
    }
    return 'opened';
  };
  const thread = startThread(passes, { data: { handle }, transfer: handle.transfer });
  const back = (await thread.next()) as TopicHandle;
  assert.equal(await thread.done(), 'ERR_HANDLE');
  const reader = subscribe<number>(back);
  assert.deepEqual([reader.tryReceive(), reader.tryReceive()], [5, EMPTY]);
  topic.close();
  assert.equal(await within('the end', reader.closed), 'closed');
});
