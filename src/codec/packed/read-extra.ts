// Reads objects that are neither plain nor arrays. The counterpart of write-extra.ts.
import { platformForms } from '#platform';
import { RESIZABLE_BYTES_MAX } from '../../limits.ts';
import {
  ERROR_CLASS_MASK,
  ERROR_HAS_CAUSE,
  ERROR_HAS_MESSAGE,
  ERROR_HAS_STACK,
  ERROR_NAMES,
  EXTRA_ARRAY_PAIRS,
  EXTRA_BIGINT,
  EXTRA_BITS,
  EXTRA_BOXED,
  EXTRA_BUFFER,
  EXTRA_BUFFER_RESIZABLE,
  EXTRA_DATE,
  EXTRA_ERROR,
  EXTRA_HOST,
  EXTRA_MAP,
  EXTRA_MASK,
  EXTRA_REGEXP,
  EXTRA_SET,
  EXTRA_TEXT_REMEMBER,
  EXTRA_VIEW,
  EXTRA_VIEW_WHOLE,
  TAG_ARRAY,
  TAG_BITS,
  TAG_DOUBLE_ARRAY,
  TAG_INT32_ARRAY,
  TAG_MASK,
  TAG_TEXT_LATIN1,
  TAG_TEXT_UTF8,
  TAG_TEXT_UTF16,
  VIEW_NAMES,
} from './format.ts';
import { readArray, readDoubles, readIntegers } from './read-array.ts';
import type { PackedReader } from './reader.ts';

const double: Float64Array = new Float64Array(1);
const doubleWords: Int32Array = new Int32Array(double.buffer);

const twoWords: BigUint64Array = new BigUint64Array(1);
const twoWordsHalves: Int32Array = new Int32Array(twoWords.buffer);

type ViewMaker = new (buffer: ArrayBuffer, byteOffset?: number, length?: number) => ArrayBufferView;
// Both lists are taken at start: what a page does to its globals later must not decide what we make.
const VIEW_MAKERS: readonly (ViewMaker | undefined)[] = VIEW_NAMES.map(
  (name) => (globalThis as unknown as Record<string, ViewMaker | undefined>)[name],
);
const ERROR_MAKERS: readonly ErrorConstructor[] = ERROR_NAMES.map(
  (name) => (globalThis as unknown as Record<string, ErrorConstructor>)[name]!,
);

export function readExtra(reader: PackedReader, argument: number): unknown {
  const parameter = argument >>> EXTRA_BITS;
  const kind = argument & EXTRA_MASK;
  // The two that are no objects, hence no level of depth.
  if (kind === EXTRA_BIGINT) return readBigint(reader, parameter);
  if (kind === EXTRA_TEXT_REMEMBER) return readTaught(reader, parameter);
  reader.enter();
  const object = readObject(reader, kind, parameter);
  reader.leave();
  return object;
}

function readObject(reader: PackedReader, kind: number, parameter: number): object {
  switch (kind) {
    case EXTRA_DATE: {
      doubleWords[0] = reader.word();
      doubleWords[1] = reader.word();
      return kept(reader, new Date(double[0]!));
    }
    case EXTRA_MAP: {
      const map = kept(reader, new Map<unknown, unknown>());
      for (let left = reader.count(2); left > 0; left--) {
        const key = reader.value();
        map.set(key, reader.value());
      }
      return map;
    }
    case EXTRA_SET: {
      const set = kept(reader, new Set<unknown>());
      for (let left = reader.count(1); left > 0; left--) set.add(reader.value());
      return set;
    }
    case EXTRA_REGEXP: {
      const source = reader.string();
      const flags = reader.string();
      return kept(reader, new RegExp(source, flags));
    }
    case EXTRA_BUFFER:
      return kept(reader, readBytes(reader).buffer);
    case EXTRA_BUFFER_RESIZABLE:
      return kept(reader, readResizable(reader));
    case EXTRA_VIEW_WHOLE:
      return readWholeView(reader, parameter);
    case EXTRA_VIEW:
      return readView(reader, parameter);
    case EXTRA_ERROR:
      return readError(reader, parameter);
    case EXTRA_BOXED:
      return readBoxed(reader);
    case EXTRA_HOST:
      return readHost(reader, parameter);
    case EXTRA_ARRAY_PAIRS: {
      const array = readBareArray(reader);
      reader.pairs(array, Array.prototype);
      return array;
    }
    default:
      return reader.damaged(`there is no extra value ${kind}`);
  }
}

/** An array whose level is entered already: it and its named properties are one object. */
function readBareArray(reader: PackedReader): unknown[] {
  const word = reader.word();
  switch (word & TAG_MASK) {
    case TAG_ARRAY:
      return readArray(reader, word >>> TAG_BITS);
    case TAG_INT32_ARRAY:
      return readIntegers(reader, word >>> TAG_BITS);
    case TAG_DOUBLE_ARRAY:
      return readDoubles(reader, word >>> TAG_BITS);
    default:
      return reader.damaged('an array was expected');
  }
}

function kept<T extends object>(reader: PackedReader, object: T): T {
  reader.keep(reader.number(), object);
  return object;
}

function readBigint(reader: PackedReader, sign: number): bigint {
  const count = reader.count(1);
  if (count <= 2) {
    twoWordsHalves[0] = count > 0 ? reader.word() : 0;
    twoWordsHalves[1] = count > 1 ? reader.word() : 0;
    return sign === 0 ? twoWords[0]! : -twoWords[0]!;
  }
  // Through hexadecimal text: shifting word by word takes time that grows with the square.
  let digits = '';
  const words: string[] = [];
  for (let i = 0; i < count; i++) words.push((reader.word() >>> 0).toString(16).padStart(8, '0'));
  for (let i = count - 1; i >= 0; i--) digits += words[i];
  const magnitude = count === 0 ? 0n : BigInt(`0x${digits}`);
  return sign === 0 ? magnitude : -magnitude;
}

/** Where `length` bytes start, in bytes; moves past them. */
function skipBytes(reader: PackedReader, length: number): number {
  const start = (reader.at + 1) & ~1;
  const words = Math.ceil(length / 4);
  if (length < 0 || words > reader.end - start) reader.damaged('bytes reach past the payload');
  reader.at = start + words;
  return start * 4;
}

function readWholeView(reader: PackedReader, number: number): ArrayBufferView {
  const make = viewMaker(reader, number);
  const viewNumber = reader.number();
  const bufferNumber = reader.number();
  const bytes = readBytes(reader);
  // Engines make the ArrayBuffer of a small view only when somebody asks for it, at three times the cost of the view.
  if (make === (Uint8Array as unknown) && !reader.keeps) return bytes;
  const { buffer } = bytes;
  reader.keep(bufferNumber, buffer);
  const view = new make(buffer);
  reader.keep(viewNumber, view);
  return view;
}

function readBytes(reader: PackedReader): Uint8Array<ArrayBuffer> {
  const length = reader.word();
  const start = skipBytes(reader, length);
  const copy = new Uint8Array(length);
  if (length > 0) reader.memory.blocks.copyOut(copy, start, length);
  return copy;
}

type ResizableMaker = new (length: number, options: { maxByteLength: number }) => ArrayBuffer;

function readResizable(reader: PackedReader): ArrayBuffer {
  const length = reader.word();
  const maxByteLength = reader.word();
  if (maxByteLength < length || (reader.reserved += maxByteLength) > RESIZABLE_BYTES_MAX) {
    reader.damaged('a buffer may grow out of bounds');
  }
  const start = skipBytes(reader, length);
  const buffer = new (ArrayBuffer as unknown as ResizableMaker)(length, { maxByteLength });
  reader.memory.blocks.copyOut(new Uint8Array(buffer), start, length);
  return buffer;
}

function viewMaker(reader: PackedReader, number: number): ViewMaker {
  const make = VIEW_MAKERS[number];
  if (make !== undefined) return make;
  const name = VIEW_NAMES[number];
  if (name === undefined) return reader.damaged(`there is no view class ${number}`);
  throw new TypeError(`this runtime has no ${name}`);
}

function readView(reader: PackedReader, number: number): ArrayBufferView {
  const make = viewMaker(reader, number);
  const byteOffset = reader.word();
  const length = reader.word();
  const viewNumber = reader.number();
  const buffer = reader.value();
  if (!(buffer instanceof ArrayBuffer)) reader.damaged('an ArrayBuffer was expected');
  // Offsets and lengths that do not fit make the constructors throw; the decoder wraps what they throw.
  const view =
    length === -1 ? new make(buffer as ArrayBuffer, byteOffset) : new make(buffer as ArrayBuffer, byteOffset, length);
  reader.keep(viewNumber, view);
  return view;
}

function readError(reader: PackedReader, parameter: number): Error {
  const make = ERROR_MAKERS[parameter & ERROR_CLASS_MASK];
  if (make === undefined) return reader.damaged(`there is no error class ${parameter & ERROR_CLASS_MASK}`);
  const error = makeError(make);
  reader.keep(reader.number(), error);
  if ((parameter & ERROR_HAS_MESSAGE) !== 0) hide(error, 'message', reader.string());
  hide(error, 'stack', (parameter & ERROR_HAS_STACK) !== 0 ? reader.string() : undefined);
  if ((parameter & ERROR_HAS_CAUSE) !== 0) hide(error, 'cause', reader.value());
  return error;
}

/** Without the cost of a stack trace, which would be ours, not the sender's, where that can be had. */
function makeError(make: ErrorConstructor): Error {
  const limit = Error.stackTraceLimit;
  const limited = limitStackTraces(0);
  try {
    return new make();
  } finally {
    if (limited) limitStackTraces(limit);
  }
}

/** False where intrinsics are frozen, or a setter refuses. */
function limitStackTraces(frames: number): boolean {
  try {
    return Reflect.set(Error, 'stackTraceLimit', frames);
  } catch {
    return false;
  }
}

function hide(object: object, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, writable: true, enumerable: false, configurable: true });
}

function readBoxed(reader: PackedReader): object {
  const number = reader.number();
  const value = reader.value();
  if (typeof value === 'object' || value === undefined) reader.damaged('a primitive was expected');
  const boxed = Object(value) as object;
  reader.keep(number, boxed);
  return boxed;
}

function readHost(reader: PackedReader, form: number): object {
  const number = reader.number();
  const parts = reader.value();
  if (!Array.isArray(parts)) return reader.damaged('the parts of an object were expected');
  if (platformForms === undefined) throw new TypeError('objects of a browser are made in browsers only');
  const object = platformForms.make(form, parts);
  reader.keep(number, object);
  return object;
}

/** A text, which must stand here as it is, and the number under which it is remembered from now on. */
function readTaught(reader: PackedReader, forgotten: number): string {
  const number = reader.word();
  const word = reader.word();
  const tag = word & TAG_MASK;
  const size = word >>> TAG_BITS;
  let text: string;
  if (tag === TAG_TEXT_LATIN1) text = reader.texts.latin1(reader, size);
  else if (tag === TAG_TEXT_UTF16 || tag === TAG_TEXT_UTF8) text = reader.texts.other(reader, word);
  else return reader.damaged('a text was expected');
  // Without the padding, as the encoder counts.
  reader.texts.taught.remember(number, text, tag === TAG_TEXT_UTF16 ? size * 2 : size);
  if (forgotten > reader.end - reader.at) reader.damaged('a count exceeds what is there');
  for (let left = forgotten; left > 0; left--) reader.texts.taught.forget(reader.word());
  reader.texts.taught.trim();
  return text;
}
