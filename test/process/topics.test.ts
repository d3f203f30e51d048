// A topic and its readers in other processes, over memory that all have mapped: how they wait, how each end is told, who is killed, what is left.
// watchdog: 240 s
// asked for: node-22, node-26
// needs: native
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { CLOSED, EMPTY } from '../../src/index.ts';
import {
  connect,
  type Forked,
  fork,
  listen,
  type Port,
  type PortLink,
  processMemory,
} from '../../src/process/index.ts';
import { createTopic, subscribe, type Topic, type TopicOptions } from '../../src/topic/index.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import { descriptors } from '../kit/native.ts';
import { STEP_MS, until, within } from '../kit/watchdog.ts';

const CHILD = inOneFile(new URL('./topic-child.js', import.meta.url));

interface Story {
  readonly got: readonly number[];
  readonly missed: number;
  readonly reason: string;
  readonly closed: string;
}
const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

async function child(...args: readonly string[]): Promise<Forked & { readonly link: PortLink }> {
  const forked = fork(CHILD, { args, child: { stdio: ['ignore', 'inherit', 'inherit'] } });
  await within('the child', forked.port.ready);
  return { ...forked, link: forked.port.link as PortLink };
}
async function over(...all: readonly Forked[]): Promise<void> {
  for (const { port } of all) port.close();
  for (const { port } of all) await within('its end', (port.link as PortLink).closed);
}
/** Deno leaves an epoll and an eventfd of its own of each thread that has loaded an addon, whatever that is, until the process ends. */
const LEFT_OF_THREAD = 'Deno' in globalThis ? 2 : 0;

/** A topic, and what is left of it behind its end: nothing of ours. */
async function withTopic(options: TopicOptions, use: (topic: Topic<number>) => Promise<void>): Promise<void> {
  const before = descriptors().length;
  const topic = createTopic<number>({ memory: processMemory(), ...options });
  await use(topic);
  topic.close();
  const left = options.wakes === 'thread' ? LEFT_OF_THREAD : 0;
  await until('all descriptors are closed', () => descriptors().length <= before + left);
}
const said = async (port: Port): Promise<unknown> => within('a word', port.receiveAsync());

// What this loads for its first child stays.
await over(await child('nothing'));
await once(new Worker(new URL('data:text/javascript,')), 'exit');

for (const [way, wakes] of [
  ['blocked', 'writer'],
  ['loop', 'writer'],
  ['blocked', 'thread'],
  ['loop', 'thread'],
] as const) {
  test(`a reader in another process (${way}, the ${wakes} wakes) gets the latest, is woken for the rest, and hears of the end`, () =>
    withTopic({ wakes }, async (topic) => {
      topic.publish(-1);
      topic.publish(0);
      const reader = await child('read', way, 'answers');
      await within('who asks', reader.link.shareTopic('numbers', topic));
      assert.equal(await said(reader.port), 'here');
      assert.equal(await said(reader.port), 0);
      for (let i = 1; i < 20; i++) {
        // So that it sleeps now and then. Nothing but the topic wakes it.
        await new Promise((resolve) => setTimeout(resolve, i & 3));
        topic.publish(i);
        assert.equal(await said(reader.port), i);
      }
      topic.close();
      assert.deepEqual(await said(reader.port), { got: upTo(20), missed: 0, reason: 'closed', closed: 'closed' });
      await over(reader);
    }));
}

for (const wakes of ['writer', 'thread'] as const)
  test(`three readers, blocked and not, hear of everything (the ${wakes} wakes); a killed one stops nobody, and is counted no more`, () =>
    withTopic({ wakes }, async (topic) => {
      const readers = [
        await child('read', 'blocked'),
        await child('read', 'loop'),
        await child('read', 'loop'),
      ] as const;
      for (const { link, port } of readers) {
        await within('who asks', link.shareTopic('numbers', topic));
        assert.equal(await said(port), 'here');
      }
      assert.equal(topic.stats().handles, 3);
      readers[2].child.kill('SIGKILL');
      for (let i = 0; i < 2000; i++) topic.publish(i);
      await until('the dead one is told of', () => topic.stats().handles === 2);
      for (let i = 2000; i < 3000; i++) topic.publish(i);
      topic.close();
      for (const { port } of readers.slice(0, 2)) assert.deepEqual(((await said(port)) as Story).got, upTo(3000));
      await over(...readers);
    }));

test('a reliable reader holds the writer, who blocks; killed there, it holds it no more', () =>
  withTopic({ capacityBytes: 2048, reliableReaders: 1, patienceMs: STEP_MS }, async (topic) => {
    const reader = await child('hold');
    await within('who asks', reader.link.shareTopic('numbers', topic));
    assert.equal(await said(reader.port), 'here');
    // This thread is about to block for it.
    const killer = spawn('/bin/sh', ['-c', `sleep 0.2; kill -9 ${reader.child.pid}`], { stdio: 'ignore' });
    for (let i = 0; i < 1000; i++) topic.publish(i);
    assert.equal(topic.stats().evicted, 0, 'it was not its patience that ended it');
    await within('who killed it', once(killer, 'exit'));
    await over(reader);
  }));

for (const [end, reason] of [
  ['kill', 'terminated'],
  ['exit', 'exit'],
  // Deno has no word for it as its main thread ends.
  ['throw', process.versions['deno'] === undefined ? 'crash' : 'exit'],
  ['close', 'closed'],
]) {
  test(`a writer that ends (${end}) settles whoever waits, behind what it had published`, async () => {
    const before = descriptors().length;
    const writer = await child('publish', '', JSON.stringify({ count: 50, end }));
    const one = subscribe<number>(await within('a topic', writer.link.topic('one')), { start: 'next' });
    const two = subscribe<number>(await within('a topic', writer.link.topic('two')), { start: 'next' });
    assert.equal(await said(writer.port), 'shared');
    writer.port.send('go');
    const got: number[] = [];
    for (let value = await within('one', one.receiveAsync()); value !== CLOSED; ) {
      got.push(value as number);
      value = await within('one', one.receiveAsync());
    }
    assert.deepEqual([got, one.reason, await one.closed], [upTo(50), reason, reason]);
    // A thread that is blocked.
    assert.deepEqual([...two.blocking()], upTo(50));
    assert.equal(two.reason, reason);
    one.close();
    two.close();
    await over(writer);
    await until('all descriptors are closed', () => descriptors().length <= before);
  });
}

test('a writer that is killed at any moment leaves whole messages, and blocked readers hear of it', async () => {
  for (const delayMs of [0, 4]) {
    const writer = await child('publish', '', JSON.stringify({ end: 'never' }));
    let missed = 0;
    const one = subscribe<number>(await writer.link.topic('one'), {
      start: 'next',
      onMissed: (count) => {
        missed += count;
      },
    });
    const two = subscribe<number>(await writer.link.topic('two'), { start: 'next', slow: 'newest' });
    assert.equal(await said(writer.port), 'shared');
    writer.port.send('go');
    // All of them are numbered from 0 on: what this one did not get it was told of.
    let last = -1;
    const take = (value: number): void => {
      assert.equal(value - last, 1 + missed, `${value} behind ${last}, with ${missed} missed between`);
      missed = 0;
      last = value;
    };
    take((await within('a message', one.receiveAsync())) as number);
    setTimeout(() => writer.child.kill('SIGKILL'), delayMs);
    for await (const value of one) take(value);
    assert.deepEqual([one.reason, one.missed <= last], ['terminated', true]);
    // The newest alone, and that is all there is; where the writer was killed between its two words for it, the one before comes first.
    const rest = [...two.blocking()];
    assert.deepEqual(rest, rest.length === 1 ? [last] : [last - 1, last]);
    assert.equal(two.missed, last + 1 - rest.length);
    assert.equal(two.tryReceive(), CLOSED);
    one.close();
    two.close();
    await over(writer);
  }
});

test('a link that ends takes its own reader along, and no other', () =>
  withTopic({}, async (topic) => {
    const folder = mkdtempSync(join(tmpdir(), 'topics-'));
    await using server = await listen(`unix:${folder}/socket`);
    const first = await connect(server.address);
    const second = await connect(server.address);
    const near = [await taken(server), await taken(server)];
    const readers = [];
    for (const [i, port] of near.entries()) {
      const asked = [first, second][i]?.link?.topic('numbers');
      await within('who asks', (port.link as PortLink).shareTopic('numbers', topic));
      readers.push(subscribe<number>(await asked));
    }
    topic.publish(1);
    await (near[0] as Port).link?.close();
    assert.equal(await within('its end', (readers[0] as (typeof readers)[0]).closed), 'closed');
    topic.publish(2);
    assert.deepEqual([readers[1]?.receive(), readers[1]?.receive(), readers[1]?.tryReceive()], [1, 2, EMPTY]);
    assert.equal(topic.stats().handles, 1);
    readers[1]?.close();
    await until('it is gone', () => topic.stats().handles === 0);
    first.close();
    second.close();
    await server.close();
    rmSync(folder, { recursive: true });
  }));

test('what cannot be is said: sockets, threads, a channel of that name, twice, closed', () =>
  withTopic({}, async (topic) => {
    await using server = await listen('tcp:0');
    const far = await connect(server.address);
    const near = await taken(server);
    const code = (promise: Promise<unknown> | undefined): Promise<unknown> =>
      within(
        'a refusal',
        (promise as Promise<unknown>).then(
          () => 'there',
          (error) => error.code,
        ),
      );
    const asked = far.link?.topic('numbers');
    assert.equal(await code(near.link?.shareTopic('numbers', topic)), 'ERR_UNSUPPORTED');
    assert.equal(await code(asked), 'ERR_UNSUPPORTED');
    await assert.rejects(async () => far.link?.topic('other'), /tcp|memory/i);
    far.close();

    const other = await child('channel');
    assert.equal(await code(other.link.shareTopic('numbers', topic)), 'ERR_REFUSED');
    await over(other);

    const reader = await child('nothing');
    const threads = createTopic();
    assert.equal(await code(reader.link.shareTopic('numbers', threads)), 'ERR_UNSUPPORTED');
    const never = reader.link.shareTopic('numbers', topic);
    assert.equal(await code(reader.link.shareTopic('', topic)), 'ERR_OPTION');
    assert.equal(await code(reader.link.shareTopic('x', {} as Topic)), 'ERR_OPTION');
    assert.throws(() => topic.handle(), { code: 'ERR_UNSUPPORTED' });
    assert.throws(() => createTopic({ memory: {} as never }), { code: 'ERR_OPTION' });
    reader.child.kill('SIGKILL');
    assert.match(String(await code(never)), /ERR_CLOSED|ERR_PEER/);
    threads.close();
    await over(reader);
  }));

async function taken(server: AsyncIterable<Port>): Promise<Port> {
  for await (const port of server) return port;
  throw new Error('nobody came');
}
