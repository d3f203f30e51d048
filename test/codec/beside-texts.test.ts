// Large texts in flat objects go beside the packed codec where its user says so; what else is in such a value decides.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_ROOM, REFUSED } from '../../src/codec/codec.ts';
import { PackedDecoder, PackedEncoder } from '../../src/codec/packed.ts';
import { viewsOf } from '../../src/memory/region.ts';

const memory = viewsOf(new SharedArrayBuffer(1 << 20));
const MIN = 8192;
const MAX = 100_000;
let made = 0;
/** Different in all places that a fingerprint looks at. */
const text = (length = MIN): string => String.fromCharCode(97 + (made++ % 26)).repeat(length);

function pair(options: object = {}): (value: unknown, learn?: boolean) => unknown {
  const encoder = new PackedEncoder({ besideTextMin: MIN, besideTextMax: MAX, ...options });
  const decoder = new PackedDecoder();
  return (value, learn = true) => {
    const length = encoder.encodeInto(value, memory, 0, memory.bytes.length, learn);
    return length === REFUSED ? REFUSED : decoder.decode(memory, 0, length);
  };
}

test('an object of primitives with a new large text is refused, with or without remembered texts', () => {
  for (const options of [{}, { knownTexts: 0 }]) {
    const send = pair(options);
    for (const learn of [true, false]) {
      assert.equal(send({ id: 1, text: text(), on: true, none: null, n: 1.5, big: 1n, u: undefined }, learn), REFUSED);
    }
    const rootless = Object.assign(Object.create(null) as object, { text: text() });
    assert.equal(send(rootless), REFUSED);
    const short = { text: text(MIN - 1) };
    assert.deepEqual(send(short), short);
    assert.deepEqual(send({ after: [1] }), { after: [1] });
  }
});

test('a text that comes again is taught, and travels as a number from then on', () => {
  const send = pair();
  const value = { id: 1, text: text() };
  assert.equal(send(value), REFUSED);
  for (let i = 0; i < 3; i++) assert.deepEqual(send(value), value);
});

const carried: Record<string, () => unknown> = {
  'the text itself': () => text(),
  'an array': () => [text()],
  'a text deeper down': () => ({ inner: { text: text() } }),
  'an object beside it': () => ({ text: text(), inner: { a: 1 } }),
  'an object before it': () => ({ inner: [1], text: text() }),
  'an instance': () => Object.assign(new (class A {})(), { text: text() }),
  'more than the channel takes': () => ({ a: text(MAX / 2), b: text(MAX / 2), c: text() }),
  'a getter': () => ({
    text: text(),
    get twice(): number {
      return 2;
    },
  }),
  'many keys': () => Object.fromEntries(Array.from({ length: 70 }, (_, i) => [`k${i}`, i === 3 ? text() : i])),
};
for (const [name, make] of Object.entries(carried)) {
  test(`carried by the codec itself: ${name}`, () => {
    const send = pair();
    const value = make();
    const arrived = send(value);
    assert.notEqual(arrived, REFUSED);
    if (typeof value === 'object') assert.deepEqual({ ...(arrived as object) }, { ...(value as object) });
    else assert.equal(arrived, value);
    // It goes on as before.
    assert.equal(send({ text: text() }), REFUSED);
  });
}

test('a Proxy is carried by the codec itself: no native clone takes one', () => {
  const target = { text: text() };
  assert.deepEqual(pair()(new Proxy(target, {})), target);
});

test('what stands in the way of any clone is an error with its path', () => {
  const send = pair();
  assert.throws(() => send({ text: text(), f: () => 1 }), { code: 'ERR_DATA_CLONE', path: '$.f' });
  assert.throws(() => send({ text: text(), s: Symbol('s') }), { code: 'ERR_DATA_CLONE', path: '$.s' });
});

test('without the option all of it is packed', () => {
  const value = { text: text() };
  assert.deepEqual(pair({ besideTextMin: undefined })(value), value);
});

test('where only what is not ASCII goes beside, that is found out by trying, and others like it are not tried', () => {
  const send = pair({ besideTextMin: undefined, besideWideTextMin: MIN, knownTexts: 0 });
  const wide = (): string => `${text(MIN / 2)}é${text(MIN / 2)}`;
  for (const value of [text(), { text: text() }, { in: { text: wide() } }, `${text(MIN - 10)}λ`]) {
    assert.deepEqual(send(value), value);
  }
  assert.equal(send(wide()), REFUSED);
  const after = Array.from({ length: 9 }, () => text());
  assert.deepEqual(
    after.map((value) => send(value) === REFUSED),
    [...Array(8).fill(true), false],
  );
  assert.equal(send({ id: 1, text: `λ${wide()}` }), REFUSED);
  const nested = { in: [wide()] };
  assert.deepEqual(send(nested), nested);
  // Where its length is not for the runtime's clone either, it is written here.
  const long = 'λ'.repeat(MAX + 1);
  assert.equal(send(long), long);
});

test('a text that ends where the room does is not taken for one that is not ASCII', () => {
  const encoder = new PackedEncoder({ besideWideTextMin: MIN, knownTexts: 0 });
  const decoder = new PackedDecoder();
  const value = text();
  let room = MIN;
  let length = NO_ROOM;
  while (length === NO_ROOM) length = encoder.encodeInto(value, memory, 0, (room += 4), true);
  assert.ok(length > 0 && room <= MIN + 16, `${length} in ${room}`);
  assert.equal(decoder.decode(memory, 0, length), value);
});
