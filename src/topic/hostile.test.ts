// Memory of a topic that lies, as another process that has it mapped can make it: no call hangs, what is thrown is ours, and the writer goes on.
import assert from 'node:assert/strict';
import process from 'node:process';
import { test } from 'node:test';
import { turn, until } from '../../test/kit/watchdog.ts';
import { LayoutError, MillraceError } from '../errors.ts';
import { CLOSED, createTopic, EMPTY, subscribe, type Topic, type TopicOptions } from './index.ts';
import * as layout from './layout.ts';

const CAPACITY = 1024;
const DATA = layout.SEAT_0;
const SEED = Number(process.env['SEED'] ?? Date.now() % 2 ** 31);

function lying(options: TopicOptions = {}): { topic: Topic<unknown>; words: Int32Array } {
  const topic = createTopic<unknown>({ capacityBytes: CAPACITY, ...options });
  return { topic, words: new Int32Array(topic.handle().memory) };
}

for (const start of ['latest', 'next', 'oldest'] as const) {
  test(`subscribe (${start}) where everything is being written over, always: an error, not a loop`, () => {
    const { topic, words } = lying({ reliableReaders: 1 });
    topic.publish(1);
    Atomics.store(words, layout.INTENT, 1 << 20);
    for (const slow of ['skip', 'newest', 'reliable'] as const) {
      assert.throws(() => subscribe(topic.handle(), { start, slow }), LayoutError);
    }
    topic.close();
  });
}

test('a newest message whose predecessors go round in a circle', () => {
  const { topic, words } = lying();
  for (let i = 0; i < 10; i++) topic.publish(i);
  // Each says that the one before it lies where the next one is, by going round the ring.
  for (let at = DATA; at < DATA + CAPACITY / 4; at += 4) words[at + 3] = CAPACITY - 32;
  const reader = subscribe(topic.handle(), { start: 'oldest' });
  for (let i = 0; i < 100 && reader.reason === undefined; i++) if (reader.tryReceive() === EMPTY) break;
  topic.close();
});

test('a writer that ends behind a lie is heard of: blocked, and by the event loop', async () => {
  for (const blocked of [true, false]) {
    const { topic, words } = lying();
    const reader = subscribe(topic.handle());
    topic.publish(1);
    Atomics.store(words, layout.INTENT, 1 << 20);
    const pending = blocked ? undefined : reader.receiveAsync();
    await turn();
    topic.close();
    assert.equal(pending === undefined ? reader.receive() : await pending, CLOSED);
    assert.equal(reader.reason, 'closed');
  }
});

test('behind the end there is one ring of messages at the most, whatever goes on in the memory', () => {
  const { topic, words } = lying();
  const reader = subscribe(topic.handle());
  Atomics.store(words, layout.CLOSED, 1);
  let count = -1;
  do topic.publish(++count);
  while (count <= CAPACITY && reader.tryReceive() !== CLOSED);
  // Each takes 32 bytes.
  assert.equal(count, CAPACITY / 32 + 1);
  assert.equal(reader.tryReceive(), CLOSED);
  topic.close();
});

test('an end with a reason that nobody has is one', () => {
  const { topic, words } = lying();
  const reader = subscribe(topic.handle());
  Atomics.store(words, layout.CLOSED, -77);
  assert.deepEqual([reader.tryReceive(), reader.reason], [CLOSED, 'lost']);
  // The writer does not believe it.
  topic.publish(1);
  assert.equal(topic.stats().published, 1);
  topic.close();
});

test('who sits under the number of nobody holds the writer not at all; who sits again, once', () => {
  const { topic, words } = lying({ reliableReaders: 2, patienceMs: 20 });
  const sit = (seat: number, holder: number): void => {
    Atomics.store(words, layout.SEAT_0 + seat * layout.SEAT_WORDS + layout.CURSOR, 1 << 30);
    Atomics.store(words, layout.SEAT_0 + seat * layout.SEAT_WORDS + layout.HOLDER, holder);
  };
  for (let i = 0; i < 200; i++) {
    sit(0, 1000 + i);
    sit(1, -1);
    topic.publish(i);
  }
  assert.equal(topic.stats().evicted, 0);
  const reader = subscribe(topic.handle(), { start: 'next' });
  for (let i = 0; i < 200; i++) {
    sit(0, 1);
    sit(1, 2);
    topic.publish(i);
  }
  // Both were handed out; so many have cost it its patience, however often they came back.
  assert.deepEqual([topic.stats().evicted, topic.stats().published], [2, 400]);
  assert.equal(reader.tryReceive(), 199);
  topic.close();
});

test('a reader that cannot begin leaves its seat, and its handle', async () => {
  const { topic, words } = lying({ reliableReaders: 1 });
  topic.publish(1);
  const intent = Atomics.exchange(words, layout.INTENT, 1 << 20);
  const { handles } = topic.stats();
  assert.throws(() => subscribe(topic.handle(), { slow: 'reliable' }), LayoutError);
  Atomics.store(words, layout.INTENT, intent);
  assert.equal(subscribe(topic.handle(), { slow: 'reliable' }).tryReceive(), 1);
  await until("the other one's is closed", () => topic.stats().handles <= handles + 1);
  topic.close();
});

test('damage anywhere, 1,000 times: values, errors of ours, the end', () => {
  let state = SEED;
  const random = (below: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const WORDS = [layout.INTENT, layout.TAIL, layout.NEWEST, layout.CLOSED, layout.PARK, layout.SIGNAL];
  const VALUES = [0, 1, -1, 16, 1023, 1024, 2 ** 31 - 1, -(2 ** 31)];
  for (let round = 0; round < 20; round++) {
    const { topic, words } = lying();
    const all = words.length;
    for (let i = 0; i < 20; i++) topic.publish({ i, text: 'text'.repeat(random(20)) });
    for (let lie = 0; lie < 50; lie++) {
      const word =
        random(2) === 0 ? (WORDS[random(WORDS.length)] as number) : layout.INTENT + random(all - layout.INTENT);
      const value =
        random(2) === 0 ? (VALUES[random(VALUES.length)] as number) : (words[word] as number) + random(65) - 32;
      const before = words[word] as number;
      words[word] = value;
      const said = `SEED=${SEED}: round ${round}, word ${word} was ${before} and is ${value}`;
      const start = (['latest', 'next', 'oldest'] as const)[random(3)];
      const slow = (['skip', 'newest'] as const)[random(2)];
      try {
        using reader = subscribe(topic.handle(), { start, slow });
        for (let i = 0; i < 40 && reader.tryReceive() !== EMPTY; i++);
      } catch (error) {
        assert.ok(error instanceof MillraceError, `${said}: ${(error as Error).stack}`);
      }
      // Else the damage adds up.
      if (random(4) > 0) words[word] = before;
      topic.publish(lie);
    }
    assert.equal(topic.stats().published, 70);
    topic.close();
  }
});
