// Properties that a program puts on a value under the names of the built-in ones. Structured clone never asks for those:
// it knows how long a view is. So what they say must not matter, to the copy or to the memory that it is written to.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Random } from '../kit/prng.ts';
import { Link } from './link.ts';

const LIES: readonly unknown[] = [-400, -4, 0, 1, 2, 100, 2 ** 31, Number.NaN, 1.5, null, 'text', true];

function lying<T extends object>(value: T, names: readonly string[], lie: unknown): T {
  for (const name of names) Object.defineProperty(value, name, { value: lie, configurable: true });
  return value;
}

const bytesOf = (view: ArrayBufferView): number[] => {
  const { buffer, byteOffset, byteLength } = view;
  return [...new Uint8Array(buffer, byteOffset, byteLength)];
};

test('a view is what it is, whatever its own properties say', () => {
  const link = new Link(new Random(1));
  const names = ['byteLength', 'byteOffset', 'length', 'buffer', 'BYTES_PER_ELEMENT'];
  for (const make of [
    () => new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8]),
    () => new Uint8Array([9, 1, 2, 3, 4, 5, 6, 7, 8]).subarray(1),
    () => new Float64Array([1, 2, 3]).subarray(1),
    () => new DataView(new Uint8Array([1, 2, 3, 4]).buffer, 1),
  ]) {
    const honest = link.trip(make()) as ArrayBufferView;
    for (const lie of [...LIES, new ArrayBuffer(16)]) {
      for (const hidden of [...names.map((name) => [name]), names]) {
        const copy = link.trip(lying(make(), hidden, lie)) as ArrayBufferView;
        const about = `${hidden.join()}: ${String(lie)}`;
        assert.equal(copy.constructor, honest.constructor, about);
        assert.deepEqual(bytesOf(copy), bytesOf(honest), about);
      }
    }
  }
});

test('an ArrayBuffer is what it is, and so is a view of it', () => {
  const link = new Link(new Random(2));
  const names = ['byteLength', 'maxByteLength', 'resizable', 'detached'];
  const resizable = { maxByteLength: 16 } as object;
  for (const make of [() => new ArrayBuffer(8), () => new ArrayBuffer(8, resizable)]) {
    const honest = make() as ArrayBuffer & { readonly maxByteLength: number };
    for (const lie of LIES) {
      for (const hidden of [...names.map((name) => [name]), names]) {
        const about = `${hidden.join()}: ${String(lie)}`;
        const copy = link.trip(lying(make(), hidden, lie)) as typeof honest;
        assert.equal(copy.byteLength, 8, about);
        assert.equal(copy.maxByteLength, honest.maxByteLength, about);
        const view = link.trip(new Uint8Array(lying(make(), hidden, lie), 2, 4)) as Uint8Array;
        assert.deepEqual([view.byteOffset, view.byteLength, view.buffer.byteLength], [2, 4, 8], about);
      }
    }
  }
});

test('a RegExp keeps its own flags', () => {
  const link = new Link(new Random(3));
  for (const name of ['flags', 'source', 'global', 'unicode', 'unicodeSets', 'sticky', 'hasIndices']) {
    const copy = link.trip(lying(/x/iu, [name], true)) as RegExp;
    assert.equal(String(copy), '/x/iu', name);
  }
});
