// What the packed codec refuses, what it teaches, and what it makes of damage.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memory, OFFSET, PackedPair } from '../../test/kit/packed-pair.ts';
import { CodecError, DataCloneError } from '../errors.ts';
import { NO_ROOM, REFUSED } from './codec.ts';
import { PackedEncoder } from './packed.ts';

test('what cannot be cloned is named by its path', () => {
  const detached = new ArrayBuffer(8);
  structuredClone(detached, { transfer: [detached] });
  const cases: [unknown, string][] = [
    [() => 1, '$'],
    [{ user: { callback: () => 1 } }, '$.user.callback'],
    [[1, [2, Symbol('s')]], '$[1][1]'],
    [{ 'a b': Promise.resolve() }, '$["a b"]'],
    [{ map: new Map([['key', { weak: new WeakMap() }]]) }, '$.map.get("key").weak'],
    [new Set([1, new WeakRef({})]), '$[1]'],
    [{ a: { b: 1 }, c: detached }, '$.c'],
    [{ error: new Error('x', { cause: { f() {} } }) }, '$.error.cause.f'],
    [(function* () {})(), '$'],
  ];
  for (const [value, path] of cases) {
    const pair = new PackedPair();
    const send = (): unknown => pair.send(value);
    assert.throws(
      send,
      (error) => error instanceof DataCloneError && error.path === path && error.name === 'DataCloneError',
    );
    assert.deepEqual(pair.send({ user: { callback: 1 } }), { user: { callback: 1 } });
  }
});

test('what only the runtime can carry is refused', () => {
  const encoder = new PackedEncoder();
  const values = [
    new SharedArrayBuffer(8),
    new MessageChannel().port1,
    new Blob([]),
    new Uint8Array(new SharedArrayBuffer(8)),
  ];
  for (const value of values) {
    assert.equal(encoder.encodeInto({ value }, memory, OFFSET, 4096, true), REFUSED);
    if ('close' in value) (value as MessagePort).close();
  }
  let deep: object = {};
  for (let i = 0; i < 100_000; i++) deep = { deep };
  assert.equal(encoder.encodeInto(deep, memory, OFFSET, 1 << 19, true), REFUSED);
});

test('lack of room is an answer at every length, and teaches nothing', () => {
  const value = {
    name: 'request',
    wide: 'λ'.repeat(40),
    long: 'x'.repeat(100),
    list: [1, 2, 3],
    floats: [0.5, 1.5],
    big: 2n ** 100n,
    map: new Map([['k', new Set([1])]]),
    bytes: new Uint8Array(20),
    error: new Error('e'),
    date: new Date(),
    re: /x/,
  };
  const pair = new PackedPair();
  const whole = new PackedEncoder().encodeInto(value, memory, OFFSET, 8192, true);
  for (let limit = 0; limit < whole; limit += 4) {
    memory.words.fill(0x5a5a5a5a, (OFFSET + limit) >>> 2, (OFFSET + whole + 64) >>> 2);
    assert.equal(pair.encoder.encodeInto(value, memory, OFFSET, limit, true), NO_ROOM, `limit ${limit}`);
    for (let i = OFFSET + limit; i < OFFSET + whole + 64; i++) assert.equal(memory.bytes[i], 0x5a, `byte ${i}`);
  }
  assert.equal(pair.encoder.encodeInto(value, memory, OFFSET, whole, true), whole);
  assert.deepEqual(pair.decoder.decode(memory, OFFSET, whole), value);
});

test('keys travel once', () => {
  const pair = new PackedPair();
  const value = { identifier: 1, description: { something: 2 } };
  pair.send(value);
  const first = pair.length;
  pair.send(value);
  assert.ok(pair.length < first / 2);
  assert.equal(pair.length, 5 * 4);
});

test('a payload that does not teach can be dropped', () => {
  const pair = new PackedPair();
  const { encoder, decoder } = pair;
  for (let i = 0; i < 10; i++) encoder.encodeInto({ dropped: i, [`key${i}x`]: 1 }, memory, OFFSET, 4096, false);
  assert.deepEqual(pair.send({ dropped: 1, kept: 2 }), { dropped: 1, kept: 2 });
  assert.deepEqual(pair.send({ dropped: 3, kept: 2 }), { dropped: 3, kept: 2 });
  assert.ok(decoder);
});

test('a discarded payload that made the peer forget its shapes is undone', () => {
  const pair = new PackedPair();
  pair.send({ kept: 1 });
  for (let i = 0; i < 9000; i++) {
    const value = { [`k${i % 50}`]: i, [`l${i % 700}`]: { [`m${i}`]: 1 } };
    if (i % 3 === 0) {
      pair.encoder.encodeInto(value, memory, OFFSET, 4096, true);
      pair.encoder.discard();
    } else {
      assert.deepEqual(pair.send(value), value);
    }
  }
  assert.deepEqual(pair.send({ kept: 1 }), { kept: 1 });
});

test('more shapes than are remembered still arrive', () => {
  const pair = new PackedPair();
  for (let i = 0; i < 3000; i++) {
    const value = { [`k${i % 50}`]: i, [`l${i % 700}`]: { [`m${i}`]: 1, common: 2 }, end: [{ [`n${i}`]: 1 }] };
    assert.deepEqual(pair.send(value, i % 5 !== 0), value);
  }
});

test('damaged payloads are errors, and the next payload is read', () => {
  const pair = new PackedPair();
  const value = {
    a: [1, { b: 'text', c: [0.5] }],
    d: new Map([[1, new Uint8Array(9)]]),
    e: 'x'.repeat(99),
    f: new Error('f'),
  };
  pair.send(value);
  for (const learn of [true, false]) {
    const length = pair.encoder.encodeInto(value, memory, OFFSET, 4096, learn);
    const good = memory.words.slice(OFFSET / 4, (OFFSET + length) / 4);
    for (let i = 0; i < good.length; i++) {
      for (const word of [0, -1, 0x7fffffff, 1 << 20, good[i]! ^ 1, good[i]! + 16, good[i]! << 1]) {
        memory.words.set(good, OFFSET / 4);
        memory.words[OFFSET / 4 + i] = word;
        try {
          pair.decoder.decode(memory, OFFSET, length);
        } catch (error) {
          assert.ok(error instanceof CodecError && error.code === 'ERR_DECODE', String(error));
        }
      }
    }
    for (let cut = 0; cut < length; cut += 4) {
      memory.words.set(good, OFFSET / 4);
      assert.throws(() => pair.decoder.decode(memory, OFFSET, cut), { code: 'ERR_DECODE' });
    }
    assert.deepEqual(pair.send(value), value);
  }
});

test('a view of shared memory is left to the native clone, whatever that memory says it is', () => {
  const named = Object.defineProperty(new SharedArrayBuffer(8), Symbol.toStringTag, { value: 'ArrayBuffer' });
  const ofAnotherRealm = Object.setPrototypeOf(new SharedArrayBuffer(8), {
    constructor: undefined,
    [Symbol.toStringTag]: 'SharedArrayBuffer',
  });
  for (const memoryOfView of [new SharedArrayBuffer(8), named, ofAnotherRealm]) {
    const view = new Uint8Array(memoryOfView as SharedArrayBuffer);
    assert.equal(new PackedEncoder().encodeInto(view, memory, OFFSET, 1024, true), REFUSED);
  }
});
