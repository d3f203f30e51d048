// Reads arrays. The counterpart of write-array.ts.
import * as format from './format.ts';
import type { PackedReader } from './reader.ts';

// Copies: see format.ts.
const { ARGUMENT_MAX, TAG_BITS, TAG_HOLES, TAG_MASK } = format;

// Whoever calls these has entered the array's level of depth.

export function readArray(reader: PackedReader, argument: number): unknown[] {
  const length = argument === ARGUMENT_MAX ? reader.word() >>> 0 : argument;
  let array: unknown[];
  if (length <= reader.elements) {
    reader.elements -= length;
    array = new Array(length);
  } else {
    array = sparseArray(length);
  }
  reader.keep(reader.number(), array);
  for (let i = 0; i < length; i++) {
    const word = reader.at < reader.end ? reader.words[reader.at]! : 0;
    if ((word & TAG_MASK) === TAG_HOLES) {
      reader.at++;
      const run = word >>> TAG_BITS;
      if (run === 0 || run > length - i) reader.damaged('holes reach past the end of an array');
      i += run - 1;
    } else {
      array[i] = reader.value();
    }
  }
  return array;
}

export function readIntegers(reader: PackedReader, length: number): number[] {
  const at = reader.at;
  if (length > reader.end - at) reader.damaged('an array is longer than the payload');
  const array = new Array<number>(length);
  const { words } = reader;
  for (let i = 0; i < length; i++) array[i] = words[at + i]!;
  reader.at = at + length;
  reader.keep(reader.number(), array);
  return array;
}

export function readDoubles(reader: PackedReader, length: number): number[] {
  const start = (reader.at + 1) >>> 1;
  if ((start + length) * 2 > reader.end) reader.damaged('an array is longer than the payload');
  const array = new Array<number>(length);
  const { floats } = reader.memory;
  for (let i = 0; i < length; i++) array[i] = floats[start + i]!;
  reader.at = (start + length) * 2;
  reader.keep(reader.number(), array);
  return array;
}

/**
 * An array of holes that takes no memory for them. Every element takes a word at least, so an array for which too little
 * is left is mostly holes, and setting memory aside for those would let a word of payload claim a quarter of a gigabyte.
 * The engines keep elements in a table, not in a row, once the last possible one was an accessor.
 */
function sparseArray(length: number): unknown[] {
  const array: unknown[] = [];
  Object.defineProperty(array, 0xffff_fffe, { get: noElement, configurable: true });
  if (length > 0xffff_fffe) delete array[0xffff_fffe];
  array.length = length;
  return array;
}
function noElement(): undefined {}
