// Writes objects that are neither plain nor arrays. Called by PackedWriter with the object already numbered.
import { platformForms, platformMemory } from '#platform';
import { RESIZABLE_BYTES_MAX } from '../../limits.ts';
import { isSharedMemory } from '../../memory/region.ts';
import {
  BOXED,
  BUFFER,
  DATE,
  ERROR,
  HOST,
  kindOfRootless,
  MAP,
  REGEXP,
  SET,
  UNCLONEABLE,
  whatIs,
} from '../classify.ts';
import {
  bufferOfView,
  flagsOf,
  isDetached,
  isResizable,
  lengthOfBuffer,
  lengthOfView,
  maxOfBuffer,
  nameOfView,
  offsetOfView,
  sourceOf,
} from '../own-slots.ts';
import { Step } from '../value-path.ts';
import {
  ERROR_HAS_CAUSE,
  ERROR_HAS_MESSAGE,
  ERROR_HAS_STACK,
  ERROR_NAMES,
  EXTRA_BIGINT,
  EXTRA_BITS,
  EXTRA_BOXED,
  EXTRA_BUFFER,
  EXTRA_BUFFER_RESIZABLE,
  EXTRA_DATE,
  EXTRA_ERROR,
  EXTRA_HOST,
  EXTRA_MAP,
  EXTRA_REGEXP,
  EXTRA_SET,
  EXTRA_VIEW,
  EXTRA_VIEW_WHOLE,
  TAG_BITS,
  TAG_EXTRA,
  VIEW_NAMES,
  VIEW_SIZES,
} from './format.ts';
import type { ShapeNode } from './shapes.ts';
import { NO_ROOM_SIGNAL, REFUSED_SIGNAL } from './signals.ts';
import { writeText } from './write-text.ts';
import type { PackedWriter } from './writer.ts';

const double: Float64Array = new Float64Array(1);
const doubleWords: Int32Array = new Int32Array(double.buffer);

export function writeExtra(
  writer: PackedWriter,
  object: object,
  prototype: object | null,
  at: number,
  place: ShapeNode,
): number {
  if (at + 3 > writer.end) throw NO_ROOM_SIGNAL;
  if (ArrayBuffer.isView(object)) return writeView(writer, object, at, place);
  switch (prototype === null ? kindOfRootless(object) : writer.classifier.kindOf(object, prototype)) {
    case DATE:
      head(writer, at, EXTRA_DATE, 0);
      double[0] = Date.prototype.getTime.call(object);
      writer.words[at + 1] = doubleWords[0]!;
      writer.words[at + 2] = doubleWords[1]!;
      return at + 3;
    case MAP:
      return writeMap(writer, object as Map<unknown, unknown>, at, place);
    case SET:
      return writeSet(writer, object as Set<unknown>, at, place);
    case REGEXP:
      head(writer, at, EXTRA_REGEXP, 0);
      return writeText(writer, flagsOf(object as RegExp), writeText(writer, sourceOf(object as RegExp), at + 1));
    case ERROR:
      return writeError(writer, object as Error, at, place);
    case BUFFER:
      return writeBuffer(writer, object as ArrayBuffer, at);
    case BOXED:
      head(writer, at, EXTRA_BOXED, 0);
      return writer.value(unbox(writer, object), at + 1, place);
    case HOST:
      return writeHost(writer, object, at, place);
    case UNCLONEABLE:
      return writer.failSelf(whatIs(object));
    default:
      return writer.instance(object as Record<string, unknown>, at, place);
  }
}

/** From here on bigints are written by way of their digits: shifting word by word takes time that grows with the square. */
const LONG_BIGINT: bigint = 1n << 512n;
/** Up to here a typed array splits them. */
const SHORT_BIGINT: bigint = 2n ** 64n - 1n;
const twoWords: BigUint64Array = new BigUint64Array(1);
const twoWordsHalves: Int32Array = new Int32Array(twoWords.buffer);

export function writeBigint(writer: PackedWriter, value: bigint, at: number): number {
  const { words, end } = writer;
  const magnitude = value < 0n ? -value : value;
  let next = at + 2;
  if (magnitude <= SHORT_BIGINT) {
    twoWords[0] = magnitude;
    const low = twoWordsHalves[0]!;
    const high = twoWordsHalves[1]!;
    if (next + (high !== 0 ? 2 : low !== 0 ? 1 : 0) > end) throw NO_ROOM_SIGNAL;
    if (low !== 0 || high !== 0) words[next++] = low;
    if (high !== 0) words[next++] = high;
  } else if (magnitude < LONG_BIGINT) {
    for (let rest = magnitude; rest !== 0n; rest >>= 32n) {
      if (next >= end) throw NO_ROOM_SIGNAL;
      words[next++] = Number(BigInt.asIntN(32, rest));
    }
  } else {
    const digits = magnitude.toString(16);
    if (next + digits.length / 8 > end) throw NO_ROOM_SIGNAL;
    for (let to = digits.length; to > 0; to -= 8) {
      words[next++] = Number.parseInt(digits.slice(Math.max(0, to - 8), to), 16) | 0;
    }
  }
  if (next > end) throw NO_ROOM_SIGNAL;
  head(writer, at, EXTRA_BIGINT, value < 0n ? 1 : 0);
  words[at + 1] = next - at - 2;
  return next;
}

function head(writer: PackedWriter, at: number, extra: number, parameter: number): void {
  writer.words[at] = (((parameter << EXTRA_BITS) | extra) << TAG_BITS) | TAG_EXTRA;
}

const describe: (object: object, name: string) => PropertyDescriptor | undefined = Object.getOwnPropertyDescriptor;

const unboxers: readonly ((this: unknown) => unknown)[] = [
  Number.prototype.valueOf,
  String.prototype.valueOf,
  Boolean.prototype.valueOf,
  BigInt.prototype.valueOf,
];

function unbox(writer: PackedWriter, object: object): unknown {
  for (const unboxer of unboxers) {
    try {
      return unboxer.call(object);
    } catch {
      // not one of these
    }
  }
  return writer.failSelf('an object around something unknown');
}

const mapSize = describe(Map.prototype, 'size')!.get!;
const setSize = describe(Set.prototype, 'size')!.get!;
const mapEntries = Map.prototype.entries;
const setValues = Set.prototype.values;

function writeMap(writer: PackedWriter, map: Map<unknown, unknown>, at: number, place: ShapeNode): number {
  head(writer, at, EXTRA_MAP, 0);
  const inner = place.inner ?? writer.shapes.inner(place);
  const depth = writer.depth;
  const size: number = mapSize.call(map);
  let count = 0;
  let next = at + 2;
  if (size > 0) {
    // No more than there were: a getter inside may add entries while we go.
    for (const [key, value] of mapEntries.call(map)) {
      if (typeof key === 'object' || typeof key === 'symbol' || typeof key === 'function') {
        writer.path[depth] = new Step(`.keys[${count}]`);
      }
      next = writer.value(key, next, inner);
      if (typeof value === 'object' || typeof value === 'symbol' || typeof value === 'function') {
        const name =
          typeof key === 'string' ? JSON.stringify(key) : typeof key === 'object' ? `keys[${count}]` : String(key);
        writer.path[depth] = new Step(`.get(${name})`);
      }
      next = writer.value(value, next, inner);
      if (++count === size) break;
    }
  }
  writer.words[at + 1] = count;
  return next;
}

function writeSet(writer: PackedWriter, set: Set<unknown>, at: number, place: ShapeNode): number {
  head(writer, at, EXTRA_SET, 0);
  const inner = place.inner ?? writer.shapes.inner(place);
  const depth = writer.depth;
  const size: number = setSize.call(set);
  let count = 0;
  let next = at + 2;
  if (size > 0) {
    for (const value of setValues.call(set)) {
      writer.path[depth] = count;
      next = writer.value(value, next, inner);
      if (++count === size) break;
    }
  }
  writer.words[at + 1] = count;
  return next;
}

function writeError(writer: PackedWriter, error: Error, at: number, place: ShapeNode): number {
  const name: unknown = error.name;
  const number = name === undefined ? 0 : ERROR_NAMES.indexOf(`${name}`);
  let flags = Math.max(number, 0);
  const message = describe(error, 'message');
  const cause = describe(error, 'cause');
  let next = at + 1;
  if (message !== undefined && 'value' in message) {
    flags |= ERROR_HAS_MESSAGE;
    next = writeText(writer, `${message.value}`, next);
  }
  const stack: unknown = error.stack;
  if (typeof stack === 'string') {
    flags |= ERROR_HAS_STACK;
    next = writeText(writer, stack, next);
  }
  if (cause !== undefined && 'value' in cause) {
    flags |= ERROR_HAS_CAUSE;
    writer.path[writer.depth] = 'cause';
    next = writer.value(cause.value, next, place.inner ?? writer.shapes.inner(place));
  }
  head(writer, at, EXTRA_ERROR, flags);
  return next;
}

/** What only the runtime knows, unless it comes apart here. */
function writeHost(writer: PackedWriter, object: object, at: number, place: ShapeNode): number {
  const form = platformForms?.of(object);
  if (form === undefined) throw REFUSED_SIGNAL;
  const [number, parts] = form;
  head(writer, at, EXTRA_HOST, number);
  return writer.value(parts, at + 1, place.inner ?? writer.shapes.inner(place));
}

function writeBuffer(writer: PackedWriter, buffer: ArrayBuffer, at: number): number {
  if (isDetached(buffer)) return writer.failSelf('a detached ArrayBuffer');
  const byteLength = lengthOfBuffer(buffer);
  if (!isResizable(buffer)) {
    head(writer, at, EXTRA_BUFFER, 0);
    return writeBytes(writer, new Uint8Array(buffer), byteLength, at + 1);
  }
  const maxByteLength = maxOfBuffer(buffer);
  if ((writer.reserved += maxByteLength) > RESIZABLE_BYTES_MAX) throw REFUSED_SIGNAL;
  head(writer, at, EXTRA_BUFFER_RESIZABLE, 0);
  writer.words[at + 2] = maxByteLength;
  return writeBytes(writer, new Uint8Array(buffer, 0, byteLength), byteLength, at + 1, 1);
}

/** The length at `at`, `gap` words that the caller fills, padding, the bytes. */
function writeBytes(writer: PackedWriter, bytes: Uint8Array, length: number, at: number, gap = 0): number {
  const start = (at + 2 + gap) & ~1;
  const next = start + Math.ceil(length / 4);
  if (next > writer.end) throw NO_ROOM_SIGNAL;
  const words = writer.words;
  words[at] = length;
  if (start > at + 1 + gap) words[start - 1] = 0;
  if (length > 0) {
    words[next - 1] = 0;
    writer.memory.blocks.copyIn(bytes, start * 4);
  }
  return next;
}

function writeView(writer: PackedWriter, view: ArrayBufferView, at: number, place: ShapeNode): number {
  const name = nameOfView(view);
  const number = VIEW_NAMES.indexOf(name ?? 'DataView');
  if (number < 0) throw REFUSED_SIGNAL;
  const buffer = bufferOfView(view, name);
  if (typeof SharedArrayBuffer !== 'undefined' && isShared(buffer)) throw REFUSED_SIGNAL;
  if (isDetached(buffer)) return writer.failSelf('a view of a detached ArrayBuffer');
  let byteOffset: number;
  let byteLength: number;
  try {
    byteOffset = offsetOfView(view, name);
    byteLength = lengthOfView(view, name);
  } catch {
    return writer.failSelf('a view that its ArrayBuffer no longer reaches'); // only DataView throws
  }
  const bufferLength = lengthOfBuffer(buffer);
  const resizable = isResizable(buffer);
  if (!resizable) {
    const whole = byteOffset === 0 && byteLength === bufferLength && !writer.met.has(buffer);
    // A small Buffer shares memory with others by accident: sending all of it would send what belongs to somebody else,
    // and 64 KiB for a few bytes. Its copy gets memory of its own, which hence is no object met before.
    const pooled = !whole && platformMemory.isPooled(view, byteLength, bufferLength);
    if (whole || pooled) {
      writer.met.number(pooled ? {} : buffer);
      head(writer, at, EXTRA_VIEW_WHOLE, number);
      return writeBytes(writer, view instanceof Uint8Array ? view : new Uint8Array(buffer), byteLength, at + 1);
    }
  }
  if (resizable) {
    if (name !== undefined && byteLength === 0 && isOutOfBounds(view))
      return writer.failSelf('a view that its ArrayBuffer no longer reaches');
    // A view that reaches to the end of such a buffer may be one that grows with it. Only the runtime can tell.
    if (bufferLength - byteOffset - byteLength < VIEW_SIZES[number]!) throw REFUSED_SIGNAL;
  }
  head(writer, at, EXTRA_VIEW, number);
  writer.words[at + 1] = byteOffset;
  writer.words[at + 2] = byteLength / VIEW_SIZES[number]!;
  return writer.value(buffer, at + 3, place);
}

function isShared(buffer: object): boolean {
  return isSharedMemory(buffer) || Object.prototype.toString.call(buffer) === '[object SharedArrayBuffer]';
}

/** A view that is out of bounds says it has no bytes and starts at 0; so does an empty one. */
function isOutOfBounds(view: ArrayBufferView): boolean {
  try {
    // The one thing that tells them apart without writing: methods refuse a view that is out of bounds.
    Uint8Array.prototype.keys.call(view as Uint8Array);
    return false;
  } catch {
    return true;
  }
}
