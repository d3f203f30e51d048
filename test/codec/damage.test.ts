// Damage between good messages. A payload that fails hurts only itself and those already on their way that need what it
// taught: every later message is equal or an error, never another value, and once the encoder was told, all are equal.
// asked for: node-22, node-24, node-26
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CodecOptions } from '../../src/codec/codec.ts';
import { CodecError } from '../../src/errors.ts';
import { KNOWN_TEXT_MIN, SHAPE_NODES_MAX } from '../../src/limits.ts';
import { cases, eachCase, Random, seed } from '../kit/prng.ts';
import { difference } from '../kit/same-clone.ts';
import { randomValue } from '../kit/values.ts';
import { Link } from './link.ts';
import { mutate } from './mutate.ts';

type Way = 'bits' | 'words' | 'cut' | 'lost';
const WAYS: readonly Way[] = ['bits', 'words', 'cut', 'lost'];

function spoil(random: Random, payload: Uint8Array, other: Uint8Array): Uint8Array {
  const way = random.pick(WAYS);
  if (way === 'words') return mutate(random, payload, other);
  if (way === 'cut') return payload.slice(0, random.int(0, payload.length - 1));
  const spoilt = payload.slice();
  for (let i = random.int(1, 3); i > 0; i--) spoilt[random.int(0, spoilt.length - 1)]! ^= 1 << random.int(0, 7);
  return spoilt;
}

/** Objects of many kinds, so that the encoder's tree fills and begins anew, among texts and what was sent before. */
class Talk {
  readonly #random: Random;
  readonly #texts: readonly string[];
  #kinds = 0;

  constructor(random: Random) {
    this.#random = random;
    this.#texts = Array.from({ length: 4 }, (_, i) => `${i}${random.pick(['x', '語'])}`.repeat(KNOWN_TEXT_MIN));
  }

  message(): unknown {
    const random = this.#random;
    const which = random.int(0, 9);
    if (which === 0) return randomValue(random, { budget: 30 });
    if (which === 1) return random.pick(this.#texts);
    if (which === 2) return { text: random.pick(this.#texts), more: [random.pick(this.#texts)] };
    if (which === 3) return this.#fill();
    if (which < 6) return { id: `x${random.int(0, 9)}`, next: null };
    return { [`a${random.int(0, 40)}`]: random.int(0, 9), [`b${random.int(0, 40)}`]: { c: [random.int(0, 9)] } };
  }

  /** Brings the encoder near the end of its tree, or over it. */
  #fill(): unknown {
    const random = this.#random;
    if (random.chance(0.6)) return null;
    return Array.from({ length: random.int(1, SHAPE_NODES_MAX >> 3) }, () => {
      const i = this.#kinds++;
      return { [`f${i % 60}`]: { [`g${((i / 60) | 0) % 60}`]: { [`h${(i / 3600) | 0}`]: null } } };
    });
  }
}

const OPTIONS: readonly CodecOptions[] = [
  { exactArrays: true },
  { exactArrays: true, knownTexts: 2, knownTextBytes: 3 * 2 * KNOWN_TEXT_MIN },
  { exactArrays: true, knownTexts: 0 },
];

const count = cases(200, 12_000);
const MESSAGES = 60;
test(`${count} conversations with damage between: later messages are equal or errors, and equal once it was told`, () => {
  const tally = { failed: 0, later: 0, equal: 0, told: 0 };
  eachCase(0, count, (random) => {
    const link = new Link(random, random.pick(OPTIONS));
    const talk = new Talk(random);
    let other: Uint8Array = new Uint8Array(64);
    /** Messages encoded since the failure that the encoder has not heard of yet; -1 when there is none. */
    let unheard = -1;
    for (let i = 0; i < MESSAGES; i++) {
      if (unheard >= 0 && (random.chance(0.15) || unheard > 12)) {
        link.encoder.forget?.();
        unheard = -1;
        tally.told++;
      }
      const value = talk.message();
      const learn = random.chance(0.85);
      assert.ok(link.encode(value, { learn }) > 0);
      const payload = link.payload();
      if (random.chance(0.05)) {
        link.encoder.discard?.();
        if (learn) continue;
      }
      if (random.chance(0.15)) {
        const spoilt = spoil(random, payload, other);
        other = payload;
        try {
          link.decodeBytes(spoilt);
          // Damage that no check can see may teach anything: begin anew.
          return;
        } catch (error) {
          assert.ok(error instanceof CodecError, String(error));
          tally.failed++;
          unheard = 0;
          continue;
        }
      }
      let copy: unknown;
      try {
        copy = link.decodeBytes(payload);
      } catch (error) {
        assert.ok(error instanceof CodecError, String(error));
        assert.ok(unheard >= 0, `message ${i} failed, though nothing was lost since the encoder forgot: ${error}`);
        tally.later++;
        unheard++;
        continue;
      }
      assert.equal(difference(value, copy), undefined, `message ${i}`);
      tally.equal++;
    }
  });
  console.log(JSON.stringify(tally));
  // A handful of them need not show all of it.
  if (count >= 100) assert.ok(tally.failed > 0 && tally.later > 0 && tally.told > 0, 'all of it happened');
});

const lossy = cases(100, 8_000);
test(`${lossy} conversations with lost payloads: numbers mean what they meant, or nothing`, () => {
  let later = 0;
  eachCase(0, lossy, (random) => {
    const link = new Link(random, random.pick(OPTIONS));
    const talk = new Talk(random);
    for (let i = 0; i < MESSAGES; i++) {
      const value = talk.message();
      assert.ok(link.encode(value) > 0);
      if (random.chance(0.1)) continue;
      if (random.chance(0.03)) link.encoder.forget?.();
      try {
        assert.equal(difference(value, link.decode()), undefined, `message ${i}`);
      } catch (error) {
        if (!(error instanceof CodecError)) throw error;
        later++;
      }
    }
  });
  assert.ok(later > 0);
});

/** Fills the tree to the last node, so that the next payload with new keys makes the decoder forget. */
function fill(link: Link): void {
  for (let i = 0; i < 200; i++) {
    const value = Array.from({ length: 50 }, (_, k) => ({ [`p${i % 60}`]: { [`q${i}`]: { [`r${k}`]: 0 } } }));
    link.trip(value);
  }
}

test("the issue's own: a payload that makes the decoder forget fails, and no later one becomes another value", () => {
  const link = new Link(new Random(seed));
  link.trip({ user: 'u', role: null });
  let reset = 0;
  // The payload with which the encoder begins anew is one of these; each fails, one at a time.
  for (let i = 0; i < 9000; i++) {
    link.encode([{ id: 'x', next: null }, { [`p${i % 60}`]: { [`q${((i / 60) | 0) % 60}`]: { [`r${i}`]: 0 } } }]);
    const payload = link.payload();
    if ((new DataView(payload.buffer).getInt32(0, true) & (1 << 11)) === 0) {
      link.decodeBytes(payload);
      continue;
    }
    reset++;
    assert.throws(() => link.decodeBytes(payload.subarray(0, payload.length - 4)), CodecError);
    for (let k = 0; k < 20; k++) {
      const value = { id: `x${k}`, next: null };
      link.encode(value);
      try {
        assert.deepEqual(link.decode(), value);
      } catch (error) {
        if (!(error instanceof CodecError)) throw error;
      }
    }
    break;
  }
  assert.equal(reset, 1);
});

test('one failed payload leaves nothing unknown for ever', () => {
  const link = new Link(new Random(seed));
  const text = 't'.repeat(2 * KNOWN_TEXT_MIN);
  link.trip({ before: 1 });
  link.trip([text]);
  link.encode([{ id: 1, next: null }, text]);
  const payload = link.payload();
  assert.throws(() => link.decodeBytes(payload.subarray(0, 40)), CodecError);
  // On its way already: lost where it needs what was lost, else not.
  link.encode({ id: 2, next: null });
  assert.throws(() => link.decode(), CodecError);
  link.encode(text);
  assert.throws(() => link.decode(), CodecError);
  assert.deepEqual(link.trip({ before: 2 }), { before: 2 });
  link.encoder.forget?.();
  for (const value of [
    { id: 3, next: null },
    text,
    text,
    { before: 3, text },
    { id: 4, next: { id: 5, next: null } },
  ]) {
    assert.equal(difference(value, link.trip(value)), undefined);
  }
  // Nobody asked twice for the same: keys and text travel as numbers again.
  assert.equal(link.encode(text), 8);
});

test('an answer that fails, is dropped or taken back can be asked for again', () => {
  for (const [failing, options] of [
    ['cut', { learn: true }],
    ['dropped', { learn: false }],
    ['discarded', { learn: true }],
  ] as const) {
    const link = new Link(new Random(seed));
    link.trip({ id: 1 });
    fill(link);
    link.encoder.forget?.();
    link.encode({ id: 2, more: [1] }, options);
    if (failing === 'cut') {
      const payload = link.payload();
      assert.throws(() => link.decodeBytes(payload.subarray(0, 8)), CodecError);
      link.encoder.forget?.();
    } else if (failing === 'discarded') link.encoder.discard?.();
    for (let i = 0; i < 3; i++) {
      assert.deepEqual(link.trip({ id: 3, more: [2] }, { learn: i !== 0 }), { id: 3, more: [2] }, failing);
    }
    assert.ok(link.encode({ id: 4, more: [3] }) <= 24, failing);
  }
});

test('a text that was read in a payload that failed is not remembered', () => {
  const link = new Link(new Random(seed));
  const text = 's'.repeat(KNOWN_TEXT_MIN);
  link.trip(text);
  link.encode([text, 1]);
  const payload = link.payload();
  // One character of the text, and the number behind it: the text is read before the damage is met.
  payload[100] = 0x41;
  new DataView(payload.buffer).setInt32(payload.length - 4, -1, true);
  assert.throws(() => link.decodeBytes(payload), CodecError);
  link.encode(text);
  assert.throws(() => link.decode(), CodecError);
});
