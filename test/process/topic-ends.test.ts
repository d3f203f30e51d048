// Topics between processes, where the two sides do not meet as they should: nobody subscribes, a name is shared twice, an end comes early.
// needs: native
// asked for: node-22, node-26
// watchdog: 120 s
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CLOSED } from '../../src/index.ts';
import { connect, listen, type PortLink, processMemory } from '../../src/process/index.ts';
import { createTopic, subscribe, type Topic } from '../../src/topic/index.ts';
import { startTopicWaker } from '../../src/transport/process/topic-waker.ts';
import { KNOCK_WORDS, knock, OVER, RUNS } from '../../src/wait/knocks.ts';
import { descriptors, native, nativeChoice } from '../kit/native.ts';
import { until, within } from '../kit/watchdog.ts';
import { runProgram } from '../runtimes/program.ts';

interface Stage {
  readonly topic: Topic<number>;
  readonly here: PortLink;
  readonly there: PortLink;
}

/** A topic, and both ends of a connection of this process with itself; behind it nothing is left. */
async function staged(use: (stage: Stage) => Promise<void>): Promise<void> {
  const before = descriptors().length;
  const folder = mkdtempSync(join(tmpdir(), 'topic-ends-'));
  const server = await listen(join(folder, 'socket'));
  const taken = server[Symbol.asyncIterator]().next();
  const far = await connect(server.address);
  const near = (await within('a connection', taken)).value as typeof far;
  await within('both ends', Promise.all([near.ready, far.ready]));
  const topic = createTopic<number>({ memory: processMemory() });
  try {
    await use({ topic, here: near.link as PortLink, there: far.link as PortLink });
  } finally {
    topic.close();
    near.close();
    far.close();
    await server.close();
    rmSync(folder, { recursive: true });
  }
  await until('all descriptors are closed', () => descriptors().length <= before);
}
const code = (promise: Promise<unknown>): Promise<unknown> =>
  within(
    'an answer',
    promise.then(
      () => 'there',
      (error) => error.code,
    ),
  );

test('a handle that nobody subscribes to counts, keeps nobody up, and is good behind the end', () =>
  staged(async ({ topic, here, there }) => {
    const [, one] = await within('a topic', Promise.all([here.shareTopic('numbers', topic), there.topic('numbers')]));
    const [, two] = await within('a topic', Promise.all([here.shareTopic('numbers', topic), there.topic('numbers')]));
    assert.equal(topic.stats().handles, 2);
    for (let i = 0; i < 1000; i++) topic.publish(i);
    topic.close();
    const reader = subscribe<number>(one);
    assert.deepEqual([reader.tryReceive(), reader.tryReceive(), reader.reason], [999, CLOSED, 'closed']);
    assert.equal(await within('its end', reader.closed), 'closed');
    assert.throws(() => subscribe(one), { code: 'ERR_HANDLE' });
    reader.close();
    await within('the end', there.close());
    // Its connection is over: what was published can be read all the same.
    const late = subscribe<number>(two, { start: 'oldest' });
    assert.equal([...late.blocking()].at(-1), 999);
    late.close();
  }));

test('one name, shared twice and asked for twice: two readers; once: the other waits until the connection ends', () =>
  staged(async ({ topic, here, there }) => {
    const shared = [here.shareTopic('numbers', topic), here.shareTopic('numbers', topic)];
    const handles = await within('both', Promise.all([there.topic('numbers'), there.topic('numbers')]));
    await within('both', Promise.all(shared));
    const readers = handles.map((handle) => subscribe<number>(handle));
    topic.publish(5);
    for (const reader of readers) assert.equal(await within('a message', reader.receiveAsync()), 5);
    const [alone, waits] = [code(here.shareTopic('more', topic)), code(there.topic('none'))];
    await within('the end', there.close());
    assert.match(String(await alone), /ERR_REFUSED|ERR_CLOSED/);
    assert.equal(await waits, 'ERR_CLOSED');
    for (const reader of readers) {
      assert.equal(await within('its end', reader.receiveAsync()), CLOSED);
      reader.close();
    }
  }));

test('a topic that was closed before its reader came: both are told, and a channel of that name is free', () =>
  staged(async ({ topic, here, there }) => {
    const shared = code(here.shareTopic('numbers', topic));
    topic.close();
    const asked = code(there.topic('numbers'));
    assert.deepEqual([await shared, await asked], ['ERR_CLOSED', 'ERR_CLOSED']);
    using other = createTopic<number>({ memory: processMemory() });
    const [, handle] = await within(
      'another',
      Promise.all([here.shareTopic('numbers', other), there.topic('numbers')]),
    );
    other.publish(1);
    using reader = subscribe<number>(handle);
    assert.equal(reader.tryReceive(), 1);
  }));

test('both share, or both ask for, one name: each is told at once, and the connection goes on', () =>
  staged(async ({ topic, here, there }) => {
    using other = createTopic<number>({ memory: processMemory() });
    const shared = [code(here.shareTopic('numbers', topic)), code(there.shareTopic('numbers', other))];
    assert.deepEqual(await Promise.all(shared), ['ERR_REFUSED', 'ERR_REFUSED']);
    const asked = [code(here.topic('numbers')), code(there.topic('numbers'))];
    assert.deepEqual(await Promise.all(asked), ['ERR_REFUSED', 'ERR_REFUSED']);
    const met = [code(here.topic('numbers')), code(there.shareTopic('numbers', other))];
    assert.deepEqual(await Promise.all(met), ['there', 'there']);
    assert.deepEqual([topic.stats().handles, other.stats().handles, here.reason], [0, 1, undefined]);
  }));

const ENDS: Readonly<Record<string, readonly [expected: string, end: (stage: Stage) => unknown]>> = {
  'the topic is closed': ['ERR_CLOSED', ({ topic }) => topic.close()],
  'this end of the link is closed': ['ERR_CLOSED', ({ here }) => here.close()],
  'this end leaves': ['ERR_CLOSED', ({ here }) => here.close({ drainMs: 100 })],
  'the other end is closed': ['ERR_REFUSED', ({ there }) => there.close()],
  'the other end leaves': ['ERR_REFUSED', ({ there }) => there.close({ drainMs: 100 })],
};
for (const [what, [expected, end]] of Object.entries(ENDS)) {
  test(`who shares, and whoever asks for another name, is told at once when ${what}`, () =>
    staged(async (stage) => {
      const { topic, here } = stage;
      const [shared, again] = [code(here.shareTopic('numbers', topic)), code(here.shareTopic('more', topic))];
      const asked = code(here.topic('none'));
      // The other side has heard of them.
      await within('both names', offered(stage.there, 3));
      await end(stage);
      assert.deepEqual([await shared, await again], [expected, expected]);
      assert.equal(topic.stats().handles, 0);
      if (here.reason === undefined) await here.close();
      assert.match(String(await asked), /ERR_CLOSED|ERR_REFUSED/);
    }));
}
async function offered(link: PortLink, count: number): Promise<void> {
  for await (const _ of link.channels) if (--count === 0) return;
}

test('a topic that is closed while its memory is on the way: the reader gets what there was, and the end', () =>
  staged(async ({ topic, here, there }) => {
    topic.publish(3);
    const asked = there.topic('numbers');
    await within('who shares', here.shareTopic('numbers', topic));
    topic.close();
    const handle = await within('a handle', asked);
    using reader = subscribe<number>(handle);
    assert.deepEqual(
      [await within('it', reader.receiveAsync()), await within('the end', reader.receiveAsync())],
      [3, CLOSED],
    );
    // Who comes behind the end hears that there is none.
    assert.equal(await code(here.shareTopic('numbers', topic)), 'ERR_CLOSED');
  }));

test('the thread that wakes runs in the package as it is shipped', async () => {
  const program = fileURLToPath(new URL('./topic-waker-program.js', import.meta.url));
  assert.deepEqual(await runProgram(program, [], 60_000), { status: 0, output: 'runs' });
});

test('the thread that wakes lets go of a reader that is gone, though nobody is woken behind that', async () => {
  const bytes = 4096;
  const sleeps = 8;
  const memory = native.createMemory(bytes);
  const words = new Int32Array(native.map(memory, bytes).buffer);
  const own = new Int32Array(new SharedArrayBuffer(4 * KNOCK_WORDS));
  let lost = false;
  const plan = { own, bytes, signal: 0, sleeps, lost: () => void (lost = true) };
  const bells = startTopicWaker(native, nativeChoice, memory, plan);
  await until('it runs', () => Atomics.load(own, RUNS) === 1);
  const ends = new Int32Array(2);
  native.socketPair(ends);
  const [near = -1, far = -1] = ends;
  const before = descriptors().length;
  bells.add(0, () => native.duplicate(near));
  Atomics.store(words, sleeps, 1);
  knock(own);
  await until('it has rung', () => Atomics.load(words, sleeps) === 0);
  assert.equal(bells.isFree(0), false);
  bells.remove(0);
  await until('the slot is free', () => bells.isFree(0));
  await until('its descriptor is closed', () => descriptors().length <= before);
  Atomics.store(own, OVER, 1);
  knock(own);
  await until('it is over', () => lost);
  for (const each of [memory, near, far]) native.close(each);
});
