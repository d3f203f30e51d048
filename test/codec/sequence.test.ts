// Conversations over one encoder and its decoder, which remember shapes, keys and texts: whatever happens in between
// (no room, refusals, uncloneable parts, payloads that are dropped or damaged), the two stay in step.
// asked for: node-22, node-24, node-26
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CodecOptions, NO_ROOM, REFUSED } from '../../src/codec/codec.ts';
import { CodecError, DataCloneError, UsageError } from '../../src/errors.ts';
import { viewsOf } from '../../src/memory/region.ts';
import { cases, eachCase, Random, seed } from '../kit/prng.ts';
import { difference, sameClone } from '../kit/same-clone.ts';
import { own, randomValue } from '../kit/values.ts';
import { LIMIT, Link } from './link.ts';
import { hide, UNCLONEABLES } from './poison.ts';

/** What one side of a conversation keeps saying: texts, records of few shapes, objects sent before. */
class Speaker {
  readonly #random: Random;
  readonly #texts: string[] = [];
  readonly #said: object[] = [];

  constructor(random: Random) {
    this.#random = random;
    for (let i = 0; i < 6; i++) {
      const length = random.pick([10, 63, 64, 65, 200, 1023, 1024, 5_000, 40_000]);
      const letter = random.pick(['a', 'é', '日', '\uD800']);
      const text = letter.repeat(length - 1) + random.pick(['x', 'y', 'ß', '語']);
      // The same length and nearly the same content is what a comparison by sample could take for the same.
      this.#texts.push(text, `${text.slice(0, length / 2)}!${text.slice(length / 2 + 1)}`);
    }
  }

  value(): unknown {
    const random = this.#random;
    const which = random.int(0, 9);
    if (which < 3) return this.#keep(randomValue(random, { budget: 60, exotic: true, huge: true }));
    if (which < 5) return this.#keep(this.#record());
    if (which === 5) return this.#text();
    if (which === 6) return { text: this.#text(), more: [this.#text(), { again: this.#text() }] };
    if (which === 7) return Array.from({ length: random.skewed(20) }, () => this.#record());
    if (which === 8) return this.#odd();
    return this.#said.length === 0 ? null : random.pick(this.#said);
  }

  #keep<T>(value: T): T {
    if (typeof value === 'object' && value !== null) {
      this.#said.push(value);
      if (this.#said.length > 10) this.#said.shift();
    }
    return value;
  }

  /** A copy of a text now and then, so that it is equal without being the same string in memory. */
  #text(): string {
    const text = this.#random.pick(this.#texts);
    return this.#random.chance(0.3) ? [text.slice(0, 3), text.slice(3)].join('') : text;
  }

  #record(): object {
    const random = this.#random;
    const record = { id: random.int(0, 9), name: this.#text(), tags: ['a', random.chance(0.3) ? 1.5 : 'b'] };
    if (random.chance(0.3)) own(record, random.pick(['extra', '__proto__', '0', 'key with space']), random.int(0, 99));
    if (random.chance(0.1)) own(record, `new${random.int(0, 500)}`, { id: 1, name: 'n', tags: [] });
    return record;
  }

  /** Plain arrays for long, then one with a named property, in the same place. */
  #odd(): object {
    const random = this.#random;
    const list: unknown[] = [1, 2, 3];
    if (random.chance(0.3)) own(list, random.pick(['named', '-1', '4294967295']), this.#text());
    return { list, at: [list, [random.int(0, 3)]] };
  }
}

function drawOptions(random: Random): CodecOptions {
  if (random.chance(0.5)) return { exactArrays: true };
  return {
    exactArrays: true,
    knownTexts: random.pick([0, 1, 2, 4, 16]),
    knownTextBytes: random.pick([0, 6_000, 50_000, 2 ** 24]),
  };
}

const count = cases(1_500, 25_000);
const MESSAGES = 40;

test(`${count} conversations of ${MESSAGES} messages stay in step whatever happens in between`, () => {
  const tally = { delivered: 0, dropped: 0, noRoom: 0, refused: 0, uncloneable: 0, thrown: 0, discarded: 0 };
  const shared = new Uint8Array(new SharedArrayBuffer(8));
  eachCase(0, count, (random) => {
    const link = new Link(random, drawOptions(random));
    const speaker = new Speaker(random);
    for (let message = 0; message < MESSAGES; message++) {
      const value = speaker.value();
      const event = random.int(0, 11);
      if (event === 0) {
        // A payload that may be dropped, and is: it must have taught nothing.
        if (link.encode(value, { learn: false }) > 0) tally.dropped++;
      } else if (event === 1) {
        const limit = random.chance(0.5) ? random.int(0, 64) : random.skewed(4096);
        const length = link.encode(value, { limit, learn: random.chance(0.5) });
        if (length === NO_ROOM) {
          tally.noRoom++;
        } else {
          assert.equal(difference(value, link.decode()), undefined, 'in little room');
        }
      } else if (event === 2) {
        assert.equal(link.encode({ fresh: value, [`key${message}`]: shared }), REFUSED);
        tally.refused++;
      } else if (event === 3) {
        const { value: bad, path } = hide(random, random.pick(UNCLONEABLES).make());
        const both = { [`key${message}`]: value, bad };
        assert.throws(
          () => link.encode(both, { learn: random.chance(0.5) }),
          (error) => error instanceof DataCloneError && error.path === `$.bad${path.slice(1)}`,
        );
        tally.uncloneable++;
      } else if (event === 4) {
        const stop = new Error('stop');
        const thrower = Object.defineProperty({ value }, `key${message}`, {
          get: () => {
            throw stop;
          },
          enumerable: true,
        });
        assert.throws(
          () => link.encode(thrower),
          (error) => error === stop,
        );
        tally.thrown++;
      } else if (event === 5) {
        // A payload that taught, looked at and taken back.
        if (link.encode(value) > 0) tally.discarded++;
        link.encoder.discard?.();
        if (random.chance(0.3)) link.encoder.discard?.();
      }
      const length = link.encode(value, { learn: random.chance(0.7) });
      assert.ok(length > 0, `encodeInto returned ${length}`);
      assert.equal(difference(value, link.decode()), undefined, `message ${message}`);
      tally.delivered++;
    }
  });
  console.log(JSON.stringify(tally));
});

const lossy = cases(600, 10_000);
test(`${lossy} conversations with lost and damaged payloads deliver the right value or a CodecError, never another`, () => {
  let lost = 0;
  let refusedLater = 0;
  eachCase(0, lossy, (random) => {
    // Even where the two were not given the same bounds.
    const link = new Link(random, drawOptions(random), drawOptions(random));
    const speaker = new Speaker(random);
    for (let message = 0; message < MESSAGES; message++) {
      const value = speaker.value();
      assert.ok(link.encode(value) > 0);
      const event = random.int(0, 9);
      if (event === 0) {
        lost++;
        continue;
      }
      if (event === 1) {
        // Cut short, a payload must fail as a whole, not teach a part.
        const payload = link.payload();
        const cut = payload.subarray(0, random.int(0, payload.length - 1));
        assert.throws(() => link.decodeBytes(cut), CodecError);
        lost++;
        continue;
      }
      let copy: unknown;
      try {
        copy = link.decode();
      } catch (error) {
        assert.ok(error instanceof CodecError, `not a CodecError: ${error}`);
        refusedLater++;
        continue;
      }
      assert.equal(difference(value, copy), undefined, `message ${message}`);
    }
  });
  console.log(`${lost} payloads lost, ${refusedLater} later ones undecodable because of it`);
});

test('whatever room there is, a value fits and arrives or there is no room and nothing is learned', () => {
  eachCase(0, cases(300, 5_000), (random) => {
    const value = randomValue(random, { budget: 60 });
    const learn = random.chance(0.5);
    const needed = new Link(random).encode(value, { learn });
    assert.ok(needed > 0);
    const link = new Link(random);
    for (let limit = needed - 1; limit >= 0; limit -= 1 + random.skewed(needed)) {
      // A narrower form may fit where the first choice does not.
      if (link.encode(value, { limit, learn }) === NO_ROOM) continue;
      assert.equal(difference(value, link.decode()), undefined, `in ${limit} bytes`);
      break;
    }
    assert.equal(difference(value, link.trip(value, { learn })), undefined);
    // Room for what it takes plus the slack of a text whose width is not known yet.
    assert.ok(new Link(random).encode(value, { learn, limit: Math.min(LIMIT, needed * 3 + 64) }) > 0);
  });
});

test('a link that has learned all it may learn goes on', () => {
  const link = new Link(new Random(seed));
  for (let i = 0; i < 20_000; i++) {
    const value = {
      [`a${i}`]: i,
      [`b${i % 100}`]: { [`c${i}`]: [], d: 'text' },
      list: [{ [`e${i}`]: `${i}`.repeat(40) }],
    };
    assert.equal(difference(value, link.trip(value)), undefined);
    if (i % 3 === 0) link.encode({ [`dropped${i}`]: { x: 1 } }, { learn: false });
    if (i % 5 === 0) link.encode({ [`short${i}`]: { y: 1 } }, { limit: 16 });
    if (i % 2 === 0) {
      link.encode({ [`taken${i}`]: { back: 1 } });
      link.encoder.discard?.();
    }
  }
});

test('an array of fifty thousand gaps goes through in linear time', () => {
  // Quadratic work would be minutes: the watchdog of the test run would end it.
  const value: unknown[] = ['first'];
  for (let i = 1; i <= 50_000; i++) value[i * 500] = -i;
  assert.equal(difference(value, new Link(new Random(seed)).trip(value)), undefined);
});

test('a getter that encodes with another encoder hurts neither value', () => {
  const [link, other] = [new Link(new Random(seed)), new Link(new Random(seed))];
  const memory = viewsOf(new ArrayBuffer(4096));
  const inner = { a: [0.5, 1e300], b: 2n ** 70n, at: new Date(5), first: { deep: [{}] } };
  const copies: unknown[] = [];
  const value = {
    first: { a: 0.25, b: new Date(7) },
    get second(): number {
      const length = other.encoder.encodeInto(inner, memory, 0, 4096, true);
      copies.push(other.decoder.decode(memory, 0, length));
      return 0.75;
    },
    third: [new Date(8), 1.5, 2n ** 80n],
  };
  const copy = link.trip(value);
  assert.deepEqual(copy, { first: value.first, second: 0.75, third: value.third });
  assert.ok(copies.length > 0 && copies.every((it) => sameClone(inner, it)));
});

test('a getter that encodes with the same encoder is told so, and hurts neither value', () => {
  const link = new Link(new Random(seed));
  link.trip({ warm: { up: 1 } });
  const elsewhere = viewsOf(new ArrayBuffer(64));
  let told: unknown;
  const value = {
    first: { a: 1, b: [1, 2, { c: 3 }] },
    get second(): string {
      try {
        link.encoder.encodeInto({ inner: { of: 'getter' } }, elsewhere, 0, 64, true);
      } catch (error) {
        told = error;
      }
      return 'two';
    },
    third: { a: 2, b: [] },
  };
  const wanted = { first: { a: 1, b: [1, 2, { c: 3 }] }, second: 'two', third: { a: 2, b: [] } };
  assert.deepEqual(link.trip(value), wanted);
  assert.ok(told instanceof UsageError && told.code === 'ERR_BUSY');
  assert.deepEqual(link.trip(wanted), wanted);
  assert.deepEqual(link.trip({ warm: { up: 2 } }), { warm: { up: 2 } });
});

test('by default named properties travel on match results and on no other array, whatever was sent before', () => {
  const link = new Link(new Random(seed), {});
  const named = (): unknown[] => Object.assign([1, 2], { named: 'n' });
  const matches = [/(?<digit>\d)/.exec('a1'), /b/d.exec('abc'), /x(?<g>y)?/d.exec('wx'), ...'a1b2'.matchAll(/\d/g)];
  for (let round = 0; round < 40; round++) {
    assert.deepEqual(Object.keys(link.trip(named()) as object), ['0', '1']);
    const copy = link.trip({ list: named(), inner: [named(), { list: named() }] });
    assert.equal(difference({ list: [1, 2], inner: [[1, 2], { list: [1, 2] }] }, copy), undefined);
    for (const match of matches) {
      assert.equal(difference(match, link.trip(match)), undefined);
      assert.equal(difference({ list: match, inner: [match] }, link.trip({ list: match, inner: [match] })), undefined);
    }
    // Neither many arrays without names nor some with them teach it another rule.
    for (let i = 0; i < plainArrays(round); i++) link.trip({ list: [i], inner: [[i], { list: [] }] });
  }
  const exact = new Link(new Random(seed), { exactArrays: true });
  for (let i = 0; i < 40; i++) {
    exact.trip({ list: [i] });
    assert.equal(difference({ list: named() }, exact.trip({ list: named() })), undefined);
  }
});

/** A few, then many, then none. */
const plainArrays = (round: number): number => (round % 3 === 0 ? 2 : round % 3 === 1 ? 30 : 0);
