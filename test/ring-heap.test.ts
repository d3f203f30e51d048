// The ring door allocates nothing on its way: over a million records the heap does not grow and no collector runs. What takes 16 bytes a
// record would show as 16 MB, which V8's young generation does not hold.
// runtimes: node-24
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GCProfiler } from 'node:v8';
import { allocate, Consumer, NONE, open, Producer } from '../src/ring/index.ts';

const RECORDS = 1_000_000;
const BLOCK = 128;
const HEAP_MAX = 1 << 20;

/** Bytes by which the heap has grown meanwhile, and collections. */
function measured(body: () => void): { readonly bytes: number; readonly collections: number } {
  const profiler = new GCProfiler();
  profiler.start();
  const before = process.memoryUsage().heapUsed;
  body();
  const bytes = process.memoryUsage().heapUsed - before;
  return { bytes, collections: profiler.stop()?.statistics.length ?? Number.NaN };
}

function nothingAllocatedBy(body: (records: number) => void): void {
  for (let i = 0; i < 5; i++) body(20_000);
  const { bytes, collections } = measured(() => body(RECORDS));
  assert.equal(collections, 0, `${collections} collections`);
  assert.ok(bytes < HEAP_MAX, `${bytes} bytes more on the heap`);
}

test('a million blocks of 128 floats', () => {
  const memory = allocate(1 << 14);
  const floats = new Float32Array(memory);
  const producer = new Producer(open(memory));
  const consumer = new Consumer(open(memory));
  const block = new Float32Array(BLOCK).map((_, i) => i);
  const out = new Float32Array(BLOCK);
  nothingAllocatedBy((records) => {
    for (let n = 0; n < records; n++) {
      floats.set(block, producer.tryClaim(BLOCK * 4) >>> 2);
      producer.commit();
      const at = consumer.tryNext() >>> 2;
      for (let i = 0; i < BLOCK; i++) out[i] = floats[at + i] as number;
      consumer.release();
    }
  });
  assert.deepEqual(out, block);
});

test('a million small records, eight at a time', () => {
  const memory = allocate(1 << 12);
  const floats = new Float32Array(memory);
  const producer = new Producer(open(memory));
  const consumer = new Consumer(open(memory));
  let sum = 0;
  nothingAllocatedBy((records) => {
    for (let n = 0; n < records; n += 8) {
      for (let k = 0; k < 8; k++) {
        const offset = producer.tryClaim(8);
        producer.words[offset >>> 2] = k;
        floats[(offset >>> 2) + 1] = 0.5;
        producer.commit();
      }
      for (let at = consumer.tryNext(); at !== NONE; at = consumer.tryNext()) sum += consumer.words[at >>> 2] as number;
      consumer.release();
    }
  });
  assert.equal(sum, (RECORDS + 100_000) * 3.5);
});

test('what allocates is seen', () => {
  const block = new Float32Array(BLOCK);
  assert.throws(
    () =>
      nothingAllocatedBy((records) => {
        for (let n = 0; n < records; n++) if (block.subarray(n & 63).length === 0) throw new Error('never');
      }),
    /collections/,
  );
});
