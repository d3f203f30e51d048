// Random operations on a ring against an array: 120,000 operations in CI. The seed is printed; SEED and CASE repeat one.
// asked for: node-22, node-26
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HEAD, LANE_0, TAIL } from '../../src/memory/layout.ts';
import { allocate, Consumer, FULL, NONE, open, Producer, STOP } from '../../src/ring/index.ts';
import { cases, eachCase, type Random, seed } from '../kit/prng.ts';

const OPERATIONS_A_CASE = 300;
const CASES = cases(400, 40_000);

interface Record {
  readonly length: number;
  readonly kind: number;
  readonly mark: number;
}

function play(random: Random): void {
  const capacity = 1 << random.int(6, 12);
  const lane = open(allocate(capacity));
  const start = random.pick([0, 2 ** 31 - 8 * random.int(1, 40), -8 * random.int(1, 40), random.bits() & -8]) | 0;
  lane.words[LANE_0 + TAIL] = start;
  lane.words[LANE_0 + HEAD] = start;
  const producer = new Producer(lane);
  const consumer = new Consumer(lane);
  // What was committed, published, and taken but not given back.
  const committed: Record[] = [];
  let published = 0;
  let mark = 0;

  const check = (offset: number, length: number, kind: number): void => {
    const expected = committed.shift() as Record;
    published--;
    assert.deepEqual({ length, kind }, { length: expected.length, kind: expected.kind });
    for (let i = 0; i < length; i++) assert.equal(lane.bytes[offset + i], (expected.mark + i) & 0xff);
  };
  const write = (gathering: boolean): void => {
    const length = random.skewed(producer.maxPayload);
    const offset = producer.tryClaim(length);
    if (offset === FULL) {
      assert.ok(committed.length > 0 || consumer.held > 0, 'an empty ring takes every record');
      // A claim that finds no room publishes what was gathered.
      published = committed.length;
      return;
    }
    if (random.chance(0.1)) {
      producer.abort();
      return;
    }
    const used = random.chance(0.2) ? random.int(0, length) : length;
    const record = { length: used, kind: random.int(1, 127), mark: mark++ };
    for (let i = 0; i < used; i++) lane.bytes[offset + i] = record.mark + i;
    producer.commit(used, record.kind);
    committed.push(record);
    if (!gathering) published = committed.length;
  };
  for (let step = 0; step < OPERATIONS_A_CASE; step++) {
    switch (random.int(0, 6)) {
      case 0:
      case 1:
      case 2:
        write(false);
        break;
      case 3:
        producer.cork(() => {
          for (let i = random.int(1, 5); i > 0; i--) write(true);
        });
        published = committed.length;
        break;
      case 4: {
        const offset = consumer.tryNext();
        assert.equal(offset === NONE, published === 0);
        if (offset !== NONE) check(offset, consumer.length, consumer.kind);
        if (random.chance(0.5)) consumer.release();
        break;
      }
      case 5: {
        const limit = random.int(1, 8);
        const stopAt = random.int(1, 12);
        let seen = 0;
        const before = published;
        const count = consumer.drain((_bytes, offset, length, kind) => {
          check(offset, length, kind);
          return ++seen === stopAt ? STOP : undefined;
        }, limit);
        assert.equal(count, Math.min(limit, stopAt, before));
        break;
      }
      default:
        // A pad of its own, after an aborted claim, may also be there.
        if (published > 0) assert.equal(consumer.ready, true);
        consumer.release();
    }
    const used = (Atomics.load(lane.words, LANE_0 + TAIL) - Atomics.load(lane.words, LANE_0 + HEAD)) >>> 0;
    assert.ok(used <= capacity, 'I1');
  }
}

const PIECE = Math.max(1, Math.ceil(CASES / 4));
for (let from = 0; from < CASES; from += PIECE) {
  const to = Math.min(CASES, from + PIECE);
  test(`ring against array, ${(to - from) * OPERATIONS_A_CASE} operations (SEED=${seed})`, () => {
    eachCase(from, to, play);
  });
}
