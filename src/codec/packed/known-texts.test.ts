import assert from 'node:assert/strict';
import { test } from 'node:test';
import { viewsOf } from '../../memory/region.ts';
import { type CodecOptions, type Memory, NO_ROOM } from '../codec.ts';
import { PackedDecoder, PackedEncoder } from '../packed.ts';
import { KnownTexts, TaughtTexts } from './known-texts.ts';

const buffer = new SharedArrayBuffer(8 << 20);
const memory: Memory = viewsOf(buffer);

class Direction {
  readonly encoder: PackedEncoder;
  readonly decoder: PackedDecoder;
  length = 0;
  constructor(options?: CodecOptions) {
    this.encoder = new PackedEncoder(options);
    this.decoder = new PackedDecoder(options);
  }
  write(value: unknown, learn = true): number {
    this.length = this.encoder.encodeInto(value, memory, 0, buffer.byteLength, learn);
    assert.ok(this.length > 0);
    return this.length;
  }
  read(): unknown {
    return this.decoder.decode(memory, 0, this.length);
  }
  /** Bytes that the value took. */
  carry(value: unknown, learn = true): number {
    const length = this.write(value, learn);
    assert.deepEqual(this.read(), value);
    return length;
  }
}

/** Every call makes a new string of the same characters. */
function text(seed: number, length = 5000): string {
  return `${seed}:`.repeat(length).slice(0, length);
}

test('a large text that repeats travels as a number from the third time on', () => {
  const direction = new Direction();
  const large = text(1, 100_000);
  assert.ok(direction.carry(large) > 100_000);
  assert.ok(direction.carry(large) > 100_000);
  assert.equal(direction.carry(large), 8);
  assert.equal(direction.carry(text(1, 100_000)), 8, 'equal characters elsewhere are the same text');
  assert.equal(direction.carry({ a: [large, large] }, false), direction.length);
  assert.ok(direction.length < 60);
});

test('a text that repeats inside one value travels twice', () => {
  const direction = new Direction();
  const large = text(2);
  assert.ok(direction.carry([large, large, large, { large }]) < 2 * large.length + 100);
  assert.ok(direction.carry([large, large]) < 100);
});

test('texts of equal length and alike are not mistaken for one another', () => {
  const direction = new Direction();
  const a = text(3);
  const b = `${a.slice(0, 2501)}x${a.slice(2502)}`;
  for (let i = 0; i < 5; i++) {
    direction.carry(a);
    direction.carry(b);
    direction.carry([a, b, a]);
  }
  assert.ok(direction.length < 40);
  for (let i = 0; i < 20; i++) direction.carry(`${a.slice(0, 2501)}${i % 10}${a.slice(2502)}`);
});

test('wide texts and texts with lone surrogates are remembered too', () => {
  const direction = new Direction();
  for (const unit of ['λ', '\ud800', '漢字']) {
    const large = unit.repeat(5000);
    for (let i = 0; i < 3; i++) direction.carry({ large });
    assert.ok(direction.length < 40);
  }
});

test('the count of texts is bounded, the one unused for longest goes first', () => {
  const direction = new Direction({ knownTexts: 2 });
  for (const seed of [4, 5, 4, 5]) direction.carry(text(seed));
  assert.equal(direction.carry(text(4)), 8);
  direction.carry(text(6));
  direction.carry(text(6)); // teaches 6, forgets 5
  assert.equal(direction.carry(text(6)), 8);
  assert.equal(direction.carry(text(4)), 8);
  assert.ok(direction.carry(text(5)) > 5000);
});

test('the bytes of texts are bounded', () => {
  const direction = new Direction({ knownTextBytes: 12_000 });
  for (const seed of [7, 8, 9]) for (let i = 0; i < 3; i++) direction.carry(text(seed));
  assert.equal(direction.carry(text(9)), 8);
  assert.equal(direction.carry(text(8)), 8);
  assert.ok(direction.carry(text(7)) > 5000);
  for (let i = 0; i < 4; i++) assert.ok(direction.carry(text(10, 20_000)) > 20_000);
  for (let i = 0; i < 4; i++) direction.carry('λ'.repeat(7000));
  assert.ok(direction.length > 14_000);
});

test('nothing is remembered when the option says so', () => {
  const direction = new Direction({ knownTexts: 0 });
  for (let i = 0; i < 5; i++) assert.ok(direction.carry(text(11)) > 5000);
});

test('payloads that do not teach and are dropped leave both sides in step', () => {
  const direction = new Direction();
  for (let i = 0; i < 5; i++) direction.write({ large: text(12) }, false);
  direction.carry(text(12));
  for (let i = 0; i < 3; i++) direction.carry(text(13));
  for (let i = 0; i < 5; i++) direction.write([text(12), text(13), text(14)], false);
  direction.carry([text(12), text(13), text(14)]);
});

test('failed encodings teach nothing', () => {
  const direction = new Direction({ knownTexts: 2 });
  for (const seed of [15, 16]) for (let i = 0; i < 3; i++) direction.carry(text(seed));
  for (let i = 0; i < 3; i++) {
    assert.equal(direction.encoder.encodeInto([text(17), text(17), text(15)], memory, 0, 10_100, true), NO_ROOM);
    const bad = [text(18), text(18), text(18), (): void => {}];
    assert.throws(() => direction.encoder.encodeInto(bad, memory, 0, buffer.byteLength, true), { path: '$[3]' });
  }
  assert.equal(direction.carry(text(15)), 8);
  assert.equal(direction.carry(text(16)), 8);
  for (let i = 0; i < 3; i++) direction.carry([text(17), text(18)]);
  assert.ok(direction.length < 40);
});

test('a discarded payload teaches nothing', () => {
  const direction = new Direction({ knownTexts: 2 });
  for (const seed of [22, 23]) for (let i = 0; i < 3; i++) direction.carry(text(seed));
  for (let i = 0; i < 5; i++) {
    direction.write({ discarded: [text(24), text(24), text(25), text(25)] });
    direction.encoder.discard();
    direction.encoder.discard();
  }
  assert.equal(direction.carry(text(22)), 8);
  assert.equal(direction.carry(text(23)), 8);
  assert.ok(direction.carry(text(24)) > 5000);
  for (let i = 0; i < 3; i++) direction.carry({ discarded: [text(24), text(25)] });
  assert.ok(direction.length < 40);
  direction.encoder.discard();
  direction.carry({ discarded: [text(24), text(25)] });
});

test('a number that the decoder does not know is an error, never another text', () => {
  const direction = new Direction();
  for (let i = 0; i < 3; i++) direction.carry(text(19));
  direction.carry(text(20));
  direction.write(text(20)); // would teach, but never arrives
  direction.write(text(20));
  assert.throws(() => direction.read(), { code: 'ERR_DECODE', message: /text 1 is not known/ });
  assert.equal(direction.carry(text(19)), 8);
  for (let i = 0; i < 3; i++) direction.carry(text(21));
  direction.write(text(20));
  assert.throws(() => direction.read(), { code: 'ERR_DECODE' });
});

test('a decoder keeps its bounds whatever the peer teaches', () => {
  const encoder = new PackedEncoder({ knownTexts: 100 });
  const decoder = new PackedDecoder({ knownTexts: 3 });
  const carry = (value: unknown): unknown =>
    decoder.decode(memory, 0, encoder.encodeInto(value, memory, 0, buffer.byteLength, true));
  for (let seed = 100; seed < 110; seed++) for (let i = 0; i < 2; i++) assert.equal(carry(text(seed)), text(seed));
  assert.equal(carry(text(109)), text(109));
  assert.throws(() => carry(text(100)), { code: 'ERR_DECODE' });
});

test('what a failed payload taught and drove out is as before, its bytes too', () => {
  const taught = new TaughtTexts(10, 100);
  taught.remember(1, 'a', 60);
  taught.finish(true);
  taught.remember(2, 'b', 90);
  taught.trim();
  assert.deepEqual([taught.get(1), taught.get(2)], [undefined, 'b']);
  taught.finish(false);
  taught.remember(3, 'c', 40);
  taught.trim();
  taught.finish(true);
  assert.deepEqual([taught.get(1), taught.get(2), taught.get(3)], ['a', undefined, 'c']);
});

test('an encoder that forgets has all of its room again, and no number twice', () => {
  const known = new KnownTexts(10, 100);
  const first = known.nextNumber;
  assert.deepEqual(known.teach('x', 60), []);
  known.finish(true);
  known.forget();
  assert.equal(known.nextNumber, first + 1);
  assert.deepEqual(known.teach('y', 60), []);
  known.finish(true);
});

test('a decoder counts two bytes for a character of a wide text', () => {
  const encoder = new PackedEncoder({ knownTexts: 16 });
  const decoder = new PackedDecoder({ knownTextBytes: 20_000 });
  const carry = (value: unknown): unknown =>
    decoder.decode(memory, 0, encoder.encodeInto(value, memory, 0, buffer.byteLength, true));
  const wide = ['λ', '漢', '字'].map((letter) => letter.repeat(5000));
  for (const each of wide) for (let i = 0; i < 2; i++) assert.equal(carry(each), each);
  assert.equal(carry(wide[1]), wide[1]);
  assert.equal(carry(wide[2]), wide[2]);
  assert.throws(() => carry(wide[0]), { code: 'ERR_DECODE' });
});
