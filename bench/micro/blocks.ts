// Blocks of 128 samples and small parameters through our ring and ringbuf.js, both ends in one thread: `node dist/bench/micro/blocks.js`.
// Rounds are interleaved; the table shows medians and quartiles in ns for one push and pop, and what ours takes of theirs.
import { performance } from 'node:perf_hooks';
import { openDoor } from '../doors.ts';
import { loadRival } from '../subjects/rival.ts';

interface Ring {
  push(from: Float32Array): number;
  pop(to: Float32Array): number;
}
interface Change {
  index: number;
  value: number;
}
interface Package {
  RingBuffer: {
    new (memory: SharedArrayBuffer, type: unknown): Ring;
    getStorageForCapacity(capacity: number, type: unknown): SharedArrayBuffer;
  };
  ParameterWriter: new (ring: Ring) => { enqueue_change(index: number, value: number): boolean };
  ParameterReader: new (ring: Ring) => { dequeue_change(into: Change): boolean };
}

const { allocate, Consumer, open, Producer } = await openDoor<typeof import('../../src/ring/index.ts')>('./ring');
const theirs = await loadRival<Package>('ringbuf.js', 'dist/index.mjs');

const BLOCK = 128;
const COUNT = 200_000;
const ROUNDS = 15;
const block = new Float32Array(BLOCK).map((_, i) => i);
const out = new Float32Array(BLOCK);
let sum = 0;

function ourEnds(capacityBytes: number) {
  const memory = allocate(capacityBytes);
  return {
    floats: new Float32Array(memory),
    producer: new Producer(open(memory)),
    consumer: new Consumer(open(memory)),
  };
}
function theirRing(capacity: number, type: unknown): Ring {
  return new theirs.RingBuffer(theirs.RingBuffer.getStorageForCapacity(capacity, type), type);
}

const blocks = ourEnds(1 << 16);
const theirBlocks = theirRing(1 << 14, Float32Array);
const changes = ourEnds(1 << 12);
const theirChanges = theirRing(1 << 12, Uint8Array);
const writer = new theirs.ParameterWriter(theirChanges);
const reader = new theirs.ParameterReader(theirChanges);
const change: Change = { index: 0, value: 0 };

const contest: Record<string, readonly [ours: () => void, theirs: () => void]> = {
  'block of 128 samples': [
    () => {
      const { floats, producer, consumer } = blocks;
      floats.set(block, producer.tryClaim(BLOCK * 4) >>> 2);
      producer.commit();
      const at = consumer.tryNext() >>> 2;
      for (let i = 0; i < BLOCK; i++) out[i] = floats[at + i] as number;
      consumer.release();
    },
    () => {
      theirBlocks.push(block);
      theirBlocks.pop(out);
    },
  ],
  'index and value': [
    () => {
      const { floats, producer, consumer } = changes;
      const to = producer.tryClaim(8) >>> 2;
      producer.words[to] = 7;
      floats[to + 1] = 0.5;
      producer.commit();
      const at = consumer.tryNext() >>> 2;
      sum += (consumer.words[at] as number) + (floats[at + 1] as number);
      consumer.release();
    },
    () => {
      writer.enqueue_change(7, 0.5);
      reader.dequeue_change(change);
      sum += change.index + change.value;
    },
  ],
};

/** A loop of its own for each, compiled for that one alone. */
const loopOf = (body: () => void): (() => void) =>
  new Function('body', `return () => { for (let n = 0; n < ${COUNT}; n++) body(); }`)(body) as () => void;

for (const [name, bodies] of Object.entries(contest)) {
  const loops = bodies.map(loopOf);
  const times: [number[], number[]] = [[], []];
  for (let round = -2; round < ROUNDS; round++) {
    for (const [i, loop] of loops.entries()) {
      const started = performance.now();
      loop();
      if (round >= 0) times[i]?.push(((performance.now() - started) * 1e6) / COUNT);
    }
  }
  const at = (which: 0 | 1, share: number): number =>
    times[which].sort((x, y) => x - y)[Math.floor((ROUNDS - 1) * share)] as number;
  const told = (which: 0 | 1): string =>
    `${at(which, 0.5).toFixed(1)} ns (${at(which, 0.25).toFixed(1)} to ${at(which, 0.75).toFixed(1)})`;
  console.log(`${name}: ours ${told(0)}, ringbuf.js ${told(1)}, ratio ${(at(0, 0.5) / at(1, 0.5)).toFixed(2)}`);
}
if (!Number.isFinite(sum)) throw new Error(`${sum}`);
