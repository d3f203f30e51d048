import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LayoutError } from '../errors.ts';
import { DATA, LANE_0, LATEST } from '../memory/layout.ts';
import { allocate, type LaneMemory, NONE, open } from './index.ts';
import { LatestConsumer } from './latest-consumer.ts';
import { LatestProducer } from './latest-producer.ts';
import { KIND, LENGTH, SLOT_COUNT, SLOT_HEADER_BYTES, slotBytes, slotOffset, slotPayloadMax } from './latest-slots.ts';

interface Ends {
  readonly lane: LaneMemory;
  readonly producer: LatestProducer;
  readonly consumer: LatestConsumer;
  readonly rung: { data: number; space: number };
  readonly overtaken: number[];
  write(value: number, sideBefore?: number): boolean;
  /** The value there, or undefined. */
  read(): number | undefined;
}

function ends(capacity = 512): Ends {
  const lane = open(allocate(capacity));
  const rung = { data: 0, space: 0 };
  const overtaken: number[] = [];
  const producer = new LatestProducer(lane, { ring: () => void rung.data++ });
  const consumer = new LatestConsumer(lane, { ring: () => void rung.space++ }, (number) => overtaken.push(number));
  return {
    lane,
    producer,
    consumer,
    rung,
    overtaken,
    write(value, sideBefore = 0) {
      lane.words[producer.offset >>> 2] = value;
      return producer.publish(4, 64, sideBefore);
    },
    read() {
      const offset = consumer.peek();
      if (offset === NONE) return undefined;
      const value = lane.words[offset >>> 2];
      consumer.advance();
      consumer.release();
      return value;
    },
  };
}

test('three slots lie behind the record, apart from each other, on lines of their own, inside the data area', () => {
  for (let capacity = 256; capacity <= 2 ** 31; capacity *= 2) {
    const bytes = slotBytes(capacity);
    assert.ok(slotPayloadMax(capacity) >= 48 && bytes % 64 === 0, `${capacity}`);
    for (let slot = 0; slot < SLOT_COUNT; slot++) {
      const offset = slotOffset(1024, capacity, slot);
      assert.ok(offset >= 1024 + 64 + slot * bytes && offset % 64 === 0);
      assert.ok(offset + bytes <= 1024 + capacity, `${capacity}`);
    }
    // Nothing to speak of is wasted.
    assert.ok(3 * bytes > capacity - 64 - 3 * 64);
  }
});

test('a lane that is too small for three slots is refused by both ends', () => {
  for (const capacity of [64, 128]) {
    const lane = open(allocate(capacity));
    assert.throws(() => new LatestProducer(lane), LayoutError);
    assert.throws(() => new LatestConsumer(lane), LayoutError);
  }
});

test('a message is replaced by the next one, is read once, and publish() says what became of the one before', () => {
  const { write, read, consumer, producer, rung } = ends();
  assert.deepEqual([consumer.ready, producer.pending, read()], [false, false, undefined]);
  assert.deepEqual([write(1), write(2), write(3)], [false, true, true]);
  assert.deepEqual([consumer.ready, producer.pending], [true, true]);
  assert.deepEqual([read(), read()], [3, undefined]);
  assert.deepEqual([consumer.ready, producer.pending], [false, false]);
  assert.deepEqual([write(4), read(), write(5), write(6), read()], [false, 4, false, true, 6]);
  assert.deepEqual(rung, { data: 6, space: 3 }, 'each publication and each taking is told, nothing else');
});

test('what peek() found stays until advance(), whatever is published meanwhile', () => {
  const { lane, write, consumer, producer } = ends();
  write(1);
  const offset = consumer.peek();
  for (let i = 2; i < 10; i++) write(i);
  assert.equal(consumer.peek(), offset);
  assert.deepEqual([lane.words[offset >>> 2], consumer.length, consumer.kind, consumer.ready], [1, 4, 64, true]);
  assert.equal(producer.pending, true);
  consumer.advance();
  assert.equal(lane.words[consumer.peek() >>> 2], 9);
});

test('the back, the middle and the front slot are three, whatever is published and taken', () => {
  for (let choices = 0; choices < 1 << 12; choices++) {
    const { lane, producer, write, read } = ends(256);
    let newest: number | undefined;
    for (let step = 0; step < 12; step++) {
      if ((choices >>> step) & 1) {
        write(step);
        newest = step;
      } else {
        assert.equal(read(), newest);
        newest = undefined;
      }
      const middle = (lane.words[LANE_0 + LATEST] as number) & 3;
      assert.ok(middle < 3 && producer.slot !== middle, `${choices}`);
    }
  }
});

test('the first value beside the slots that may still be asked for is told when it changes', () => {
  const { write, read, overtaken } = ends();
  write(1, 5);
  write(2, 7);
  assert.deepEqual(overtaken, []);
  read();
  write(3, 7);
  read();
  write(4, -2147483648);
  read();
  assert.deepEqual(overtaken, [7, -2147483648]);
});

test('a word that names no slot, or one that is not in the middle, is a LayoutError for whoever meets it', () => {
  for (const word of [3, 7, 8, -1, 1 << 31, 12, 5 | 16]) {
    const { lane, write, read } = ends();
    write(1);
    lane.words[LANE_0 + LATEST] = word;
    if ((word & 4) !== 0) assert.throws(read, LayoutError, `read ${word}`);
    lane.words[LANE_0 + LATEST] = word;
    assert.throws(() => write(2), LayoutError, `write ${word}`);
  }
  const ours = ends();
  ours.lane.words[LANE_0 + LATEST] = ours.producer.slot;
  assert.throws(() => ours.write(1), LayoutError);
  const theirs = ends();
  theirs.lane.words[LANE_0 + LATEST] = 4 | 2;
  assert.throws(theirs.read, LayoutError);
});

test('a header that claims more than a slot holds, or flags, is a LayoutError; what just fits is none', () => {
  const most = slotPayloadMax(512);
  const damages: readonly (readonly [number, number, boolean])[] = [
    [most, 64, true],
    [0, 255, true],
    [most + 1, 64, false],
    [-1, 64, false],
    [-2147483648, 64, false],
    [2147483647, 64, false],
    [4, 0x100, false],
    [4, -1, false],
  ];
  for (const [length, kind, fits] of damages) {
    const { lane, producer, write, consumer } = ends();
    const header = (producer.offset - SLOT_HEADER_BYTES) >>> 2;
    write(1);
    lane.words[header + LENGTH] = length;
    lane.words[header + KIND] = kind;
    if (fits) assert.equal(consumer.peek(), header * 4 + SLOT_HEADER_BYTES);
    else assert.throws(() => consumer.peek(), LayoutError, `${length} ${kind}`);
  }
  assert.equal(DATA % 16, 0, 'slots are on lines because the data area is');
});
