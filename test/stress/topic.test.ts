// Sixteen readers of one writer that never rests, half of them killed on the way; and writers that are killed in the middle of a publication, again and
// again. Each message has its checksum: what a reader is handed is whole, in order, and with what it was told to have missed it is everything.
// watchdog: 240 s
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLOSED, createTopic, EMPTY, subscribe, type TopicHandle } from '../../src/topic/index.ts';
import { type Role, startThread } from '../kit/thread.ts';
import { turn, within } from '../kit/watchdog.ts';

const MESSAGES = 20_000;
const WRITERS = 25;

interface Message {
  readonly i: number;
  readonly bytes: Uint8Array;
  readonly text: string;
  readonly sum: number;
}

/** Of any length up to a fifth of the ring, and with a sum over all of it. */
function message(i: number): Message {
  const bytes = new Uint8Array((i * 7919) % 700).fill(i);
  return { i, bytes, text: `${i}`.repeat(i % 30), sum: bytes.length * (i & 255) + i };
}

const reads: Role = async ({ data, topic, say, pause }) => {
  const reader = topic.subscribe<Message>(data.handle, data.options);
  let missed = 0;
  let next = -1;
  let count = 0;
  const take = ({ i, bytes, text, sum }: Message): void => {
    let whole = i;
    for (const byte of bytes) whole += byte;
    if (whole !== sum || text !== `${i}`.repeat(i % 30) || bytes.length !== (i * 7919) % 700) {
      throw new Error(`message ${i} is torn`);
    }
    const between = reader.missed - missed;
    if (next >= 0 && i !== next + between) throw new Error(`message ${i} where ${next + between} was due`);
    missed = reader.missed;
    next = i + 1;
    // Now and then slower than the writer.
    if (++count % 64 === data.slow) pause(1);
    if (count === 1) say('reads');
  };
  if (data.blocked) for (const value of reader.blocking()) take(value);
  else for await (const value of reader) take(value);
  return { last: next - 1, count, missed, reason: reader.reason };
};

test('sixteen readers, eight of which are killed on the way', async () => {
  const topic = createTopic<Message>({ capacityBytes: 4096, reliableReaders: 2, patienceMs: 50 });
  topic.publish(message(0));
  const threads = Array.from({ length: 16 }, (_, k) => {
    const handle = topic.handle();
    const options = { slow: k % 8 === 7 ? 'reliable' : k % 4 === 1 ? 'newest' : 'skip' };
    return startThread(reads, {
      data: { handle, options, blocked: k % 2 === 0, slow: k % 3 },
      transfer: handle.transfer,
    });
  });
  for (const thread of threads) await thread.next();
  const killed: Promise<void>[] = [];
  for (let i = 1; i < MESSAGES; i++) {
    topic.publish(message(i));
    if (i % (MESSAGES / 8) === 100)
      killed.push(threads[2 * killed.length + (killed.length & 1)]?.kill() as Promise<void>);
    if (i % 500 === 0) await turn();
  }
  topic.close();
  const lives = threads.filter((_, k) => (k & 1) !== ((k >> 1) & 1));
  for (const thread of lives) {
    const { last, reason } = (await thread.done()) as { last: number; reason: string };
    assert.deepEqual([last, reason], [MESSAGES - 1, 'closed']);
  }
  await Promise.all(killed);
  assert.equal(killed.length, 8);
});

const writes: Role = async ({ data, topic, say, hear }) => {
  const own = topic.createTopic<Message>({ capacityBytes: 4096 });
  const handles = [own.handle(), own.handle()];
  say(
    handles,
    handles.flatMap((handle) => [...handle.transfer]),
  );
  await hear();
  const send = new Function(`return (${data.message});`)() as (i: number) => Message;
  for (let i = 0; ; i++) {
    own.publish(send(i));
    // A thread that never comes back to its event loop is not terminated on Deno.
    if (i % 1000 === 0) await new Promise((resolve) => setTimeout(resolve, 0));
  }
};

test('writers that are killed in the middle of a publication: nothing torn, and the newest is there for who comes late', async () => {
  for (let round = 0; round < WRITERS; round++) {
    const writer = startThread(writes, { data: { message: message.toString() } });
    const [early, late] = (await writer.next()) as [TopicHandle, TopicHandle];
    using reader = subscribe<Message>(early);
    writer.tell('go');
    const check = ({ i, bytes, sum }: Message): number => {
      assert.equal(
        bytes.reduce((total, byte) => total + byte, i),
        sum,
      );
      return i;
    };
    let last = check((await within('a message', reader.receiveAsync())) as Message);
    const killed = writer.kill();
    for await (const value of reader) last = Math.max(last, check(value));
    await killed;
    assert.equal(reader.reason, 'terminated');
    // What was published last, whoever has read it.
    using after = subscribe<Message>(late);
    const value = after.tryReceive();
    assert.ok(value !== EMPTY && value !== CLOSED && check(value) >= last - 1, `after ${last}`);
  }
});
