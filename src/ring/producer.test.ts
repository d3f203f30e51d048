import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LayoutError, UsageError } from '../errors.ts';
import { HEADER_BYTES, recordBytes } from '../frame/header.ts';
import { HEAD, LANE_0, TAIL, TAKEN } from '../memory/layout.ts';
import { allocate, Consumer, FULL, type LaneMemory, NONE, open, Producer } from './index.ts';

interface Pair {
  readonly lane: LaneMemory;
  readonly producer: Producer;
  readonly consumer: Consumer;
  /** Writes a record whose bytes are all `mark`; false when full. */
  write(length: number, mark: number): boolean;
  /** Reads one record and checks it; false when there is none. */
  read(length: number, mark: number): boolean;
}

function pair(capacity: number, start = 0): Pair {
  const lane = open(allocate(capacity));
  lane.words[LANE_0 + TAIL] = start;
  lane.words[LANE_0 + HEAD] = start;
  const producer = new Producer(lane);
  const consumer = new Consumer(lane);
  return {
    lane,
    producer,
    consumer,
    write(length, mark) {
      const offset = producer.tryClaim(length);
      if (offset === FULL) return false;
      assert.equal(offset % 8, 0);
      assert.ok(offset >= lane.data + HEADER_BYTES && offset + length <= lane.data + lane.capacity);
      lane.bytes.fill(mark, offset, offset + length);
      producer.commit();
      return true;
    },
    read(length, mark) {
      const offset = consumer.tryNext();
      if (offset === NONE) return false;
      assert.equal(consumer.length, length);
      for (let i = 0; i < length; i++) assert.equal(lane.bytes[offset + i], mark);
      consumer.release();
      return true;
    },
  };
}
const codeIs =
  (code: string) =>
  (error: unknown): boolean =>
    error instanceof UsageError && error.code === code;

test('tryClaim() returns FULL until the consumer frees room, and loses nothing meanwhile', () => {
  const { write, read } = pair(256);
  let count = 0;
  while (write(24, count)) count++;
  assert.equal(count, 8, 'eight records of 32 bytes fill 256');
  assert.equal(write(0, 0), false);
  for (let i = 0; i < count; i++) assert.ok(read(24, i));
  assert.ok(write(24, 99));
  assert.ok(read(24, 99));
  assert.equal(read(24, 0), false);
});

test('a claim of half the ring succeeds as soon as the ring is empty, wherever it stands (I5)', () => {
  for (let shift = 0; shift < 256; shift += 8) {
    const { producer, write, read } = pair(256, shift);
    assert.equal(producer.maxPayload, 120);
    for (let lap = 0; lap < 5; lap++) {
      assert.ok(write(120, lap), `at ${shift}, lap ${lap}`);
      assert.ok(read(120, lap));
    }
  }
});

test('positions wrap at 2^31 and at 2^32 without a trace', () => {
  for (const start of [2 ** 31 - 64, -64, 2 ** 31 - 8, -8]) {
    const { write, read, producer } = pair(128, start | 0);
    for (let i = 0; i < 40; i++) {
      const length = (i * 7) % 41;
      assert.ok(write(length, i));
      assert.ok(read(length, i));
      assert.equal(producer.position % 2 ** 32, Atomics.load(producer.words, LANE_0 + TAIL) >>> 0);
    }
    let count = 0;
    while (write(8, count)) count++;
    // One of eight may give way to a pad.
    assert.ok(count >= 7, `${start}: the ring is as large after the wrap as before`);
    for (let i = 0; i < count; i++) assert.ok(read(8, i));
  }
});

test('a record is invisible until commit(), and an aborted claim leaves nothing', () => {
  const { producer, consumer, write, read } = pair(256);
  producer.tryClaim(16);
  assert.equal(consumer.tryNext(), NONE);
  producer.abort();
  assert.equal(consumer.tryNext(), NONE);
  assert.ok(write(16, 1));
  assert.ok(read(16, 1));
  // Aborted at the wrap: the pad stays, and nobody sees it.
  const wrapping = pair(128);
  assert.ok(wrapping.write(40, 1));
  assert.ok(wrapping.write(40, 2));
  assert.ok(wrapping.read(40, 1));
  assert.notEqual(wrapping.producer.tryClaim(40), FULL);
  wrapping.producer.abort();
  assert.ok(wrapping.read(40, 2));
  assert.equal(wrapping.consumer.tryNext(), NONE);
  assert.ok(wrapping.write(40, 3));
  assert.ok(wrapping.read(40, 3));
});

test('commit(length) keeps a shorter record than was claimed, and refuses a longer one', () => {
  const { producer, consumer } = pair(256);
  producer.tryClaim(100);
  producer.commit(3, 77);
  consumer.tryNext();
  assert.deepEqual([consumer.length, consumer.kind], [3, 77]);
  producer.tryClaim(8);
  assert.throws(() => producer.commit(9), codeIs('ERR_TOO_LARGE'));
  producer.abort();
});

test('claims out of order and lengths out of range are refused, and the ring is unchanged', () => {
  const { producer, write, read } = pair(256);
  assert.throws(() => producer.commit(), codeIs('ERR_CLAIM'));
  assert.throws(() => producer.abort(), codeIs('ERR_CLAIM'));
  for (const length of [121, -1, Number.NaN, Number.POSITIVE_INFINITY])
    assert.throws(() => producer.tryClaim(length), codeIs('ERR_TOO_LARGE'), String(length));
  producer.tryClaim(8);
  assert.throws(() => producer.tryClaim(8), codeIs('ERR_CLAIM'));
  producer.commit();
  assert.ok(read(8, 0));
  assert.ok(write(8, 5));
  assert.ok(read(8, 5));
});

test('cork() publishes once at its end, also by a throw, and nests', () => {
  const { producer, consumer, write, read } = pair(1024);
  producer.cork(() => {
    write(8, 1);
    producer.cork(() => write(8, 2));
    assert.equal(consumer.tryNext(), NONE, 'an inner cork publishes nothing');
  });
  assert.ok(read(8, 1) && read(8, 2));
  assert.throws(() =>
    producer.cork(() => {
      write(8, 3);
      throw new Error('inside');
    }),
  );
  assert.ok(read(8, 3));
});

test('a corked writer that fills the ring publishes, so that the reader can make room', () => {
  const { producer, consumer, write } = pair(256);
  producer.cork(() => {
    let count = 0;
    while (write(24, count)) count++;
    assert.equal(count, 8);
    assert.notEqual(consumer.tryNext(), NONE);
  });
});

test('claimable(wanted) promises what tryClaim() then grants', () => {
  for (let start = 0; start < 256; start += 8) {
    for (let used = 0; used < 200; used += 24) {
      const { producer, write } = pair(256, start);
      if (used > 0 && used <= 120) write(used, 1);
      for (const wanted of [0, 8, 50, 100]) {
        const room = producer.claimable(wanted);
        if (room < 0) continue;
        assert.notEqual(producer.tryClaim(room), FULL, `start ${start}, used ${used}, wanted ${wanted}, room ${room}`);
        producer.abort();
      }
    }
  }
});

test('releasedUpTo() tells when the consumer has given back everything before a position', () => {
  const { producer, consumer, write } = pair(256, -32);
  write(8, 1);
  const position = producer.position;
  write(8, 2);
  assert.equal(producer.releasedUpTo(position), false);
  consumer.tryNext();
  assert.equal(producer.releasedUpTo(position), false, 'taken, not given back');
  consumer.release();
  assert.equal(producer.releasedUpTo(position), true);
  assert.equal(producer.releasedUpTo(producer.position), false);
});

test('releasedUpTo() remembers a position through any number of bytes that follow it in one turn', () => {
  // Untouched memory costs nothing: no byte of these records is ever written.
  const capacity = 2 ** 28;
  for (const start of [0, 2 ** 31 - 8, -8]) {
    const { lane, producer } = pair(capacity, start);
    const empty = producer.position;
    assert.equal(producer.releasedUpTo(empty), true);
    const half = producer.maxPayload;
    producer.tryClaim(half);
    producer.commit();
    const position = producer.position;
    // Five times around 2^32, and looked at after every other lap only.
    for (let bytes = 0; bytes < 5 * 2 ** 32; bytes += capacity) {
      for (let i = 0; i < 2; i++) {
        Atomics.store(lane.words, LANE_0 + HEAD, Atomics.load(lane.words, LANE_0 + TAIL));
        producer.tryClaim(half);
        producer.commit();
      }
      assert.equal(producer.releasedUpTo(position), true, `${start} and ${bytes}`);
      assert.equal(producer.releasedUpTo(producer.position), false);
    }
    assert.ok(producer.position - position >= 5 * 2 ** 32);
  }
});

test('with TAKEN the room of each record that was told of can be had before it is released', () => {
  for (const start of [0, 2 ** 31 - 64, -64]) {
    const lane = open(allocate(128));
    for (const word of [TAIL, HEAD, TAKEN]) lane.words[LANE_0 + word] = start;
    const producer = new Producer(lane, undefined, true);
    const consumer = new Consumer(lane);
    const write = (): boolean => {
      if (producer.tryClaim(8) < 0) return false;
      producer.commit();
      return true;
    };
    while (write());
    for (let i = 0; i < 50; i++) {
      assert.notEqual(consumer.tryNext(), NONE);
      assert.equal(write(), false, 'taken, not told');
      const { position } = producer;
      consumer.tell();
      assert.equal(producer.releasedUpTo(position - 7 * 16), true);
      assert.equal(producer.releasedUpTo(position - 6 * 16), false);
      if (i % 3 === 0) consumer.release();
      assert.equal(write(), true, `told, ${i % 3 === 0 ? '' : 'not '}released`);
      assert.equal(write(), false);
      assert.equal(producer.headMoved, false);
    }
  }
});

test('TAKEN, which a reader that always ends its batches leaves behind, never passes for a later position', () => {
  for (const start of [0, 2 ** 31 - 64, -64]) {
    const lane = open(allocate(128));
    for (const word of [TAIL, HEAD, TAKEN]) lane.words[LANE_0 + word] = start;
    const producer = new Producer(lane, undefined, true);
    const consumer = new Consumer(lane, undefined, true);
    for (let i = 0; i < 100; i++) {
      // More than the ring has left by what was seen last: it looks at both words.
      for (let k = 0; k < 4; k++) {
        assert.notEqual(producer.tryClaim(8), FULL, `${start}, ${i}`);
        producer.commit();
      }
      const { position } = producer;
      assert.equal(producer.releasedUpTo(position), false);
      for (let k = 0; k < 4; k++) assert.notEqual(consumer.tryNext(), NONE);
      consumer.release();
      assert.equal(producer.releasedUpTo(position), true);
      const word = (at: number): number => lane.words[LANE_0 + at] as number;
      assert.ok(((word(HEAD) - word(TAKEN)) | 0) <= 64, `${word(HEAD)} and ${word(TAKEN)}`);
    }
  }
});

test('a consumer position that makes no sense is a LayoutError', () => {
  for (const head of [8, -512, 4, 1 << 30]) {
    const { lane, producer, write } = pair(256);
    for (let i = 0; i < 8; i++) write(24, i);
    lane.words[LANE_0 + HEAD] = head;
    if (head === 8) producer.lookAtHead();
    else assert.throws(() => producer.tryClaim(24), LayoutError, String(head));
  }
  const lane = open(allocate(256));
  lane.words[LANE_0 + TAIL] = 12;
  assert.throws(() => new Producer(lane), LayoutError);
});

test('recordBytes() is the payload, its header, and what aligns the next', () => {
  assert.deepEqual([0, 1, 8, 9, 16].map(recordBytes), [8, 16, 16, 24, 24]);
});

test('claimUpTo() grants what lies before the end of the ring to the last byte, and no pad is needed for it', () => {
  const { producer, lane, consumer } = pair(1024);
  assert.equal(producer.maxPayload, 504);
  for (let left = 1024; left > 64; left -= 32)
    assert.ok(producer.tryClaim(24) !== FULL && producer.commit() === undefined);
  while (consumer.tryNext() !== NONE) consumer.release();
  const offset = producer.claimUpTo(8, 500);
  assert.equal(offset, lane.data + 1024 - 64 + HEADER_BYTES);
  assert.equal(producer.claimed, 64 - HEADER_BYTES);
  producer.commit();
});
