// Values and conversations at and around every bound that encoder and decoder share. Both count for themselves, and
// must count the same: a value that the one writes is a value that the other reads.
// asked for: node-22, node-24, node-26
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CodecOptions, NO_ROOM, REFUSED } from '../../src/codec/codec.ts';
import {
  KNOWN_TEXT_MIN,
  SHAPE_BRANCHES_MAX,
  SHAPE_DEPTH_MAX,
  SHAPE_KEY_LENGTH_MAX,
  SHAPE_KEYS_MAX,
  SHAPE_NODES_MAX,
  VALUE_DEPTH_MAX,
} from '../../src/limits.ts';
import { cases, eachCase, Random, seed } from '../kit/prng.ts';
import { difference } from '../kit/same-clone.ts';
import { own } from '../kit/values.ts';
import { LIMIT, Link } from './link.ts';

// ---- depth ----------------------------------------------------------------------------------------------------------

const named = (array: unknown[], value: unknown): unknown[] => Object.assign(array, { named: value });
class Instance {
  readonly inner: unknown;
  constructor(inner: unknown) {
    this.inner = inner;
  }
}

/** Ways to put a value one level deeper. */
const NESTS: Record<string, (inner: unknown) => object> = {
  object: (next) => ({ id: 1, next }),
  'object with pairs': (inner) => ({ 7: inner }),
  'object with keys and pairs': (inner) => ({ a: 1, ['k'.repeat(200)]: inner }),
  'object with a bigint beside': (next) => ({ id: 2n ** 70n, next }),
  instance: (inner) => new Instance(inner),
  array: (inner) => [1, inner],
  'sparse array': (inner) => Object.assign(new Array(3), { 1: inner }),
  'element of an array with a name': (inner) => named([inner], 1),
  'named property of an array': (inner) => named([1, 'x'], inner),
  'named property of a list of numbers': (inner) => named([1, 2], inner),
  'value of a map': (inner) => new Map([[1n, inner]]),
  'key of a map': (inner) => new Map([[inner, 1]]),
  set: (inner) => new Set([inner]),
  cause: (inner) => Object.defineProperty(new RangeError('r'), 'cause', { value: inner }),
};

const taught = 'taught '.repeat(KNOWN_TEXT_MIN);
/** What may lie innermost, and how many levels it takes itself. */
const LEAVES: Record<string, readonly [make: () => unknown, levels: number]> = {
  text: [() => 'bottom', 0],
  'large text': [() => taught, 0],
  'wide text': [() => '漢字 λ', 0],
  constant: [() => -0, 0],
  bigint: [() => 2n ** 64n + 1n, 0],
  'small bigint': [() => -1n, 0],
  'boxed bigint': [() => Object(-5n), 1],
  'boxed text': [() => Object('boxed'), 1],
  date: [() => new Date(7), 1],
  expression: [() => /a+/g, 1],
  buffer: [() => new ArrayBuffer(5), 1],
  'whole view': [() => new Uint16Array([1, 2]), 1],
  'part of a buffer': [() => new DataView(new ArrayBuffer(9), 2), 2],
  'empty object': [() => ({}), 1],
  'empty array': [() => [], 1],
  integers: [() => [1, 2, 3], 1],
  doubles: [() => [0.5, 1.5], 1],
  'integers with a name': [() => named([1], 2), 1],
  'empty map': [() => new Map(), 1],
  error: [() => new TypeError('t'), 1],
};

/** Written and read, or refused by the writer; never written and then not read. */
function checkDepth(link: Link, value: unknown, levels: number, what: string): void {
  for (const learn of [true, false]) {
    const length = link.encode(value, { learn });
    if (levels > VALUE_DEPTH_MAX) {
      assert.equal(length, REFUSED, `${what}, ${levels} levels`);
      continue;
    }
    assert.ok(length > 0, `${what}, ${levels} levels: encodeInto returned ${length}`);
    let copy: unknown;
    try {
      copy = link.decode();
    } catch (error) {
      assert.fail(`${what}, ${levels} levels: ${error}`);
    }
    assert.equal(difference(value, copy), undefined, `${what}, ${levels} levels`);
  }
}

const AROUND = [-1, 0, 1];

for (const [name, nest] of Object.entries(NESTS)) {
  test(`${name}: as deep as the writer goes the reader follows, whatever lies innermost`, () => {
    const link = new Link(new Random(seed));
    for (const [leaf, [make, own]] of Object.entries(LEAVES)) {
      for (const around of AROUND) {
        const levels = VALUE_DEPTH_MAX + around;
        let value = make();
        for (let i = own; i < levels; i++) value = nest(value);
        checkDepth(link, value, levels, `${name} around ${leaf}`);
      }
    }
  });
}

const mixed = cases(100, 5_000);
test(`${mixed} mixed nestings at and around the deepest: written and read, or refused`, () => {
  const nests = Object.values(NESTS);
  const leaves = Object.values(LEAVES);
  eachCase(0, mixed, (random) => {
    const link = new Link(random);
    const levels = VALUE_DEPTH_MAX + random.int(-2, 2);
    const [make, own] = random.pick(leaves);
    let value = make();
    for (let i = own; i < levels; i++) value = random.pick(nests)(value);
    checkDepth(link, value, levels, 'mixed');
  });
});

test("the issue's own: 512 nodes of a list with bigint ids, 257 arrays with named properties", () => {
  const link = new Link(new Random(seed));
  type Node = { id: bigint; next: Node | null };
  let list: Node | null = null;
  for (let i = 512; i > 0; i--) list = { id: BigInt(i), next: list };
  assert.equal(difference(list, link.trip(list)), undefined);
  let arrays: unknown[] = [];
  for (let i = 0; i < 256; i++) arrays = named([arrays], i);
  assert.equal(difference(arrays, link.trip(arrays)), undefined);
});

// ---- remembered texts -----------------------------------------------------------------------------------------------

/** A text of its own for each number, of one width. */
function textOf(number: number, length: number, wide: boolean): string {
  const head = `${number}:`;
  return head + (wide ? '語' : 'x').repeat(length - head.length);
}

/** Every text arrives, round after round, in any order: whatever one side forgets the other forgets too. */
function checkTexts(random: Random, options: CodecOptions, texts: readonly string[], messages: number): void {
  const link = new Link(random, options);
  for (let i = 0; i < messages; i++) {
    const text = random.chance(0.7) ? (texts[i % texts.length] as string) : random.pick(texts);
    const value = random.chance(0.8) ? text : [text, { text }, random.pick(texts)];
    const learn = random.chance(0.9);
    if (random.chance(0.05)) {
      assert.ok(link.encode(value, { learn }) > 0);
      if (learn) link.encoder.discard?.();
    }
    assert.equal(difference(value, link.trip(value, { learn })), undefined, `message ${i}`);
  }
}

const rotations = cases(300, 20_000);
test(`${rotations} rotations of texts whose bytes lie at and around the bound all arrive`, () => {
  eachCase(0, rotations, (random) => {
    const count = random.int(1, 5);
    const length = KNOWN_TEXT_MIN + random.int(0, 9);
    const wide = Array.from({ length: count + random.int(0, 2) }, () => random.chance(0.3));
    const texts = wide.map((isWide, i) => textOf(i, length + random.int(0, 3), isWide));
    const sizes = texts.map((text, i) => text.length * (wide[i] ? 2 : 1));
    const sum = sizes.slice(0, count).reduce((a, b) => a + b, 0);
    const options = {
      exactArrays: true,
      knownTexts: random.pick([count - 1, count, count + 1, 16]),
      knownTextBytes: Math.max(0, sum + random.int(-9, 9)),
    };
    checkTexts(random, options, texts, 40);
  });
});

test("the issue's own: three texts of 4,097 characters in 12,291 bytes, three of 5,592,405 by default", () => {
  const few = { exactArrays: true, knownTextBytes: 12_291 };
  checkTexts(
    new Random(seed),
    few,
    [0, 1, 2].map((i) => textOf(i, 4097, false)),
    60,
  );
  const link = new Link(new Random(seed), {});
  const large = [0, 1, 2].map((i) => textOf(i, 5_592_405, false));
  for (let i = 0; i < 12; i++) assert.ok(link.trip(large[i % 3]) === large[i % 3], `message ${i}`);
});

test('a text too large to be remembered drives out none that is', () => {
  const link = new Link(new Random(seed), { knownTextBytes: 3 * KNOWN_TEXT_MIN });
  const small = textOf(1, KNOWN_TEXT_MIN, false);
  for (let i = 0; i < 3; i++) link.trip(small);
  const wide = textOf(2, 2 * KNOWN_TEXT_MIN, true);
  for (let i = 0; i < 4; i++) assert.equal(link.trip(wide), wide);
  assert.equal(link.encode(small), 8);
  assert.equal(link.decode(), small);
});

// ---- shapes ---------------------------------------------------------------------------------------------------------

function record(keys: readonly string[], value: (i: number) => unknown = (i) => i): object {
  const object = {};
  for (const [i, key] of keys.entries()) own(object, key, value(i));
  return object;
}

test('objects with as many keys as a shape takes, one fewer and more, arrive again and again', () => {
  const link = new Link(new Random(seed));
  for (const count of [SHAPE_KEYS_MAX - 1, SHAPE_KEYS_MAX, SHAPE_KEYS_MAX + 1, 2 * SHAPE_KEYS_MAX]) {
    const value = record(Array.from({ length: count }, (_, i) => `key${i}`));
    for (let i = 0; i < 3; i++) {
      assert.equal(difference(value, link.trip(value)), undefined, `${count} keys`);
      assert.equal(difference([value], link.trip([value], { learn: false })), undefined, `${count} keys`);
    }
  }
});

test('keys as long as a shape takes, one shorter and longer, in one and two bytes a character, arrive', () => {
  for (const letter of ['k', 'ß', '鍵', '\ud800']) {
    for (const around of AROUND) {
      const link = new Link(new Random(seed));
      const keys = ['a', letter.repeat(SHAPE_KEY_LENGTH_MAX + around), 'b'];
      for (const learn of [true, true, false]) {
        const value = record(keys);
        assert.equal(difference(value, link.trip(value, { learn })), undefined);
      }
    }
  }
});

test('as many different keys in one place as are told apart, one fewer and more, arrive', () => {
  for (const around of AROUND) {
    const link = new Link(new Random(seed));
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < SHAPE_BRANCHES_MAX + around; i++) {
        const value = { first: 1, [`branch${i}`]: { inner: i } };
        assert.equal(difference(value, link.trip(value)), undefined);
      }
    }
  }
});

test('objects as deep as shapes are told apart by place, one level less and more, arrive', () => {
  const link = new Link(new Random(seed));
  for (let levels = SHAPE_DEPTH_MAX - 1; levels <= SHAPE_DEPTH_MAX + 2; levels++) {
    for (let kind = 0; kind < 3; kind++) {
      let value: object = { [`leaf${kind}`]: kind };
      for (let i = 0; i < levels; i++) value = { [`level${i}`]: value, kind };
      for (let i = 0; i < 2; i++) assert.equal(difference(value, link.trip(value)), undefined);
    }
  }
});

const full = cases(16, 600);
test(`${full} links go on where what they have learned reaches its bound, message by message or within one`, () => {
  eachCase(0, full, (random) => {
    const link = new Link(random);
    const early = { met: 1, early: { on: true } };
    link.trip(early);
    // Each object takes nodes of its own; they come one to a message or many, so that any of them may be the last.
    const keys = random.pick([1, 2, 7, SHAPE_KEYS_MAX]);
    const length = random.pick([4, 20, SHAPE_KEY_LENGTH_MAX]);
    const fresh = (i: number): object =>
      record(Array.from({ length: keys }, (_, k) => `${i}_${k}`.padStart(length, k === 0 ? 'xyz' : 'abc')));
    const spread = (i: number): object => ({ [`place${i % SHAPE_BRANCHES_MAX}`]: { [`p${i >> 6}`]: fresh(i) } });
    const nodes = SHAPE_NODES_MAX + random.int(-3, 3);
    let met = 0;
    for (let i = 0; met < nodes + 3 * keys; ) {
      const many = random.chance(0.1) ? random.int(2, 400) : 1;
      const value = Array.from({ length: many }, () => spread(i++));
      met += many * keys;
      const learn = random.chance(0.9);
      assert.equal(difference(value, link.trip(value, { learn })), undefined, `object ${i}`);
      if (random.chance(0.05)) {
        link.encode([spread(i), { discarded: { i } }]);
        link.encoder.discard?.();
      }
      if (random.chance(0.05)) assert.equal(link.encode([spread(i)], { limit: 16 }), NO_ROOM);
      // Known for as long as both think so, forgotten by both.
      if (random.chance(0.1)) assert.equal(difference(early, link.trip(early)), undefined, `after object ${i}`);
    }
    assert.equal(difference(early, link.trip(early)), undefined);
    assert.equal(difference(early, link.trip(early)), undefined);
  });
});

test('one value that alone brings more shapes than are remembered arrives, and what follows it', () => {
  const link = new Link(new Random(seed));
  const value = Array.from({ length: 2 * SHAPE_NODES_MAX }, (_, i) => ({
    [`a${i % 60}`]: { [`b${(i >> 6) % 60}`]: { [`c${i >> 12}`]: i } },
  }));
  for (const learn of [true, true, false]) {
    const length = link.encode(value, { learn, limit: LIMIT });
    assert.ok(length > 0);
    assert.equal(difference(value, link.decode()), undefined);
    assert.equal(difference({ plain: [1] }, link.trip({ plain: [1] })), undefined);
  }
});
