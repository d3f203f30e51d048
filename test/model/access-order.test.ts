// The order of one call's accesses to shared memory: the payload before the header, the header before the position, the
// position before the look at the park word.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Consumer } from '../../src/ring/consumer.ts';
import { LatestConsumer } from '../../src/ring/latest-consumer.ts';
import { LatestProducer } from '../../src/ring/latest-producer.ts';
import { Producer } from '../../src/ring/producer.ts';
import { SharedPlace } from '../../src/wait/park-place.ts';
import { BLOCKED, DATA, SPACE, Waker } from '../../src/wait/signal.ts';
import { AccessLog } from '../kit/access-log.ts';
import { laneOf, names, PARK, TAIL } from './stage.ts';

const DATA_WORD = 80;
const calls = {
  ...names,
  [DATA_WORD]: 'LENGTH',
  [DATA_WORD + 1]: 'KIND',
  [DATA_WORD + 2]: 'PAYLOAD',
};

function pair(): { log: AccessLog; producer: Producer; consumer: Consumer } {
  const log = new AccessLog(128, calls);
  const lane = laneOf({ words: () => log.words, bytes: () => log.bytes }, 64);
  let producer: Producer | undefined;
  let consumer: Consumer | undefined;
  log.record(() => {
    producer = new Producer(lane, new Waker(new SharedPlace(log.words, PARK[1]), DATA, () => undefined));
    consumer = new Consumer(lane, new Waker(new SharedPlace(log.words, PARK[0]), SPACE, () => undefined));
  });
  return { log, producer: producer as Producer, consumer: consumer as Consumer };
}

function send({ log, producer }: ReturnType<typeof pair>): string[] {
  return log.record(() => {
    const offset = producer.tryClaim(4);
    log.words[offset >>> 2] = 7;
    producer.commit();
  });
}

test('commit() writes the header behind the payload, then publishes, then looks whether somebody sleeps', () => {
  assert.deepEqual(send(pair()), [
    'write PAYLOAD = 7',
    'write LENGTH = 4',
    'write KIND = 1',
    'store TAIL = 16',
    'load PARK of side 1',
  ]);
});

test('a sleeper is taken off the park word before it is notified', () => {
  const it = pair();
  it.log.memory[PARK[1]] = BLOCKED | DATA;
  assert.deepEqual(send(it).slice(3), [
    'store TAIL = 16',
    'load PARK of side 1',
    `compareExchange PARK of side 1, ${BLOCKED | DATA}, 0`,
    'notify PARK of side 1',
  ]);
});

test('a corked commit touches its record only', () => {
  const it = pair();
  const corked = it.log.record(() =>
    it.producer.cork(() => {
      it.producer.tryClaim(0);
      it.producer.commit();
    }),
  );
  assert.deepEqual(corked, ['write LENGTH = 0', 'write KIND = 1', 'store TAIL = 8', 'load PARK of side 1']);
});

test('tryNext() loads the position before it reads the header; release() stores, then looks whether somebody sleeps', () => {
  const it = pair();
  send(it);
  const { log, consumer } = it;
  assert.equal(log.memory[TAIL], 16);
  const taken = log.record(() => {
    const offset = consumer.tryNext();
    assert.equal(log.words[offset >>> 2], 7);
    consumer.release();
  });
  assert.deepEqual(taken, [
    'load TAIL',
    'read LENGTH',
    'read KIND',
    'read PAYLOAD',
    'store HEAD = 16',
    'load PARK of side 0',
  ]);
});

test('a second record that was published with the first costs no further load', () => {
  const it = pair();
  send(it);
  send(it);
  it.log.record(() => it.consumer.tryNext());
  const second = it.log.record(() => it.consumer.tryNext());
  assert.deepEqual(second, ['read word 84', 'read word 85']);
});

test('the newest only: payload, header, exchange, look; and load, exchange, header, payload, look', () => {
  // Slot 1 is the writer's, slot 2 the reader's; the slots of 256 bytes of data start 64 bytes behind its start.
  const slot = DATA_WORD + 16 + 16;
  const places = {
    ...names,
    32: 'LATEST',
    [slot]: 'LENGTH',
    [slot + 1]: 'KIND',
    [slot + 2]: 'SIDE_BEFORE',
    [slot + 4]: 'PAYLOAD',
  };
  const log = new AccessLog(160, places);
  const lane = laneOf({ words: () => log.words, bytes: () => log.bytes }, 256);
  const producer = new LatestProducer(lane, new Waker(new SharedPlace(log.words, PARK[1]), DATA, () => undefined));
  const consumer = new LatestConsumer(lane, new Waker(new SharedPlace(log.words, PARK[0]), SPACE, () => undefined));
  const sent = log.record(() => {
    log.words[producer.offset >>> 2] = 7;
    producer.publish(4, 64, 0);
  });
  assert.deepEqual(sent, [
    'write PAYLOAD = 7',
    'write LENGTH = 4',
    'write KIND = 64',
    'write SIDE_BEFORE = 0',
    'exchange LATEST, 5',
    'load PARK of side 1',
  ]);
  const taken = log.record(() => {
    assert.equal(log.words[consumer.peek() >>> 2], 7);
    consumer.advance();
    consumer.release();
  });
  assert.deepEqual(taken, [
    'load LATEST',
    'exchange LATEST, 2',
    'read LENGTH',
    'read KIND',
    'read SIDE_BEFORE',
    'read PAYLOAD',
    'load PARK of side 0',
  ]);
});
