import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LayoutError } from '../errors.ts';
import { KIND_PAD } from '../frame/header.ts';
import { HEAD, LANE_0, TAIL } from '../memory/layout.ts';
import { allocate, Consumer, type LaneMemory, NONE, open, Producer, STOP } from './index.ts';

function filled(records: number, capacity = 512): { lane: LaneMemory; producer: Producer; consumer: Consumer } {
  const lane = open(allocate(capacity));
  const producer = new Producer(lane);
  for (let i = 0; i < records; i++) {
    const offset = producer.tryClaim(8);
    lane.bytes[offset] = i;
    producer.commit(8, 64 + i);
  }
  return { lane, producer, consumer: new Consumer(lane) };
}
const headOf = (lane: LaneMemory): number => Atomics.load(lane.words, LANE_0 + HEAD);

test('drain() hands out each record with its length and kind, in order, and gives the room back', () => {
  const { lane, consumer } = filled(5);
  const seen: number[][] = [];
  assert.equal(
    consumer.drain((bytes, offset, length, kind) => seen.push([bytes[offset] as number, length, kind])),
    5,
  );
  assert.deepEqual(
    seen,
    [0, 1, 2, 3, 4].map((i) => [i, 8, 64 + i]),
  );
  assert.equal(headOf(lane), 5 * 16);
  assert.equal(
    consumer.drain(() => assert.fail('nothing is there')),
    0,
  );
});

test('drain() stops after STOP and at its limit; what it has not taken stays', () => {
  const { consumer } = filled(5);
  assert.equal(
    consumer.drain((bytes, offset) => (bytes[offset] === 1 ? STOP : undefined)),
    2,
  );
  assert.equal(
    consumer.drain(() => {}, 2),
    2,
  );
  assert.equal(
    consumer.drain((bytes, offset) => assert.equal(bytes[offset], 4)),
    1,
  );
});

test('a record whose handler throws counts as taken, and the rest stays readable', () => {
  const { lane, consumer } = filled(3);
  assert.throws(
    () =>
      consumer.drain((bytes, offset) => {
        if (bytes[offset] === 1) throw new Error('from the handler');
      }),
    /from the handler/,
  );
  assert.equal(headOf(lane), 2 * 16);
  assert.equal(
    consumer.drain((bytes, offset) => assert.equal(bytes[offset], 2)),
    1,
  );
});

test('a handler may take records itself, one by one or all of them; drain() goes on behind what it took', () => {
  const { lane, producer, consumer } = filled(6);
  const seen: string[] = [];
  const taken = consumer.drain((bytes, offset, length, kind) => {
    const record = bytes[offset];
    if (record === 0) seen.push(`next ${bytes[consumer.tryNext()]}`);
    if (record === 3) {
      consumer.drain((inner, at) => seen.push(`inner ${inner[at]}`), 1);
      // More arrives while the handler runs.
      lane.bytes[producer.tryClaim(8)] = 6;
      producer.commit(8, 70);
    }
    seen.push(`${record} ${length} ${kind}`);
  });
  assert.equal(taken, 5);
  assert.deepEqual(seen, ['next 1', '0 8 64', '2 8 66', 'inner 4', '3 8 67', '5 8 69', '6 8 70']);
  assert.equal(headOf(lane), 7 * 16);
});

test('peek() stays where it is; advance() and tryNext() move on; only release() gives room back', () => {
  const { lane, consumer } = filled(3);
  const first = consumer.peek();
  assert.equal(consumer.peek(), first);
  consumer.advance();
  assert.notEqual(consumer.tryNext(), first);
  assert.equal(headOf(lane), 0);
  assert.equal(consumer.held, 32);
  assert.equal(consumer.caughtUp, false);
  consumer.release();
  assert.equal(headOf(lane), 32);
  assert.equal(consumer.held, 0);
});

test('drain() gives room back at each quarter of the ring, before it ends', () => {
  const { lane, consumer } = filled(16, 256);
  const heads: number[] = [];
  consumer.drain(() => heads.push(headOf(lane)));
  assert.ok(heads.includes(64), heads.join());
});

test('available counts bytes on both ends, and equal records exactly, wherever the ring begins again', () => {
  const lane = open(allocate(1024));
  const producer = new Producer(lane);
  const consumer = new Consumer(lane);
  const record = 200;
  const records = (bytes: number): number => Math.floor(bytes / record);
  let [written, taken] = [0, 0];
  for (let turn = 0; turn < 400; turn++) {
    for (let i = turn % 7; i > 0 && producer.tryClaim(record - 8) >= 0; i--, written++) producer.commit();
    assert.equal(records(consumer.available), written - taken);
    assert.equal(records(producer.capacity - producer.available), written - taken, 'written and not given back');
    for (let i = turn % 5; i > 0 && consumer.tryNext() >= 0; i--) taken++;
    assert.equal(records(consumer.available), written - taken);
    consumer.release();
    assert.equal(records(producer.capacity - producer.available), written - taken);
  }
  assert.ok(written > 400 && taken > 400);
});

test('ready looks anew', () => {
  const { producer, consumer } = filled(0);
  assert.equal(consumer.ready, false);
  producer.tryClaim(0);
  producer.commit();
  assert.equal(consumer.ready, true);
  consumer.tryNext();
  assert.equal(consumer.ready, false);
});

const damages: readonly (readonly [what: string, harm: (words: Int32Array, record: number) => void])[] = [
  ['a negative length', (words, at) => (words[at] = -1)],
  ['a length beyond the ring', (words, at) => (words[at] = 1 << 20)],
  ['a length beyond what was published', (words, at) => (words[at] = 64)],
  ['the most negative length', (words, at) => (words[at] = -(2 ** 31))],
  ['a pad that ends too early', (words, at) => words.set([8, KIND_PAD], at)],
  ['a pad that fills the whole ring', (words, at) => words.set([512, KIND_PAD], at)],
  ['a position too far on', (words) => (words[LANE_0 + TAIL] = 1024)],
  ['a position behind', (words) => (words[LANE_0 + TAIL] = -8)],
  ['a position that is not aligned', (words) => (words[LANE_0 + TAIL] = 20)],
];
for (const [what, harm] of damages) {
  test(`${what} is a LayoutError`, () => {
    const { lane, consumer } = filled(2);
    harm(lane.words, lane.data >>> 2);
    assert.throws(() => consumer.tryNext(), LayoutError);
  });
}

test('a record that would cross the end of the data area is a LayoutError', () => {
  const { lane, producer, consumer } = filled(31);
  consumer.drain(() => {});
  for (let i = 0; i < 3; i++) {
    producer.tryClaim(8);
    producer.commit();
  }
  // The last record before the end now claims the one behind the end as its own.
  lane.words[(lane.data + 31 * 16) >>> 2] = 24;
  assert.throws(() => consumer.tryNext(), LayoutError);
});

test('a consumer takes up where HEAD stands, and refuses a HEAD that is not aligned', () => {
  const { lane, consumer } = filled(3);
  consumer.tryNext();
  consumer.release();
  const next = new Consumer(lane);
  const offset = next.tryNext();
  assert.equal(lane.bytes[offset], 1);
  lane.words[LANE_0 + HEAD] = 4;
  assert.throws(() => new Consumer(lane), LayoutError);
});

test('tryNext() returns NONE, a negative number, when nothing is there', () => {
  const { consumer } = filled(0);
  assert.equal(consumer.tryNext(), NONE);
  assert.ok(NONE < 0);
});
