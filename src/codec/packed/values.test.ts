// Every kind of value that the packed codec carries arrives equal.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PackedPair } from '../../../test/kit/packed-pair.ts';

/** The value, three times through one pair: unknown shapes, known shapes, not teaching. */
function carry<T>(value: T): T {
  const pair = new PackedPair();
  const first = pair.send(value);
  assert.deepEqual(pair.send(value), first);
  const second = pair.send(value, false);
  assert.deepEqual(second, first);
  assert.deepEqual(new PackedPair().send(value, false), first);
  return first;
}

function equal<T>(value: T): void {
  assert.deepEqual(carry(value), value);
}

test('numbers arrive as they are', () => {
  for (const value of [
    0,
    -0,
    1,
    -1,
    0.5,
    2 ** 27,
    -(2 ** 27),
    2 ** 27 - 1,
    2 ** 31,
    -(2 ** 31),
    2 ** 53,
    NaN,
    Infinity,
  ]) {
    assert.ok(Object.is(carry(value), value), String(value));
  }
});

test('other primitives arrive as they are', () => {
  for (const value of [
    null,
    undefined,
    true,
    false,
    0n,
    -1n,
    2n ** 32n - 1n,
    2n ** 64n - 1n,
    -(2n ** 63n),
    2n ** 64n,
    -(3n ** 300n),
    2n ** 31n,
    2n ** 32n,
  ])
    equal(value);
});

test('texts of every length and width arrive as they are', () => {
  for (const unit of ['a', 'ÿ', 'é', 'λ', '漢', '\ud83d\ude00', '\ud800', '\udc00', '\0', '\x80']) {
    for (const count of [
      0, 1, 2, 3, 4, 5, 7, 8, 9, 11, 12, 13, 15, 16, 17, 23, 24, 25, 26, 31, 64, 65, 255, 300, 5000,
    ]) {
      const text = unit.repeat(count);
      assert.equal(carry(text), text);
      assert.equal(carry(`${'x'.repeat(count)}${unit}`), `${'x'.repeat(count)}${unit}`);
    }
  }
});

test('many texts in one value arrive as they are', () => {
  const list = Array.from(
    { length: 300 },
    (_, i) => `text number ${i} ${'.'.repeat(i % 90)}${i % 17 === 0 ? 'λ' : ''}`,
  );
  equal(list);
  equal({ list, again: list.map((text) => ({ text })) });
});

test('arrays arrive with their holes and named properties', () => {
  equal([]);
  equal([1, 2, 3]);
  equal([1.5, 2, -0, NaN]);
  equal([1, 'two', null, undefined, [3], { four: 4 }]);
  // biome-ignore lint/suspicious/noSparseArray: holes are what this is about
  equal([1, , 3]);
  equal(new Array(5));
  const sparse: unknown[] = [];
  sparse[4_000_000_000] = 'far';
  sparse[1_000_000] = 'out';
  const far = new PackedPair().send(sparse);
  assert.equal(far.length, 4_000_000_001);
  assert.deepEqual(Object.keys(far), ['1000000', '4000000000']);
  const named = Object.assign([1, 2], { total: 3, list: [4] });
  equal(named);
  assert.deepEqual(Object.keys(carry(named)), ['0', '1', 'total', 'list']);
  equal({ ...'abc'.match(/b/) });
});

test('a Proxy that lies about its length arrives with as many elements as an array would have', () => {
  for (const [length, count] of [
    [1.5, 1],
    ['3', 3],
    [2 ** 33 + 2, 2],
    [Number.POSITIVE_INFINITY, 0],
  ]) {
    for (const inner of [[1, 2, 3], [{}, 'a', 0.5], []]) {
      const lying = new Proxy<unknown[]>(inner, {
        get: (target, key) => (key === 'length' ? length : Reflect.get(target, key)),
      });
      const expected: unknown[] = inner.slice(0, Number(count));
      expected.length = Number(count);
      assert.deepEqual(carry(lying), expected);
    }
  }
});

test('objects arrive with their keys in order', () => {
  equal({});
  equal({ a: 1, b: { c: [{ d: 1 }] } });
  equal({ 1: 'one', 0: 'zero', x: 2 });
  const wide = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`key${i}`, i]));
  equal(wide);
  assert.deepEqual(Object.keys(carry(wide)), Object.keys(wide));
  equal({ ['k'.repeat(1000)]: 1, after: 2, λ: 3, '\ud800': 4 });
});

test('__proto__ is a key like any other', () => {
  const value = JSON.parse('{"__proto__":{"polluted":true},"a":1}');
  for (const learn of [true, false]) {
    const copy = new PackedPair().send(value, learn);
    assert.equal(Object.getPrototypeOf(copy), Object.prototype);
    assert.deepEqual(Object.keys(copy), ['__proto__', 'a']);
    assert.equal((copy as { polluted?: boolean }).polluted, undefined);
  }
  const table = JSON.parse('{"1":1,"__proto__":{"polluted":true}}');
  assert.deepEqual(Object.keys(carry(table)), ['1', '__proto__']);
  const array = Object.defineProperty([1], '__proto__', { value: 2, enumerable: true });
  assert.deepEqual(Object.keys(carry(array)), ['0', '__proto__']);
});

test('classes become plain objects with their own enumerable string keys', () => {
  class Point {
    x = 1;
    #hidden = 2;
    get sum(): number {
      return this.x + this.#hidden;
    }
  }
  const copy = carry(new Point());
  assert.deepEqual(copy, { x: 1 });
  assert.equal(Object.getPrototypeOf(copy), Object.prototype);
  assert.deepEqual(carry(Object.create({ inherited: 1 }, { own: { value: 2, enumerable: true }, not: { value: 3 } })), {
    own: 2,
  });
  assert.deepEqual(carry(Object.assign(Object.create(null), { a: 1 })), { a: 1 });
  assert.deepEqual(carry({ a: 1, [Symbol('s')]: 2 }), { a: 1 });
});

test('getters are called once, in order, and may remove what follows', () => {
  const calls: string[] = [];
  const value = {
    get a(): number {
      calls.push('a');
      delete (value as { b?: number }).b;
      return 1;
    },
    b: 2,
    get c(): number {
      calls.push('c');
      return 3;
    },
  };
  assert.deepEqual(new PackedPair().send(value), { a: 1, c: 3 });
  assert.deepEqual(calls, ['a', 'c']);
});

test('references that are shared or cyclic stay so', () => {
  const shared = { x: 1 };
  const value: Record<string, unknown> = { a: shared, b: shared, list: [shared] };
  value['self'] = value;
  const copy = new PackedPair().send(value);
  assert.equal(copy['a'], copy['b']);
  assert.equal((copy['list'] as unknown[])[0], copy['a']);
  assert.equal(copy['self'], copy);
  const many = Array.from({ length: 200 }, (_, i) => ({ i }));
  const twice = carry([many, [...many].reverse()]) as [object[], object[]];
  assert.equal(twice[0][0], twice[1][199]);
  assert.equal(twice[0][150], twice[1][49]);
  const map = new Map<unknown, unknown>();
  map.set(map, [map]);
  const mapCopy = new PackedPair().send(map);
  assert.ok(mapCopy.has(mapCopy));
  const date = new Date(5);
  const dates = carry([date, date, { date }]) as [Date, Date, { date: Date }];
  assert.equal(dates[0], dates[1]);
  assert.equal(dates[2].date, dates[0]);
});

test('dates, expressions, maps, sets and boxes arrive equal', () => {
  equal(new Date(1732150000123));
  assert.ok(Number.isNaN(new PackedPair().send(new Date(NaN)).getTime()));
  equal(/a\/b+(?<name>λ)/giu);
  equal(
    new Map<unknown, unknown>([
      ['a', 1],
      [{ k: 1 }, new Map()],
      [NaN, -0],
    ]),
  );
  equal(new Set<unknown>([1, 'two', { three: 3 }, new Set()]));
  for (const value of [Object(1), Object(-0), Object('text'), Object(true), Object(5n)]) equal(value);
  class Sub extends Map<number, number> {}
  assert.equal(Object.getPrototypeOf(carry(new Sub([[1, 2]]))), Map.prototype);
});

test('buffers and views arrive equal and share what they shared', () => {
  const views = [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array];
  for (const make of [...views, Float32Array, Float64Array, BigInt64Array, BigUint64Array]) {
    const view = new (make as Uint8ArrayConstructor)(7);
    new Uint8Array(view.buffer).forEach((_, i, bytes) => {
      bytes[i] = i * 37;
    });
    equal(view);
  }
  equal(new Uint8Array(0));
  equal(new ArrayBuffer(5));
  const buffer = new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8]).buffer;
  const value = [new Uint8Array(buffer, 2, 3), new DataView(buffer), buffer, new Uint16Array(buffer, 4)] as const;
  for (const copy of [carry(value), carry({ all: value }).all]) {
    assert.deepEqual(copy, value);
    assert.equal(copy[0].buffer, copy[2]);
    assert.equal(copy[1].buffer, copy[2]);
    assert.equal(copy[3].buffer, copy[2]);
    assert.equal(copy[0].byteOffset, 2);
  }
  const whole = new Uint8Array(buffer);
  const both = carry([whole, buffer, whole]) as [Uint8Array, ArrayBuffer, Uint8Array];
  assert.equal(both[0].buffer, both[1]);
  assert.equal(both[0], both[2]);
  const node = carry(Buffer.from('abc'));
  assert.equal(Object.getPrototypeOf(node), Uint8Array.prototype);
  assert.deepEqual([...node], [97, 98, 99]);
  assert.equal(node.buffer.byteLength, 3, 'small Buffers leave the pool they share behind');
  const buffers = carry([Buffer.from('abc'), Buffer.from('defg'), { a: 1 }, Buffer.from('')]) as Uint8Array[];
  assert.deepEqual(
    buffers.map((buffer) => buffer.length),
    [3, 4, undefined, 0],
  );
  const again = Buffer.from('abc');
  const twice = carry([again, again, new Date(1), again]) as Uint8Array[];
  assert.equal(twice[0], twice[3]);
});

test('errors keep name, message, stack and cause', () => {
  const error = new RangeError('out', { cause: { deep: [1] } });
  const copy = carry(error);
  assert.ok(copy instanceof RangeError);
  assert.equal(copy.message, 'out');
  assert.equal(copy.stack, error.stack);
  assert.deepEqual(copy.cause, { deep: [1] });
  assert.deepEqual(Object.keys(copy), []);
  class Own extends TypeError {
    override name = 'Own';
  }
  const own = carry(new Own('mine'));
  assert.equal(Object.getPrototypeOf(own), Error.prototype);
  assert.equal(own.message, 'mine');
  const none = carry(new Error());
  assert.ok(!Object.hasOwn(none, 'message'));
  assert.ok(!Object.hasOwn(none, 'cause'));
  const loop = new Error('loop');
  loop.cause = loop;
  const loopCopy = new PackedPair().send(loop);
  assert.equal(loopCopy.cause, loopCopy);
});

test('a prototype with enumerable properties adds nothing', () => {
  const prototype = Object.prototype as unknown as Record<string, unknown>;
  prototype['polluted'] = 1;
  try {
    assert.deepEqual(Object.keys(new PackedPair().send({ a: 1 })), ['a']);
  } finally {
    delete prototype['polluted'];
  }
});

test('an error without a stack arrives without one', () => {
  const error = Object.defineProperty(new RangeError('bare'), 'stack', { value: undefined });
  const { error: arrived, next } = carry({ error, next: 'whole' });
  assert.ok(arrived instanceof RangeError);
  assert.deepEqual([arrived.message, arrived.stack, next], ['bare', undefined, 'whole']);
});
