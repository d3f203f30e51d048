// A value goes into exactly the room that it takes: with four bytes less there is none, and nothing behind the room was
// touched. (A value that ends with an empty array or -0 asks for a word or two more: not among these.)
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KNOWN_TEXT_MIN } from '../../limits.ts';
import { viewsOf } from '../../memory/region.ts';
import { NO_ROOM } from '../codec.ts';
import { PackedEncoder } from '../packed.ts';

const memory = viewsOf(new SharedArrayBuffer(1 << 17));
const OFFSET = 64;
const BEHIND = 32;
const MARK = 0xaa;
/** Rooms tried below the right one, of a long value: the least and the greatest. */
const ROOMS = 64;

const shared = { a: 1 };
class Thing {
  inside = [1, 'x'];
}
/** As many characters as make a text of full words. */
const long = (of: string): string => of.repeat(256);

const VALUES: Record<string, () => unknown> = {
  'a small integer': () => 5,
  'an integer': () => 2 ** 30,
  'a double': () => 0.5,
  true: () => true,
  undefined: () => undefined,
  null: () => null,
  'a bigint': () => 2n ** 70n,
  'no text': () => '',
  'a text': () => 'four',
  'a text that is no full word': () => 'fives',
  'a wide text': () => 'žluťoučký',
  'a long text': () => long('abcd'),
  'a long text that is no full word': () => `${long('abcd')}e`,
  'a long text with é': () => long('é___'),
  'a long wide text': () => long('日本'),
  'a text that is remembered': () => 'r'.repeat(KNOWN_TEXT_MIN),
  'an object': () => ({}),
  'objects in objects': () => ({ a: { b: {} }, c: [] }),
  'an object met before': () => [shared, shared],
  'an object that holds itself': () => {
    const it: Record<string, unknown> = { last: 0 };
    it['last'] = it;
    return it;
  },
  'an array': () => [1, 'two', null, [3]],
  'an array of doubles': () => [0.5, 1.5, 2.5],
  'an array with holes': () => Object.assign(new Array(3), { 0: 1, 2: 3 }),
  'an instance': () => new Thing(),
  'a Map': () =>
    new Map<unknown, unknown>([
      [{}, 'of an object'],
      ['two', 2],
    ]),
  'a Set': () => new Set([1, {}]),
  'a Date': () => new Date(5),
  'a RegExp': () => /a+/g,
  'an Error': () => new RangeError('range'),
  'an ArrayBuffer': () => new ArrayBuffer(12),
  'a Uint8Array': () => new Uint8Array([1, 2, 3]),
  'a view of a part': () => new Uint16Array(new ArrayBuffer(16), 2, 3),
};

for (const [name, make] of Object.entries(VALUES)) {
  test(`${name} takes its room and no more`, () => {
    const value = make();
    const encode = (room: number): number => new PackedEncoder().encodeInto(value, memory, OFFSET, room, true);
    const length = encode(memory.bytes.length - OFFSET);
    assert.ok(length > 0);
    assert.equal(encode(length), length, 'in exactly that room');
    for (let room = 0; room < length; room += 4) {
      if (room === ROOMS && length > 2 * ROOMS) room = length - ROOMS;
      memory.bytes.fill(MARK, OFFSET + room, OFFSET + room + BEHIND);
      assert.equal(encode(room), NO_ROOM, `${room} of ${length} bytes`);
      for (let i = 0; i < BEHIND; i++) assert.equal(memory.bytes[OFFSET + room + i], MARK, `${room} + ${i}`);
    }
  });
}
