// Loops over a reader of topics: what a driver hears comes out of them, in order, and each ends as a loop ends.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rejection } from '../../test/kit/rejection.ts';
import { until } from '../../test/kit/watchdog.ts';
import { ClosedError, CodecError } from '../errors.ts';
import { ENGINE_MESSAGE_BYTES_MAX, ENGINE_PARTS_MAX, ENGINE_THING_BYTES, ENGINE_WAITING_BYTES } from '../limits.ts';
import { CLOSED, EMPTY } from '../outcome.ts';
import type { Driver, Heard } from './driver.ts';
import { Names, randomId } from './names.ts';
import { EngineReader, type EngineSubscribeOptions } from './reader.ts';
import { RecordWriter } from './record.ts';
import { EngineTopic, Publisher } from './topic.ts';
import { Unflushed } from './unflushed.ts';

/** A driver that is its own server. */
async function pair(
  options: EngineSubscribeOptions = {},
  maxBytes: number = 4096,
): Promise<{
  topic: EngineTopic<number>;
  reader: EngineReader<number>;
  hear: Heard;
  driver: { losses: number };
  another(): EngineTopic<number>;
}> {
  const names = new Names('test');
  let hear: Heard = () => {};
  const driver = {
    closed: false,
    up: true,
    losses: 0,
    where: 'here',
    maxBytes,
    publish(subject: string, bytes: Uint8Array) {
      hear(bytes, subject);
      return true;
    },
    async flush() {},
    async subscribe(_subject: string, heard: Heard) {
      hear = heard;
      return { close() {}, async drain() {} };
    },
  } as Partial<Driver> as Driver;
  const publisher = new Publisher(driver, names, 'numbers', 'packed', new Unflushed(driver));
  const reader = await EngineReader.open<number>(driver, names, 'numbers', options, () => {});
  return {
    topic: new EngineTopic(publisher),
    another: () => new EngineTopic(publisher),
    reader,
    driver: driver as { losses: number },
    hear: (bytes, subject) => hear(bytes, subject),
  };
}

test('a loop that is left takes nothing more; the next one goes on behind it', async () => {
  const { topic, reader } = await pair();
  for (let i = 0; i < 5; i++) topic.publish(i);
  await topic.flush();
  const come: unknown[] = [];
  for await (const value of reader) {
    come.push(value);
    if (value === 1) break;
  }
  for await (const entry of reader.entries()) {
    come.push(entry);
    if (entry[1] === 3) break;
  }
  assert.deepEqual(come, [0, 1, ['numbers', 2], ['numbers', 3]]);
  assert.equal(reader.tryReceive(), 4);
});

test('calls of next stand in line, are served in order, and end with the reader', async () => {
  const { topic, reader } = await pair();
  const loop = reader[Symbol.asyncIterator]();
  const asked = [loop.next(), loop.next(), loop.next(), loop.next()];
  for (let i = 0; i < 3; i++) topic.publish(i);
  await topic.flush();
  assert.deepEqual(
    (await Promise.all(asked.slice(0, 3))).map(({ value }) => value),
    [0, 1, 2],
  );
  reader.close();
  assert.deepEqual(await asked[3], { value: undefined, done: true });
  assert.deepEqual(await loop.next(), { value: undefined, done: true });
});

test('a loop that has ended takes nothing, though the reader goes on', async () => {
  const { topic, reader } = await pair();
  const loop = reader[Symbol.asyncIterator]();
  await loop.return?.();
  topic.publish(7);
  await topic.flush();
  assert.deepEqual(await loop.next(), { value: undefined, done: true });
  assert.equal(await reader.receiveAsync(), 7);
});

test('what cannot be decoded ends a loop with its error, and is behind the next one', async () => {
  const { topic, reader, hear } = await pair();
  const names = new Names('test');
  topic.publish(1);
  await topic.flush();
  // As from another publisher: one value, of bytes that are none.
  const strange = new Uint8Array(32 + 8 + 8).fill(0xff, 40);
  strange.set([1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, ...new Array(16).fill(5), 8]);
  hear(strange, names.topic('numbers'));
  topic.publish(2);
  await topic.flush();
  const come: unknown[] = [];
  await assert.rejects(async () => {
    for await (const value of reader) come.push(value);
  }, CodecError);
  for await (const value of reader) {
    come.push(value);
    break;
  }
  assert.deepEqual(come, [1, 2]);
});

test('what is told of a gap may read: each message goes to one who reads', async () => {
  const nested: Promise<unknown>[] = [];
  const { topic, reader } = await pair({ capacity: 4, onMissed: () => void nested.push(reader.receiveAsync()) });
  const first = reader.receiveAsync();
  for (let i = 0; i < 10; i++) topic.publish(i);
  await topic.flush();
  const come: unknown[] = [await first];
  for (let next = reader.tryReceive(); next !== EMPTY; next = reader.tryReceive()) come.push(next);
  come.push(...(await Promise.all(nested)));
  // Who was told of the gap before 6 has taken it.
  assert.deepEqual(come, [0, 7, 8, 9, 6]);
  assert.deepEqual([reader.stats().received, reader.missed], [5, 5]);
});

test('what is told of a gap may read all there is, in order', async () => {
  const come: unknown[] = [];
  const { topic, reader } = await pair({ capacity: 3, onMissed: () => all() });
  const all = (): void => {
    for (let next = reader.tryReceive(); next !== EMPTY; next = reader.tryReceive()) come.push(next);
  };
  for (let i = 0; i < 8; i++) topic.publish(i);
  await topic.flush();
  await until('it to have had its turn', () => reader.missed === 5);
  all();
  assert.deepEqual(come, [5, 6, 7]);
});

test('what is told of a gap may give up whoever waits, and the message behind it is for the next one', async () => {
  const given = new AbortController();
  let close = false;
  const told: number[] = [];
  const onMissed = (count: number): void => {
    told.push(count);
    given.abort('given up');
    if (close) reader.close();
  };
  const { reader, hear } = await pair({ onMissed });
  const writer = new RecordWriter(randomId(), 'packed', () => 4096);
  const say = (number: number): void =>
    hear(writer.write(number, number, 1)[0] as Uint8Array, new Names('test').topic('numbers'));
  say(0);
  assert.equal(reader.tryReceive(), 0);
  const waits = reader.receiveAsync({ signal: given.signal });
  say(5);
  assert.equal(await rejection(waits), 'given up');
  assert.equal(reader.stats().received, 1);
  assert.equal(await reader.receiveAsync(), 5);
  assert.deepEqual([told, reader.stats().received], [[4], 2]);
  close = true;
  const last = reader.receiveAsync();
  say(9);
  assert.equal(await last, CLOSED);
  assert.deepEqual([told, reader.stats().received], [[4, 3], 2]);
});

test('a loss is told by one flush, and by no later one', async () => {
  const { topic, driver } = await pair();
  topic.publish(1);
  driver.losses++;
  await assert.rejects(topic.flush(), { code: 'ERR_CLOSED', reason: 'lost' });
  await topic.flush();
});

test('what was not sent is told by one flush, and by no later one', async () => {
  const { topic, driver } = await pair();
  Object.assign(driver, { up: false });
  topic.publish(1);
  await assert.rejects(topic.flush(), { code: 'ERR_CLOSED', reason: 'lost' });
  Object.assign(driver, { up: true });
  assert.equal(topic.stats().unsent, 1);
  topic.publish(2);
  await topic.flush();
});

test('of what goes together those alone are unsent that did not go', async () => {
  const { topic, driver, hear } = await pair();
  const subject = new Names('test').topic('numbers');
  let room = 1;
  Object.assign(driver, {
    publish(_subject: string, bytes: Uint8Array) {
      if (room-- <= 0) return false;
      hear(bytes, subject);
      return true;
    },
  });
  const large = new Uint8Array(10_000) as never;
  for (let i = 0; i < 3; i++) topic.publish(i);
  // The three go, and none of its parts.
  topic.publish(large);
  assert.deepEqual(topic.stats(), { published: 4, unsent: 1 });
  for (let i = 0; i < 3; i++) topic.publish(i);
  // Nothing goes, but what is gathered behind it.
  topic.publish(large);
  room = 1;
  topic.publish(7);
  await assert.rejects(topic.flush(), ClosedError);
  assert.deepEqual(topic.stats(), { published: 9, unsent: 5 });
});

test('what makes no sense is counted, and nothing else comes of it', async () => {
  const { topic, reader, hear } = await pair();
  const subject = new Names('test').topic('numbers');
  const head = (outcome: number, count: number): number[] => [
    ...[1, outcome, 0, 0, 0, 0, 0, 0, 1, 0, count, 0, 0, 0, 0, 0],
    ...new Array(16).fill(5),
  ];
  hear(new Uint8Array(), subject);
  // More values than there are; one that is longer than what is there; an answer.
  hear(new Uint8Array([...head(0, 2), 8, 0, 0, 0, 0, 0, 0, 0, ...new Array(8).fill(0)]), subject);
  hear(new Uint8Array([...head(0, 1), 255, 255, 255, 255, 0, 0, 0, 0]), subject);
  hear(new Uint8Array([...head(1, 0), ...new Array(8).fill(0)]), subject);
  topic.publish(1);
  await topic.flush();
  assert.equal(await reader.receiveAsync(), 1);
  assert.deepEqual(reader.stats(), { received: 1, missed: 0, doubled: 0, strange: 4 });
});

test('what is published behind the largest value there is goes, too', async () => {
  const { topic, reader, driver } = await pair({}, ENGINE_MESSAGE_BYTES_MAX);
  // A server that has not got all of it yet.
  Object.assign(driver, { flush: () => new Promise(() => {}) });
  const most = ENGINE_PARTS_MAX * (ENGINE_MESSAGE_BYTES_MAX - 32) - 64;
  topic.publish(new Uint8Array(most) as never);
  for (let i = 0; i < 10; i++) {
    topic.publish(i);
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  assert.equal(topic.stats().unsent, 0);
  assert.equal(((await reader.receiveAsync()) as unknown as Uint8Array).length, most);
  for (let i = 0; i < 10; i++) assert.equal(await reader.receiveAsync(), i);
});

test('large messages that nobody reads go as many ones do: the oldest first', async () => {
  const { topic, reader } = await pair({}, ENGINE_MESSAGE_BYTES_MAX);
  const large = topic as unknown as EngineTopic<Uint8Array>;
  const [count, bytes] = [20, 8 * 1024 * 1024];
  for (let i = 0; i < count; i++) {
    large.publish(new Uint8Array(bytes).fill(i));
    await large.flush();
  }
  const fits = Math.floor(ENGINE_WAITING_BYTES / bytes) - 1;
  assert.equal(reader.missed, count - fits);
  const first = (await reader.receiveAsync()) as unknown as Uint8Array;
  assert.equal(first[0], count - fits);
  for (let i = 0; i < fits; i++) reader.tryReceive();
  assert.equal(reader.tryReceive(), EMPTY);
});

test('small values that each came by itself weigh what their messages do, and no longer than they wait', async () => {
  const { reader, hear } = await pair({ capacity: 1_000_000 });
  const subject = new Names('test').topic('numbers');
  const writer = new RecordWriter(randomId(), 'packed', () => 4096);
  let number = 0;
  const come = (messages: number, values: number): void => {
    for (let i = 0; i < messages; i++) {
      for (let j = 0; j < values; j++) writer.gather(j, number++);
      for (const message of writer.gathered()) hear(message, subject);
    }
  };
  const most = ENGINE_WAITING_BYTES / ENGINE_THING_BYTES;
  come(most, 1);
  const { missed } = reader;
  assert.ok(missed > 0 && missed < most / 4, `${missed} of ${most}`);
  while (reader.tryReceive() !== EMPTY);
  come(most / 4, 3);
  while (reader.tryReceive() !== EMPTY);
  come(most / 4, 3);
  assert.equal(reader.missed, missed);
});

test('what waits holds no more than its bytes, whatever it lay in: one value, several, parts, JSON', async () => {
  const { reader, hear } = await pair();
  const subject = new Names('test').topic('numbers');
  const writer = new RecordWriter(randomId(), 'packed', () => 4096);
  const inJson = new RecordWriter(randomId(), 'json', () => 4096);
  const large = 'x'.repeat(5000);
  const messages = [...writer.write('one', 0, 1), ...writer.gather('two', 1), ...writer.gather('three', 2)];
  messages.push(...writer.gathered(), ...writer.write(large, 3, 2), ...inJson.write({ four: 4 }, 0, 1));
  // As a client has read them from its socket, into memory that it uses again.
  const read = new Uint8Array(65_536);
  for (const message of messages) {
    read.set(message, 1000);
    hear(read.subarray(1000, 1000 + message.length), subject);
  }
  read.fill(0);
  const come: unknown[] = [];
  for (let next: unknown = reader.tryReceive(); next !== EMPTY; next = reader.tryReceive()) come.push(next);
  assert.deepEqual(come, ['one', 'two', 'three', large, { four: 4 }]);
});

test('much that comes at once is missed by nobody who takes it; who has had its turn, and did not, is slow', async () => {
  const { topic, reader } = await pair({ capacity: 10 }, 1 << 20);
  const come: number[] = [];
  const reading = (async () => {
    for await (const value of reader) come.push(value as number);
  })();
  // Several messages of the server's, in one turn.
  for (let message = 0; message < 5; message++) {
    for (let i = 0; i < 1000; i++) topic.publish(message * 1000 + i);
    await topic.flush();
  }
  await until('all of them', () => come.length === 5000);
  assert.deepEqual([come[0], come.at(-1), reader.missed], [0, 4999, 0]);
  reader.close();
  await reading;

  const slow = await pair({ capacity: 10 }, 1 << 20);
  for (let i = 0; i < 1000; i++) slow.topic.publish(i);
  await slow.topic.flush();
  await until('it to have had its turn', () => slow.reader.missed === 990);
  assert.equal(await slow.reader.receiveAsync(), 990);
});

test('of several readers that stand in line each has what is next', async () => {
  const { topic, reader } = await pair({ capacity: 2 }, 1 << 20);
  const asked = Array.from({ length: 20 }, () => reader.receiveAsync());
  for (let i = 0; i < 20; i++) topic.publish(i);
  await topic.flush();
  assert.deepEqual(
    await Promise.all(asked),
    Array.from({ length: 20 }, (_, i) => i),
  );
});

test('each part of a program that has a topic is told of what was lost, once', async () => {
  const { topic, driver, another } = await pair();
  const other = another();
  topic.publish(1);
  other.publish(2);
  driver.losses++;
  const late = another();
  for (const each of [topic, other]) await assert.rejects(each.flush(), { code: 'ERR_CLOSED', reason: 'lost' });
  for (const each of [topic, other]) await each.flush();
  // It had it before anybody was told.
  await assert.rejects(late.flush(), { code: 'ERR_CLOSED', reason: 'lost' });
  await another().flush();
  driver.losses++;
  // Both at a time.
  const both = await Promise.allSettled([topic.flush(), topic.flush()]);
  assert.deepEqual(
    both.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
});
