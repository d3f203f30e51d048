// What cannot be cloned: the same verdict as structuredClone, by our error with the path of the part, and no trace left.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_ROOM, REFUSED } from '../../src/codec/codec.ts';
import { DataCloneError } from '../../src/errors.ts';
import { cases, eachCase, Random, seed } from '../kit/prng.ts';
import { difference } from '../kit/same-clone.ts';
import { randomValue } from '../kit/values.ts';
import { MESSAGE_SYMBOL } from './deviations.ts';
import { Link } from './link.ts';
import { hide, UNCLONEABLES } from './poison.ts';

function encode(value: unknown): number {
  return new Link(new Random(seed)).encode(value);
}

/** Encoding throws DataCloneError with this path, also by its name and code, and no bytes count as a payload. */
function throwsAt(link: Link, value: unknown, path: string): void {
  try {
    const length = link.encode(value);
    assert.fail(`encoded into ${length} bytes instead of throwing`);
  } catch (error) {
    if (!(error instanceof DataCloneError)) throw error;
    assert.equal(error.path, path);
    assert.equal(error.name, 'DataCloneError');
    assert.equal(error.code, 'ERR_DATA_CLONE');
    assert.ok(error.message.includes(path), `the message names the path: ${error.message}`);
  }
}

for (const { name, make } of UNCLONEABLES) {
  test(`${name} throws DataCloneError as structuredClone does`, () => {
    assert.throws(() => structuredClone(make()), { name: 'DataCloneError' }, 'the runtime agrees');
    throwsAt(new Link(new Random(seed)), make(), '$');
    throwsAt(new Link(new Random(seed)), { user: { callback: make() } }, '$.user.callback');
  });
}

const count = cases(4_000, 100_000);
test(`${count} hidden uncloneable parts are named by their path, and the link goes on`, () => {
  eachCase(0, count, (random) => {
    const link = new Link(random);
    const warm = randomValue(random, { budget: 30 });
    assert.equal(difference(warm, link.trip(warm)), undefined);
    const { value, path } = hide(random, random.pick(UNCLONEABLES).make());
    throwsAt(link, value, path);
    throwsAt(link, value, path);
    const next = { ...(typeof warm === 'object' ? warm : {}), again: randomValue(random, { budget: 30 }) };
    assert.equal(difference(next, link.trip(next)), undefined, 'the value after the failure');
  });
});

test('an exception of a getter leaves encodeInto as it is, also one whose message is no text', () => {
  for (const mine of [new RangeError('mine'), Object.assign(new RangeError(), { message: undefined })]) {
    const link = new Link(new Random(seed));
    const value = {
      a: 1,
      get b(): never {
        throw mine;
      },
    };
    assert.throws(
      () => link.encode([{ a: 1 }, value]),
      (error) => error === mine,
    );
    assert.deepEqual(link.trip([{ a: 1, b: 2 }]), [{ a: 1, b: 2 }]);
  }
});

test("a stack overflow in a getter is the caller's own RangeError, or the value is refused", () => {
  const value = {
    get deep(): unknown {
      const down = (n: number): number => down(n + 1) + 1;
      return down(0);
    },
  };
  try {
    assert.equal(encode(value), REFUSED);
  } catch (error) {
    assert.ok(error instanceof RangeError);
  }
});

test('a symbol as the message of an error throws, as String(symbol) does', () => {
  const error = Object.defineProperty(new Error('x'), 'message', { value: Symbol('m') });
  if (!MESSAGE_SYMBOL.present()) assert.throws(() => structuredClone(error), TypeError);
  assert.throws(
    () => encode({ error }),
    (thrown) => thrown instanceof TypeError || thrown instanceof DataCloneError,
  );
});

test('a value deeper than the codec goes is refused or carried, never half sent, and the link goes on', () => {
  for (const depth of [100, 500, 2_000, 100_000]) {
    for (const nest of [
      (inner: unknown) => ({ inner }),
      (inner: unknown) => [inner],
      (inner: unknown) => new Set([inner]),
    ]) {
      let value: unknown = 'bottom';
      for (let i = 0; i < depth; i++) value = nest(value);
      const link = new Link(new Random(seed));
      const length = link.encode(value);
      if (length === NO_ROOM) assert.ok(depth > 50_000);
      else if (length !== REFUSED) assert.equal(difference(value, link.decode()), undefined);
      else assert.ok(depth > 200, 'ordinary nesting is carried');
      assert.deepEqual(link.trip({ inner: [1] }), { inner: [1] });
    }
  }
});

test('host objects are refused for the runtime to carry', () => {
  for (const host of [
    new Blob(['a']),
    new SharedArrayBuffer(8),
    new Uint8Array(new SharedArrayBuffer(8)),
    new MessageChannel().port1,
  ]) {
    assert.equal(encode(host), REFUSED, Object.prototype.toString.call(host));
    assert.equal(encode({ user: [host] }), REFUSED);
    if (typeof MessagePort !== 'undefined' && host instanceof MessagePort) host.close();
  }
});
