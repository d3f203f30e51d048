// Bytes that change while the decoder looks at them: between any two reads (a memory that lies, deterministic), and for
// real (another thread that scribbles). Whatever the decoder makes of it is a value or a CodecError.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import type { Memory } from '../../src/codec/codec.ts';
import { viewsOf } from '../../src/memory/region.ts';
import { cases, eachCase, type Random, seed } from '../kit/prng.ts';
import { randomValue } from '../kit/values.ts';
import { decodeDamaged, type Outcomes, prototypesNow } from './guards.ts';
import { codec, Link } from './link.ts';

/** Views that now and then change a word of the payload just before something is read. */
function lyingMemory(random: Random, real: Memory, length: number, lies: number): Memory {
  const lie = (): void => {
    if (!random.chance(lies)) return;
    const index = random.int(0, Math.max(0, (length >>> 2) - 1));
    const old = real.words[index]!;
    real.words[index] = random.pick([
      random.bits(),
      old ^ (1 << random.int(0, 31)),
      old + 1,
      old - 1,
      old | 0xffff0,
      old & 15,
    ]);
  };
  const liar = <T extends object>(part: T): T =>
    new Proxy(part, {
      get(target, key): unknown {
        lie();
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  const { words, bytes, floats, text, blocks } = real;
  return {
    words: liar(words),
    bytes: liar(bytes),
    floats: liar(floats),
    text: liar(text),
    blocks: liar(blocks),
    lent: false,
  };
}

const count = cases(4_000, 200_000);
test(`${count} payloads that change between reads decode to a value or a CodecError`, () => {
  const before = prototypesNow();
  const outcomes: Outcomes = { values: 0, errors: 0, largest: 0 };
  eachCase(0, count, (random) => {
    const link = new Link(random);
    assert.ok(link.encode(randomValue(random, { budget: 60, exotic: true, huge: true })) > 0);
    const payload = link.payload();
    const real = viewsOf(new SharedArrayBuffer((payload.length + 15) & ~7));
    real.bytes.set(payload);
    const memory = lyingMemory(random, real, payload.length, random.pick([0.001, 0.01, 0.1, 0.5]));
    const decoder = codec.createDecoder();
    const decode = (): unknown => decoder.decode(memory, 0, payload.length);
    decodeDamaged(decode, outcomes, () => `payload ${Array.from(payload.subarray(0, 400))}`);
  });
  assert.equal(prototypesNow(), before);
  assert.ok(outcomes.values > 0 && outcomes.errors > 0, 'both outcomes occur');
  console.log(JSON.stringify(outcomes));
});

const rounds = cases(300, 20_000);
test(`${rounds} payloads decode to values or CodecErrors while another thread scribbles over them`, async () => {
  const before = prototypesNow();
  const outcomes: Outcomes = { values: 0, errors: 0, largest: 0 };
  const shared = new SharedArrayBuffer(1 << 16);
  const memory = viewsOf(shared);
  const control = new Int32Array(new SharedArrayBuffer(8));
  const worker = new Worker(new URL('./scribbler.js', import.meta.url), {
    workerData: { memory: shared, control, seed },
  });
  const exit = once(worker, 'exit');
  await once(worker, 'message');
  try {
    eachCase(0, rounds, (random) => {
      const link = new Link(random);
      const length = link.encode(randomValue(random, { budget: 100 }), { limit: shared.byteLength });
      if (length < 0) return;
      const payload = link.payload();
      const decoder = codec.createDecoder();
      for (let i = 0; i < 20; i++) {
        memory.bytes.set(payload);
        Atomics.store(control, 1, length >>> 2);
        decodeDamaged(
          () => decoder.decode(memory, 0, length),
          outcomes,
          () => `${length} bytes`,
        );
      }
    });
  } finally {
    Atomics.store(control, 0, 1);
    await exit;
  }
  assert.equal(prototypesNow(), before);
  assert.ok(outcomes.errors > 0, 'the scribbling was felt');
  console.log(JSON.stringify(outcomes));
});
