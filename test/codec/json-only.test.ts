// The encoder of the sab-message-port door takes a value only if JSON gives it back as it was. So whatever it takes arrives
// exactly as JSON would have brought it, and whatever it refuses its caller sends as JSON text.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { REFUSED } from '../../src/codec/codec.ts';
import { PackedDecoder } from '../../src/codec/packed.ts';
import { createJsonEncoder } from '../../src/compat/sab-message-port/json-writer.ts';
import { viewsOf } from '../../src/memory/region.ts';
import { cases, eachCase, type Random } from '../kit/prng.ts';
import { difference } from '../kit/same-clone.ts';
import { own, randomValue } from '../kit/values.ts';
import { KEYS, NUMBERS, STRINGS } from '../kit/vocabulary.ts';

const memory = viewsOf(new SharedArrayBuffer(1 << 22));

class Pair {
  readonly encoder = createJsonEncoder({});
  readonly decoder = new PackedDecoder();

  /** What arrives, or REFUSED. */
  send(value: unknown): unknown {
    const length = this.encoder.encodeInto(value, memory, 0, memory.bytes.length, true);
    return length === REFUSED ? REFUSED : this.decoder.decode(memory, 0, length);
  }
}

const throughJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** Mostly plain: what JSON carries, with a little of what it bends here and there. */
function jsonValue(random: Random, depth = 0): unknown {
  if (depth > 5 || random.chance(0.4)) {
    if (random.chance(0.01)) return random.pick([undefined, Number.NaN, -0, Infinity, 1n, Symbol('s'), () => 1]);
    return random.pick([null, true, false, random.pick(STRINGS), random.pick(NUMBERS.filter(Number.isFinite))]);
  }
  const count = random.skewed(6);
  if (random.chance(0.4)) return Array.from({ length: count }, () => jsonValue(random, depth + 1));
  const object = {};
  for (let i = 0; i < count; i++) own(object, random.pick(KEYS), jsonValue(random, depth + 1));
  return object;
}

const count = cases(3000, 100_000);

test(`${count} values: what is taken arrives as through JSON, and most plain values are taken`, () => {
  let pair = new Pair();
  let taken = 0;
  eachCase(0, count, (random, index) => {
    if (index % 100 === 0) pair = new Pair();
    const value = random.chance(0.8) ? jsonValue(random) : randomValue(random, { budget: 30, exotic: true });
    const arrived = pair.send(value);
    if (arrived === REFUSED) return;
    taken++;
    assert.equal(difference(throughJson(value), arrived), undefined);
    assert.equal(JSON.stringify(arrived), JSON.stringify(value));
  });
  assert.ok(taken > count / 2, `only ${taken} of ${count} were taken`);
});

const refused: Record<string, () => unknown> = {
  undefined: () => undefined,
  'undefined in an object': () => ({ a: undefined }),
  'undefined in an array': () => [undefined],
  'a hole': () => Object.assign(['x'], { length: 2 }),
  'a hole among numbers': () => Object.assign([1, 2, 3], { length: 5 }),
  NaN: () => Number.NaN,
  'NaN among numbers': () => [1.5, Number.NaN],
  Infinity: () => ({ far: Number.POSITIVE_INFINITY }),
  'minus zero': () => -0,
  'minus zero among integers': () => [1, -0],
  'minus zero among doubles': () => [1.5, -0],
  bigint: () => 1n,
  function: () => ({ f() {} }),
  symbol: () => [Symbol('s')],
  Date: () => new Date(0),
  Map: () => new Map([[1, 2]]),
  Error: () => new Error('no'),
  'a typed array': () => new Uint8Array(3),
  'a boxed number': () => new Number(5),
  'an instance of a class': () =>
    new (class Point {
      x = 1;
    })(),
  'an object met twice': () => {
    const twice = { n: 1 };
    return [twice, twice];
  },
  'a cycle': () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    return cycle;
  },
  'an object with its own toJSON': () => ({ n: 1, toJSON: () => 'other' }),
  'an object with a hidden toJSON': () => Object.defineProperty({ n: 1 }, 'toJSON', { value: () => 'other' }),
  'an array with a hidden toJSON': () => Object.defineProperty([1, 2], 'toJSON', { value: () => 'other' }),
  'an array of a class with toJSON': () =>
    new (class extends Array {
      toJSON(): string {
        return 'other';
      }
    })(),
};

for (const [name, make] of Object.entries(refused)) {
  test(`refused: ${name}`, () => {
    const pair = new Pair();
    assert.equal(pair.send(make()), REFUSED);
    assert.deepEqual(pair.send({ after: [1, 'x'] }), { after: [1, 'x'] });
  });
}

test('a toJSON that someone gave every object refuses objects and arrays', () => {
  const pair = new Pair();
  own(Object.prototype, 'toJSON', () => 'other');
  try {
    assert.equal(pair.send({ n: 1 }), REFUSED);
    assert.equal(pair.send([1]), REFUSED);
    assert.equal(pair.send('text'), 'text');
  } finally {
    delete (Object.prototype as { toJSON?: unknown }).toJSON;
  }
});

test('named properties of arrays and symbols as keys are passed over, as JSON passes over them', () => {
  const pair = new Pair();
  const array: unknown[] = Object.assign(['a', 'b'], { name: 'x' });
  assert.deepEqual(pair.send({ array, [Symbol('s')]: 1 }), { array: ['a', 'b'] });
});
