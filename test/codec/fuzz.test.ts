// Damaged and hostile payloads: what comes out is a value or a CodecError; nothing hangs, nothing asks for more memory
// than the bytes can justify, no prototype changes. COUNT sets how many (SOAK=1: a million).
// asked for: node-22, node-24, node-26
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Decoder } from '../../src/codec/codec.ts';
import { CodecError } from '../../src/errors.ts';
import { VALUE_DEPTH_MAX } from '../../src/limits.ts';
import { viewsOf } from '../../src/memory/region.ts';
import { cases, eachCase, Random, seed } from '../kit/prng.ts';
import { difference } from '../kit/same-clone.ts';
import { randomValue } from '../kit/values.ts';
import { decodeDamaged, held, JUMP_MAX, type Outcomes, prototypesNow } from './guards.ts';
import { codec, Link } from './link.ts';
import { mutate } from './mutate.ts';

function decode(decoder: Decoder, payload: Uint8Array): unknown {
  const memory = viewsOf(new SharedArrayBuffer(payload.length + 8));
  memory.bytes.set(payload);
  return decoder.decode(memory, 0, payload.length);
}

const count = cases(20_000, 1_000_000);
const PER_PAYLOAD = 20;

test(`${count} damaged payloads decode to a value or a CodecError, without side effects`, () => {
  const before = prototypesNow();
  const outcomes: Outcomes = { values: 0, errors: 0, largest: 0 };
  let other: Uint8Array = new Uint8Array(64);
  let shared = new Link(new Random(seed));
  eachCase(0, Math.ceil(count / PER_PAYLOAD), (random, index) => {
    // Now alone, now on a link that has met shapes, texts and the damage of many payloads before.
    if (index % 50 === 0) shared = new Link(random);
    const link = random.chance(0.5) ? shared : new Link(random);
    assert.ok(link.encode(randomValue(random, { budget: 60, exotic: true, huge: true })) > 0);
    const payload = link.payload();
    for (let i = 0; i < PER_PAYLOAD; i++) {
      const mutant = mutate(random, payload, other);
      decodeDamaged(
        () => link.decodeBytes(mutant),
        outcomes,
        () => `${mutant.length} bytes: ${Array.from(mutant.subarray(0, 400))}`,
      );
    }
    other = payload;
  });
  assert.equal(prototypesNow(), before, 'a prototype has changed');
  assert.ok(outcomes.errors > 0 && outcomes.values > 0, 'both outcomes occur, so the damage is neither nil nor total');
  console.log(JSON.stringify(outcomes));
});

const noise = cases(5_000, 200_000);
test(`${noise} payloads of noise decode to a value or a CodecError`, () => {
  eachCase(0, noise, (random) => {
    const bytes = Uint8Array.from({ length: random.skewed(400) }, () => random.bits());
    const link = new Link(random);
    // The header of a real payload lets the noise behind it be looked at.
    if (random.chance(0.8)) {
      link.encode(randomValue(random, { budget: 5 }));
      bytes.set(link.payload().subarray(0, Math.min(4, bytes.length)));
    }
    try {
      link.decodeBytes(bytes);
    } catch (error) {
      if (!(error instanceof CodecError)) throw error;
    }
  });
});

test('a decoder that has thrown a thousand times still decodes what its encoder sends next', () => {
  eachCase(0, cases(20, 400), (random) => {
    const link = new Link(random);
    for (let message = 0; message < 20; message++) {
      const value = randomValue(random, { budget: 60 });
      assert.ok(link.encode(value) > 0);
      const payload = link.payload();
      // Cut short it cannot be a payload, so that it must not have taught anything either.
      for (let i = 0; i < 50; i++) {
        const short = payload.subarray(0, random.int(0, payload.length - 1));
        assert.throws(() => link.decodeBytes(short), CodecError);
      }
      assert.equal(difference(value, link.decodeBytes(payload)), undefined, `message ${message}`);
    }
  });
});

test('what a damaged payload taught is forgotten again', () => {
  const link = new Link(new Random(seed));
  assert.deepEqual(link.trip({ right: 1 }), { right: 1 });
  // Another encoder's first payload teaches its shape under the same number; its value is spoilt, its trailer is whole.
  const other = new Link(new Random(seed));
  assert.ok(other.encode({ wrong: 1 }) > 0);
  const payload = other.payload();
  new DataView(payload.buffer).setInt32(4, -1, true);
  assert.throws(() => link.decodeBytes(payload), CodecError);
  assert.deepEqual(link.trip({ right: 2 }), { right: 2 });
});

/** A payload of `value` in which every word equal to `from` is replaced by `to`. */
function forged(value: unknown, from: number, to: number): Uint8Array {
  const link = new Link(new Random(seed));
  assert.ok(link.encode(value) > 0);
  const payload = link.payload();
  const words = new Int32Array(payload.buffer, 0, payload.length >>> 2);
  let replaced = 0;
  for (let i = 0; i < words.length; i++) {
    if (words[i] === from) {
      words[i] = to;
      replaced++;
    }
  }
  assert.ok(replaced > 0, 'the forged number is in the payload');
  return payload;
}

test('a thousand resizable buffers that each claim a gigabyte are refused', () => {
  const MARK = 12_344;
  const value = Array.from({ length: 1000 }, () => new ArrayBuffer(8, { maxByteLength: MARK } as object));
  const payload = forged(value, MARK, 2 ** 30);
  assert.throws(() => decode(codec.createDecoder(), payload), CodecError);
});

test('lengths and counts that the payload cannot hold are refused before anything is allocated', () => {
  // Each value has just one number of 1111: its length or count, plain or beside a tag.
  const list = Array.from({ length: 1111 }, () => null);
  const values: readonly unknown[] = [
    list,
    Array.from({ length: 1111 }, (_, i) => i),
    Array.from({ length: 1111 }, (_, i) => i + 0.5),
    new Set(list.map((_, i) => i - 5000)),
    new Map(list.map((_, i) => [i - 5000, null])),
    new Uint8Array(1111),
    new ArrayBuffer(1111),
    'x'.repeat(1111),
    'é日'.repeat(1111).slice(0, 1111),
    2n ** BigInt(32 * 1111 - 1),
    Object(2n ** BigInt(32 * 1111 - 1)),
  ];
  for (const value of values) {
    const link = new Link(new Random(seed));
    assert.ok(link.encode(value) > 0);
    const original = link.payload();
    const words = new Int32Array(original.buffer, 0, original.length >>> 2);
    let forgeries = 0;
    for (let i = 1; i < Math.min(words.length, 12); i++) {
      for (const shift of [0, 4]) {
        if (words[i]! >> shift !== 1111) continue;
        for (const claim of [1112 + 4, 2 ** 20, 2 ** 27 - 1, 2 ** 27, -1, 0x7fff_fff0]) {
          const payload = original.slice();
          const tag = shift === 0 ? 0 : words[i]! & 15;
          new DataView(payload.buffer).setInt32(4 * i, (claim << shift) | tag, true);
          const start = held();
          assert.throws(() => decode(codec.createDecoder(), payload), CodecError, `${claim} instead of 1111`);
          assert.ok(held() - start < JUMP_MAX);
          forgeries++;
        }
      }
    }
    assert.ok(forgeries > 0, `no length found in the payload of ${Object.prototype.toString.call(value)}`);
  }
});

test('the bits by which engines mark holes and tagged values are plain NaN in an array of numbers', () => {
  const marks = [0xfff7_ffff_fff7_ffffn, 0x7ff7_ffff_ffff_ffffn, 0xffff_ffff_ffff_ffffn, 0x7ff4_0000_0000_0000n];
  for (const mark of [...marks, 0xfff9_0000_0000_0000n, 0xfffe_0000_0000_0001n, 0x7ffc_0000_0000_0000n]) {
    const link = new Link(new Random(seed));
    assert.ok(link.encode([0.5, 0.5, { alone: 0.5 }, [0.5, 0.25]]) > 0);
    const payload = link.payload();
    const half = new Uint8Array(new Float64Array([0.5]).buffer);
    const bits = new Uint8Array(new BigUint64Array([mark]).buffer);
    for (let i = 0; i + 8 <= payload.length; i += 4) {
      if (half.every((byte, j) => payload[i + j] === byte)) payload.set(bits, i);
    }
    const copy = link.decodeBytes(payload) as [number, number, { alone: number }, number[]];
    assert.deepEqual(copy, [Number.NaN, Number.NaN, { alone: Number.NaN }, [Number.NaN, 0.25]]);
  }
});

test('a payload of nothing but nesting is refused, not a stack overflow', () => {
  // Whatever words repeat in a deep value are repeated far beyond what an encoder would nest.
  for (const nest of [
    (inner: unknown) => [inner],
    (inner: unknown) => new Set([inner]),
    (inner: unknown) => new Map([[inner, 1]]),
  ]) {
    let value: unknown = 1;
    for (let i = 0; i < 100; i++) value = nest(value);
    const link = new Link(new Random(seed));
    assert.ok(link.encode(value) > 0);
    const payload = link.payload();
    const level = Math.floor((payload.length - 8) / 100 / 4) * 4;
    const deep = new Uint8Array(4 + 100_000 * level);
    deep.set(payload.subarray(0, 4));
    for (let i = 0; i < 100_000; i++) deep.set(payload.subarray(4, 4 + level), 4 + i * level);
    assert.throws(() => decode(codec.createDecoder(), deep), CodecError);
  }
});

test('lists of numbers lie no deeper than anything else', () => {
  for (const leaf of [8, 9, 5]) {
    for (const levels of [VALUE_DEPTH_MAX, VALUE_DEPTH_MAX + 1]) {
      // Doubles are padded to an even index, though there are none.
      const words = new Int32Array(leaf === 9 ? (levels + 2) & ~1 : levels + 1).fill((1 << 4) | 5);
      words[0] = 1;
      words[levels] = leaf;
      const read = (): unknown => decode(codec.createDecoder(), new Uint8Array(words.buffer));
      if (levels > VALUE_DEPTH_MAX) assert.throws(read, CodecError);
      else assert.ok(Array.isArray(read()));
    }
  }
});

test('nesting of what takes no level of depth is refused, not a stack overflow', () => {
  const TEXT_REMEMBER = (12 << 4) | 11;
  const ARRAY_PAIRS = (11 << 4) | 11;
  const BOXED = (10 << 4) | 11;
  for (const level of [[TEXT_REMEMBER, 7], [ARRAY_PAIRS], [BOXED], [TEXT_REMEMBER, 7, BOXED]]) {
    const words = new Int32Array(1 + 200_000 * level.length);
    words[0] = 1;
    for (let i = 1; i < words.length; i++) words[i] = level[(i - 1) % level.length] as number;
    assert.throws(
      () => decode(codec.createDecoder(), new Uint8Array(words.buffer)),
      (error) => error instanceof CodecError && error.cause === undefined,
    );
  }
});

test('a bigint of a million bytes goes through both ways in linear time', () => {
  // Quadratic work would be a hundred billion steps: the watchdog of the test run would end it.
  const value = (1n << 8_000_000n) - 12345n;
  const link = new Link(new Random(seed));
  const copy = link.trip(-value, { limit: 1 << 20 });
  assert.ok(copy === -value);
});
