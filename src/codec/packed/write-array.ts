// Writes arrays: of numbers as they lie in memory, others element by element, with their holes and named properties.
import { IndexWalk, isArrayIndex } from '../index-walk.ts';
import * as format from './format.ts';
import type { ShapeNode } from './shapes.ts';
import { NO_ROOM_SIGNAL } from './signals.ts';
import { writeText } from './write-text.ts';
import type { PackedWriter } from './writer.ts';

// Copies: see format.ts.
const {
  ARGUMENT_MAX,
  EXTRA_ARRAY_PAIRS,
  TAG_ARRAY,
  TAG_BITS,
  TAG_DOUBLE_ARRAY,
  TAG_EXTRA,
  TAG_HOLES,
  TAG_INT32_ARRAY,
} = format;

export function writeArray(writer: PackedWriter, value: unknown[], at: number, place: ShapeNode): number {
  // Looking at all of its keys costs an array up to 65 ns an element, asking for two of them a nanosecond. What `exec` and
  // `match` return has an `index`, and its `indices` have `groups`. What was sent before must not matter (G7).
  if (writer.exactArrays || 'index' in value || 'groups' in value) {
    const keys = Object.keys(value);
    if (keys.length > 0 && !isArrayIndex(keys[keys.length - 1]!)) {
      if (at >= writer.end) throw NO_ROOM_SIGNAL;
      writer.words[at] = (EXTRA_ARRAY_PAIRS << TAG_BITS) | TAG_EXTRA;
      const next = writeElements(writer, value, at + 1, place);
      const names = Object.keys(value).filter((key) => !isArrayIndex(key));
      return writer.entries(value, names, next, place);
    }
  }
  return writeElements(writer, value, at, place);
}

/** The elements, without named properties. */
export function writeElements(writer: PackedWriter, value: unknown[], at: number, place: ShapeNode): number {
  // Of a Proxy it may be anything, and the reader is told an array's.
  const length = value.length >>> 0;
  if (length > 0 && typeof value[0] === 'number') {
    const next = writeNumbers(writer, value, at, length);
    if (next >= 0) return next;
  }
  if (at + 2 > writer.end) throw NO_ROOM_SIGNAL;
  const words = writer.words;
  let next = at + 1;
  if (length < ARGUMENT_MAX) {
    words[at] = (length << TAG_BITS) | TAG_ARRAY;
  } else {
    words[at] = (ARGUMENT_MAX << TAG_BITS) | TAG_ARRAY;
    words[next++] = length | 0;
  }
  const depth = writer.depth;
  let walk: IndexWalk | null = null;
  for (let i = 0; i < length; i++) {
    const element = value[i];
    if (typeof element === 'string') {
      next = writeText(writer, element, next);
    } else if (element === undefined && !Object.hasOwn(value, i)) {
      walk ??= new IndexWalk(value);
      const run = Math.min(writer.holes(walk, i, length), ARGUMENT_MAX);
      if (next >= writer.end) throw NO_ROOM_SIGNAL;
      words[next++] = (run << TAG_BITS) | TAG_HOLES;
      i += run - 1;
    } else {
      writer.path[depth] = i;
      next = writer.value(element, next, place);
    }
  }
  return next;
}

/** An array of nothing but numbers, or -1. */
function writeNumbers(writer: PackedWriter, value: unknown[], at: number, length: number): number {
  if (length >= ARGUMENT_MAX) return -1;
  if (at + 1 + length > writer.end) return -1;
  const words = writer.words;
  const next = at + 1;
  let i = 0;
  for (; i < length; i++) {
    const element = value[i];
    if (typeof element !== 'number') return -1;
    const integer = element | 0;
    if (integer !== element || (integer === 0 && 1 / element < 0)) break;
    words[next + i] = integer;
  }
  if (i === length) {
    words[at] = (length << TAG_BITS) | TAG_INT32_ARRAY;
    return next + length;
  }
  return writer.doubles(value, at, length);
}

/** An array of nothing but numbers, or -1. */
export function writeDoubles(writer: PackedWriter, value: readonly unknown[], at: number, length: number): number {
  const { words } = writer;
  const { floats } = writer.memory;
  const next = (at + 2) >>> 1;
  if ((next + length) * 2 > writer.end) return -1;
  if (next * 2 > at + 1) words[at + 1] = 0;
  for (let i = 0; i < length; i++) {
    const element = value[i];
    if (typeof element !== 'number') return -1;
    floats[next + i] = element;
  }
  words[at] = (length << TAG_BITS) | TAG_DOUBLE_ARRAY;
  return (next + length) * 2;
}
