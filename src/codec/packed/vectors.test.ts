// The vectors of docs/protocol/packed.md are what our encoder writes and what our decoder reads.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { viewsOf } from '../../memory/region.ts';
import type { Memory } from '../codec.ts';
import { PackedDecoder, PackedEncoder } from '../packed.ts';
import * as format from './format.ts';

const document = readFileSync(new URL('../../../../docs/protocol/packed.md', import.meta.url), 'utf8');

const buffer = new ArrayBuffer(4096);
const memory: Memory = viewsOf(buffer);

/** What the vectors write as code; looked up by name so that nothing is evaluated. */
const shared = { x: 1 };
const bytes = new Uint8Array([1, 2, 3]);
const failure = new RangeError('far');
failure.stack = 'at';
const cycle: unknown[] = [];
cycle.push(cycle);
// biome-ignore lint/suspicious/noSparseArray: holes are part of the format
const holes = [1, , 'x'];
const VALUES: Record<string, unknown> = {
  null: null,
  'undefined, true, false, -0 in an array': [undefined, true, false, -0],
  '-5': -5,
  '2 ** 28': 268435456,
  '0.5': 0.5,
  '2n ** 40n': 2n ** 40n,
  "''": '',
  "'hello'": 'hello',
  "'λ'": 'λ',
  "'\\ud800x'": '\ud800x',
  '{}': {},
  "{ id: 7, name: 'ann' }": { id: 7, name: 'ann' },
  '[1, 2, -3]': [1, 2, -3],
  '[0.5, 1]': [0.5, 1],
  "[1, , 'x']": holes,
  'Object.assign([1], { a: 2 })': Object.assign([1], { a: 2 }),
  '{ 1: 2 }': { 1: 2 },
  'a = [a]': cycle,
  '[s, s] with s = { x: 1 }': [shared, shared],
  'new Date(1)': new Date(1),
  "new Map([['a', 1]])": new Map([['a', 1]]),
  'new Set([1])': new Set([1]),
  '/a/g': /a/g,
  'new Uint8Array([1, 2, 3])': bytes,
  'new Uint8Array([1, 2, 3]).subarray(1)': bytes.subarray(1),
  "new RangeError('far') with the stack 'at'": failure,
  'Object(true)': Object(true),
};

function hex(length: number): string {
  return memory.bytes.subarray(0, length).reduce((text, byte) => text + byte.toString(16).padStart(2, '0'), '');
}

function vectors(): string[] {
  const lines = Object.entries(VALUES).map(([name, value]) => {
    memory.bytes.fill(0);
    return `    ${name}\n        ${hex(new PackedEncoder({ exactArrays: true }).encodeInto(value, memory, 0, 4096, true)).replace(/.{8}(?=.)/g, '$& ')}`;
  });
  return lines;
}

const rows = [...document.matchAll(/^ {4}(\S.*)\n {8}((?:[0-9a-f]{8} ?)+)$/gm)];

test('the document has a vector for every sample', () => {
  assert.deepEqual(
    rows.map(([, name]) => name),
    Object.keys(VALUES),
    `should be:\n${vectors().join('\n')}`,
  );
});

for (const [, name, text] of rows) {
  test(`vector ${name} is what the encoder writes and the decoder reads`, () => {
    const value = VALUES[name!];
    memory.bytes.fill(0);
    const expected = text!.replaceAll(' ', '');
    assert.equal(hex(new PackedEncoder({ exactArrays: true }).encodeInto(value, memory, 0, 4096, true)), expected);
    const words = expected.match(/../g)!.map((byte) => Number.parseInt(byte, 16));
    memory.bytes.fill(0xee);
    memory.bytes.set(words, 8);
    const copy = new PackedDecoder().decode(memory, 8, words.length);
    if (value === cycle) assert.equal((copy as unknown[])[0], copy);
    else assert.deepEqual(copy, value);
  });
}

test('what repeats in a direction travels as the document says', () => {
  const encoder = new PackedEncoder({ exactArrays: true });
  const write = (value: unknown): string => hex(encoder.encodeInto(value, memory, 0, 4096, true));
  memory.bytes.fill(0);
  write({ id: 7, name: 'ann' });
  assert.equal(write({ id: 8, name: 'bob' }), '01000000140000008000000032000000626f6200');
});

test('the tables of the document list the numbers of the code', () => {
  const names = (title: string): string[] =>
    new RegExp(`^Classes of ${title}: ([^.]+)\\.`, 'm')
      .exec(document)![1]!
      .split(/,\s+/)
      .map((item) => item.trim());
  assert.deepEqual(
    names('views'),
    format.VIEW_NAMES.map((name, i) => `${i} ${name}`),
  );
  assert.deepEqual(
    names('errors'),
    format.ERROR_NAMES.map((name, i) => `${i} ${name}`),
  );
  const section = (title: string): string => document.split(`\n## ${title}\n`)[1]!.split('\n## ')[0]!;
  const numbers = (text: string): number[] => [...text.matchAll(/^\| (\d+) \|/gm)].map(([, number]) => Number(number));
  const count = (prefix: RegExp): number => Object.keys(format).filter((name) => prefix.test(name)).length;
  const upTo = (length: number): number[] => Array.from({ length }, (_, i) => i);
  assert.deepEqual(numbers(section('Values')), upTo(count(/^TAG_(?!BITS|MASK)/)));
  assert.deepEqual(numbers(section('Extra values')), upTo(count(/^EXTRA_(?!BITS|MASK)/)));
});
