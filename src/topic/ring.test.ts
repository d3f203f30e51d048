import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NONE, type StartAt, TopicConsumer } from './consumer.ts';
import { allocateTopic, type TopicMemory } from './memory.ts';
import { HELD, TopicProducer } from './producer.ts';
import { recordBytes } from './record.ts';
import { Seat, Seats } from './seats.ts';

const CAPACITY = 1 << 20;
const LONG = CAPACITY / 4 - 16;
const ROUND = 2 ** 32;

/** Nobody looks into these messages, and they are of no bytes that anybody wrote. */
function consumerOf(memory: TopicMemory, start: StartAt, seat?: Seat): TopicConsumer {
  const lane = { ...memory, blocks: { copyOut: () => {} } };
  const target = { words: new Int32Array(64), bytes: new Uint8Array(256) };
  const consumer = new TopicConsumer(lane, () => target, new Int32Array(1), false);
  consumer.join(start, seat);
  return consumer;
}
function publish(producer: TopicProducer, length: number): void {
  if (producer.stretch < length) assert.notEqual(producer.tryPad(), HELD);
  assert.notEqual(producer.tryClaim(length), HELD);
  producer.commit(length);
}
function count(consumer: TopicConsumer): number {
  let taken = 0;
  while (consumer.take() !== NONE) taken++;
  return taken;
}

test('positions wrap after 4 GiB: who keeps up reads on, who was away for a whole round knows how much it missed', () => {
  const memory = allocateTopic(CAPACITY, LONG, 1);
  const producer = new TopicProducer(memory, new Seats(memory));
  const keeps = consumerOf(memory, 'next');
  const seated = consumerOf(
    memory,
    'next',
    Seat.take(memory, 1, () => {}),
  );
  // Records of one size, which fill the ring: after a round the positions of both are what they were.
  const rounds = ROUND / recordBytes(LONG);
  const away = consumerOf(memory, 'next');
  const stays = consumerOf(memory, 'next');
  assert.equal(recordBytes(LONG) * 4, CAPACITY);
  publish(producer, LONG);
  assert.deepEqual([count(keeps), count(seated), count(stays)], [1, 1, 1]);
  for (let i = 1; i < rounds + 3; i++) {
    publish(producer, LONG);
    assert.deepEqual([count(keeps), count(seated)], [1, 1]);
    // TAIL is where this one stands, and there is nothing new, as far as it can tell; then there is.
    if (i === rounds) assert.equal(count(stays), 0);
  }
  for (const reader of [away, stays]) {
    const taken = count(reader);
    assert.ok(taken >= 1 && taken <= 4, `${taken}`);
  }
  assert.equal(keeps.missed + seated.missed, 0);
  assert.equal(away.missed >= rounds - 3, true, `${away.missed}`);
});

test('records of all lengths, with pads, past the wrap', () => {
  const memory = allocateTopic(CAPACITY, LONG, 0);
  const producer = new TopicProducer(memory, new Seats(memory));
  const reader = consumerOf(memory, 'next');
  let bytes = 0;
  for (let i = 0; bytes < ROUND + CAPACITY; i++) {
    const length = LONG - 8 * (i % 4001);
    publish(producer, length);
    assert.equal(reader.take(), length);
    bytes += length;
  }
  assert.equal(reader.missed, 0);
});

test('the newest record stands, whatever the next one claims', () => {
  const memory = allocateTopic(1024, 256, 0);
  const producer = new TopicProducer(memory, new Seats(memory));
  for (const [newest, next] of [
    [256, 256],
    [8, 256],
    [248, 200],
  ] as const) {
    for (let i = 0; i < 64; i++) {
      publish(producer, newest);
      if (producer.stretch < next) producer.tryPad();
      // A writer that dies here.
      producer.tryClaim(next);
      assert.equal(consumerOf(memory, 'latest').take(), newest);
      publish(producer, 8 * i);
    }
  }
});
