import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allocate, Consumer, NONE, open, Producer } from './index.ts';

function pair(): { producer: Producer; consumer: Consumer; write: () => void; rings: () => number } {
  const lane = open(allocate(1024));
  let rings = 0;
  const producer = new Producer(lane, { ring: () => void rings++ });
  const write = (): void => {
    producer.tryClaim(8);
    producer.commit();
  };
  return { producer, consumer: new Consumer(lane), write, rings: () => rings };
}

test('gather(bytes) publishes when so many bytes have gathered, with one ring of the bell', () => {
  const { producer, consumer, write, rings } = pair();
  assert.equal(producer.gather(48), 0);
  write();
  write();
  assert.equal(consumer.tryNext(), NONE);
  write();
  assert.notEqual(consumer.tryNext(), NONE);
  assert.equal(rings(), 1);
});

test('gather(0) publishes what has gathered and returns the number that was in force', () => {
  const { producer, consumer, write } = pair();
  producer.gather(512);
  write();
  assert.equal(consumer.tryNext(), NONE);
  assert.equal(producer.gather(0), 512);
  assert.notEqual(consumer.tryNext(), NONE);
});

test('a cork inside a gathering producer leaves the gathering as it was', () => {
  const { producer, consumer, write } = pair();
  producer.gather(48);
  producer.cork(() => write());
  assert.equal(consumer.tryNext(), NONE);
  write();
  write();
  assert.notEqual(consumer.tryNext(), NONE);
});
