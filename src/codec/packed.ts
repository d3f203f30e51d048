// The packed codec: everything structured clone carries, in plain JavaScript, smaller and faster than either native
// clone or JSON because what repeats between messages travels once. Specification: docs/protocol/packed.md.
import { CodecError, DataCloneError, UsageError } from '../errors.ts';
import { KIND_PACKED } from '../frame/header.ts';
import { KNOWN_TEXT_BYTES_DEFAULT, KNOWN_TEXTS_DEFAULT } from '../limits.ts';
import { type Codec, type CodecOptions, type Decoder, type Encoder, type Memory, NO_ROOM, REFUSED } from './codec.ts';
import { isFlat } from './flat.ts';
import * as format from './packed/format.ts';
import { type TaughtText, TaughtTexts } from './packed/known-texts.ts';
import { PackedReader } from './packed/reader.ts';
import { ShapeTree } from './packed/shapes.ts';
import { BESIDE_SIGNAL, NO_ROOM_SIGNAL, REFUSED_SIGNAL } from './packed/signals.ts';
import { writeText } from './packed/write-text.ts';
import { PackedWriter } from './packed/writer.ts';

// Copies: see packed/format.ts.
const {
  HEADER_MASK,
  HEADER_REFERENCES,
  HEADER_RESET,
  HEADER_TEACH,
  HEADER_TRAILER,
  SHAPE_LOCAL,
  VERSION,
  VERSION_MASK,
} = format;

/** What an encoder knows of the one that it goes on for: the numbers of the next shape and of the next text. */
interface Numbers {
  readonly shape: number;
  readonly text: number;
}

export class PackedEncoder implements Encoder {
  readonly #options: CodecOptions;
  readonly #Writer: typeof PackedWriter;
  /** Made for the first value: a channel may wait long for it, or for ever. */
  #writer: PackedWriter | null = null;
  #encoding = false;
  /** What the last payload taught may still be taken back. */
  #unsettled = false;
  /** The shapes before the last payload, if there was no more room among them. */
  #shapesBefore: ShapeTree | null = null;
  readonly #before: Numbers | undefined;

  /**
   * @param Writer one that takes less, if this one takes too much
   * @param before it goes on for an encoder that gave these as `successor`
   */
  constructor(options: CodecOptions = {}, Writer: typeof PackedWriter = PackedWriter, before?: Numbers) {
    this.#options = options;
    this.#Writer = Writer;
    this.#before = before;
  }

  #open(): PackedWriter {
    const { count, bytes } = knownTextBounds(this.#options);
    const before = this.#before;
    this.#writer = new this.#Writer(this.#options.exactArrays ?? false, count, bytes, before?.text);
    if (before !== undefined) this.#writer.shapes = ShapeTree.from(before.shape);
    this.#writer.besideTextMin = this.#options.besideTextMin ?? Number.POSITIVE_INFINITY;
    this.#writer.besideWideTextMin = this.#options.besideWideTextMin ?? Number.POSITIVE_INFINITY;
    return this.#writer;
  }

  encodeInto(value: unknown, memory: Memory, offset: number, limit: number, learn: boolean): number {
    // Values run code: a getter inside one may send with this very encoder.
    if (this.#encoding) throw new UsageError('ERR_BUSY', 'Cannot encode: a getter is being read for another value');
    const writer = this.#writer ?? this.#open();
    if (this.#unsettled) this.#settle(writer, true);
    const start = offset >>> 2;
    const end = Math.min(start + (limit >>> 2), memory.words.length);
    // The tree is full of what was: begin a new one, and have the peer forget, if this payload gets through.
    if (learn && writer.shapes.full) {
      this.#shapesBefore = writer.shapes;
      writer.shapes = writer.shapes.successor();
    }
    const reset = learn && !writer.shapes.begun;
    writer.begin(memory, end, learn);
    let succeeded = false;
    // Whoever calls with hardly any stack left may have come no further than this.
    this.#encoding = true;
    try {
      let next = writer.value(value, start + 1, writer.shapes.root);
      let header = VERSION;
      if (writer.hasReferences) header |= HEADER_REFERENCES;
      if (reset || writer.shapes.pending.length > 0) {
        header |= HEADER_TRAILER;
        if (learn) header |= HEADER_TEACH;
        if (reset) header |= HEADER_RESET;
        next = writeTrailer(writer, next, start);
      }
      memory.words[start] = header;
      succeeded = true;
      return (next - start) * 4;
    } catch (error) {
      if (error === NO_ROOM_SIGNAL) return NO_ROOM;
      if (error === REFUSED_SIGNAL || isStackOverflow(error)) return REFUSED;
      if (error !== BESIDE_SIGNAL) {
        writer.failIfRevoked(error);
        throw error;
      }
      const textMax = this.#options.besideTextMax ?? Number.POSITIVE_INFINITY;
      if (typeof value === 'string' ? value.length <= textMax : isFlat(value, textMax)) {
        writer.known?.goesBeside();
        return REFUSED;
      }
    } finally {
      this.#encoding = false;
      writer.finish();
      if (succeeded && learn) this.#unsettled = true;
      else this.#settle(writer, succeeded, false);
    }
    // Its other members are not for the runtime's clone: once more, all of it here.
    const { besideTextMin, besideWideTextMin } = writer;
    writer.besideTextMin = Number.POSITIVE_INFINITY;
    writer.besideWideTextMin = Number.POSITIVE_INFINITY;
    try {
      return this.encodeInto(value, memory, offset, limit, learn);
    } finally {
      writer.besideTextMin = besideTextMin;
      writer.besideWideTextMin = besideWideTextMin;
    }
  }

  discard(): void {
    if (this.#unsettled) this.#settle(this.#writer!, false);
  }

  forget(): void {
    const writer = this.#writer;
    if (writer === null) return;
    if (this.#unsettled) this.#settle(writer, true);
    writer.shapes = writer.shapes.successor();
    writer.known?.forget();
  }

  successor(): Numbers | undefined {
    const writer = this.#writer;
    if (writer === null) return this.#before;
    if (this.#unsettled) this.#settle(writer, true);
    return { shape: writer.shapes.known, text: writer.nextText };
  }

  /** @param learn what was written as new is known to the decoder from now on */
  #settle(writer: PackedWriter, succeeded: boolean, learn: boolean = succeeded): void {
    this.#unsettled = false;
    writer.known?.finish(succeeded);
    if (learn) writer.shapes.commit();
    else if (writer.shapes.pending.length > 0) writer.shapes.rollback();
    if (this.#shapesBefore !== null) {
      if (!learn) writer.shapes = this.#shapesBefore;
      this.#shapesBefore = null;
    }
  }
}

function knownTextBounds(options: CodecOptions): { count: number; bytes: number } {
  return {
    count: options.knownTexts ?? KNOWN_TEXTS_DEFAULT,
    bytes: options.knownTextBytes ?? KNOWN_TEXT_BYTES_DEFAULT,
  };
}

/** The value lies deeper than this thread's stack allows here; native clone needs less of it. */
function isStackOverflow(error: unknown): boolean {
  return (
    error instanceof RangeError && !(error instanceof DataCloneError) && String(error.message).includes('call stack')
  );
}

/** First shape, count, then the keys of each; last the place where this begins. */
function writeTrailer(writer: PackedWriter, at: number, start: number): number {
  const { shapes, words, end } = writer;
  if (at + 3 > end) throw NO_ROOM_SIGNAL;
  words[at] = writer.teach ? shapes.known : SHAPE_LOCAL;
  words[at + 1] = shapes.pending.length;
  let next = at + 2;
  for (const { keys } of shapes.pending) {
    if (next >= end) throw NO_ROOM_SIGNAL;
    words[next++] = keys.length;
    for (const key of keys) next = writeText(writer, key, next);
  }
  if (next >= end) throw NO_ROOM_SIGNAL;
  words[next] = at - start;
  return next + 1;
}

/** What a decoder was taught. */
interface Taught {
  readonly texts: readonly TaughtText[];
  readonly first: number;
  readonly keys: readonly (readonly string[] | undefined)[];
}

/** @throws CodecError for what no decoder was taught */
function taughtOf(value: unknown): Taught | undefined {
  if (value === undefined) return undefined;
  try {
    const { texts, first, keys } = value as Taught;
    const wholeTexts = texts.every(([number, text, bytes]) => isWhole(number) && isWhole(bytes) && isText(text));
    if (isWhole(first) && wholeTexts && keys.every((each) => each?.every(isText) ?? true))
      return { texts, first, keys };
  } catch {
    // Neither lists nor what stands in them.
  }
  throw new CodecError('ERR_DECODE', 'Cannot decode: what another decoder is said to have been taught makes no sense');
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

export class PackedDecoder implements Decoder {
  readonly #reader: PackedReader;
  readonly #texts: TaughtTexts;

  /** @param taught by another one's encoder to the decoder that it goes on for */
  constructor(options: CodecOptions = {}, taught?: Taught) {
    const { count, bytes } = knownTextBounds(options);
    this.#texts = new TaughtTexts(count, bytes);
    this.#reader = new PackedReader(this.#texts);
    if (taught === undefined) return;
    this.#texts.resume(taught.texts);
    this.#reader.shapes.resume(taught.first, taught.keys);
  }

  taught(): Taught {
    return { texts: this.#texts.all(), ...this.#reader.shapes.all() };
  }

  decode(memory: Memory, offset: number, length: number): unknown {
    const reader = this.#reader;
    const start = offset >>> 2;
    const end = start + (length >>> 2);
    reader.at = start;
    if ((offset & 7) !== 0 || end > memory.words.length || end <= start) {
      return reader.damaged(`there is no payload of ${length} bytes at ${offset}`);
    }
    const header = memory.words[start]!;
    if ((header & VERSION_MASK) !== VERSION || (header & ~HEADER_MASK) !== 0) {
      return reader.damaged(`the header is ${header}, not one of version ${VERSION}`);
    }
    reader.begin(memory, (header & HEADER_REFERENCES) !== 0, end - start);
    reader.end = end;
    let whole = false;
    try {
      if ((header & HEADER_TRAILER) !== 0) readTrailer(reader, header, start, end);
      reader.at = start + 1;
      const value = reader.value();
      if (reader.at !== reader.end) reader.damaged('the payload is longer than its value');
      whole = true;
      return value;
    } catch (error) {
      if (error instanceof CodecError) throw error;
      // Not to be had here (a flag of a RegExp, say, or memory), or damaged in a way that a constructor found.
      throw new CodecError('ERR_DECODE', `Cannot decode: ${String((error as Error)?.message)}`, { cause: error });
    } finally {
      // What the payload taught may be damaged too, and must not turn later payloads into other values.
      reader.finish(whole);
    }
  }
}

function readTrailer(reader: PackedReader, header: number, start: number, end: number): void {
  const trailer = start + reader.words[end - 1]!;
  if (trailer < start + 2 || trailer > end - 1) reader.damaged('the trailer lies outside the payload');
  reader.at = trailer;
  reader.end = end - 1;
  reader.shapes.read(reader, (header & HEADER_RESET) !== 0, (header & HEADER_TEACH) !== 0);
  if (reader.at !== reader.end) reader.damaged('the trailer is longer than its shapes');
  reader.end = trailer;
}

export const packed: Codec = {
  name: 'packed',
  kind: KIND_PACKED,
  createEncoder: (options, successor): Encoder => new PackedEncoder(options, PackedWriter, successor as Numbers),
  createDecoder: (options, taught): Decoder => new PackedDecoder(options, taughtOf(taught)),
};
