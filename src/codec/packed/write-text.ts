// Writes texts: character by character while that is cheaper than a call, else by the runtime's own writers.
import * as limits from '../../limits.ts';
import * as format from './format.ts';
import type { KnownTexts } from './known-texts.ts';
import { BESIDE_SIGNAL, NO_ROOM_SIGNAL, REFUSED_SIGNAL } from './signals.ts';
import type { PackedWriter } from './writer.ts';

// Copies: see format.ts.
const {
  ARGUMENT_MAX,
  EXTRA_BITS,
  EXTRA_TEXT_REMEMBER,
  TAG_BITS,
  TAG_EXTRA,
  TAG_MASK,
  TAG_TEXT_KNOWN,
  TAG_TEXT_LATIN1,
  TAG_TEXT_UTF16,
} = format;
const { KNOWN_TEXT_MIN, TAKEN_FOR_WIDE_MAX, TAKEN_FOR_WIDE_MIN } = limits;

export function writeText(writer: PackedWriter, text: string, at: number): number {
  const length = text.length;
  if (length > writer.loopMax) return writeLong(writer, text, at);
  const next = at + 1 + ((length + 3) >>> 2);
  if (next > writer.end) throw NO_ROOM_SIGNAL;
  const words = writer.words;
  const whole = length & ~3;
  let seen = 0;
  let to = at + 1;
  let i = 0;
  for (; i < whole; i += 4) {
    const a = text.charCodeAt(i);
    const b = text.charCodeAt(i + 1);
    const c = text.charCodeAt(i + 2);
    const d = text.charCodeAt(i + 3);
    seen |= a | b | c | d;
    words[to++] = a | (b << 8) | (c << 16) | (d << 24);
  }
  if (i < length) {
    let word = text.charCodeAt(i);
    seen |= word;
    if (i + 1 < length) {
      const b = text.charCodeAt(i + 1);
      seen |= b;
      word |= b << 8;
      if (i + 2 < length) {
        const c = text.charCodeAt(i + 2);
        seen |= c;
        word |= c << 16;
      }
    }
    words[to] = word;
  }
  if (seen > 0xff) return writeShortUtf16(writer, text, at);
  words[at] = (length << TAG_BITS) | TAG_TEXT_LATIN1;
  return next;
}

function writeShortUtf16(writer: PackedWriter, text: string, at: number): number {
  const length = text.length;
  const next = at + 1 + ((length + 1) >>> 1);
  if (next > writer.end) throw NO_ROOM_SIGNAL;
  const words = writer.words;
  let to = at + 1;
  let i = 0;
  for (; i + 1 < length; i += 2) words[to++] = text.charCodeAt(i) | (text.charCodeAt(i + 1) << 16);
  if (i < length) words[to] = text.charCodeAt(i);
  words[at] = (length << TAG_BITS) | TAG_TEXT_UTF16;
  return next;
}

/** V8 answers at once for a text that it keeps in one byte a character, whatever the length. */
const WIDE = /[^\0-\xff]/;

function writeLong(writer: PackedWriter, text: string, at: number): number {
  const length = text.length;
  if (length < KNOWN_TEXT_MIN) return writeWhole(writer, text, at);
  const known = writer.known ?? writer.openKnown();
  if (known !== null) {
    const number = known.find(text);
    if (number >= 0) {
      if (at >= writer.end) throw NO_ROOM_SIGNAL;
      writer.words[at] = (number << TAG_BITS) | TAG_TEXT_KNOWN;
      return at + 1;
    }
    if (known.isWorthTeaching(length) && writer.teach) return writeTaught(writer, known, text, at);
  }
  // A text that is the value itself was not sent beside by those who could have: they know why.
  if (length >= writer.besideTextMin && writer.depth === 1) throw BESIDE_SIGNAL;
  if (length >= writer.besideWideTextMin && writer.depth <= 1) return writeIfAscii(writer, text, at);
  return writeWhole(writer, text, at);
}

/** @throws BESIDE_SIGNAL if it is not, or probably not */
function writeIfAscii(writer: PackedWriter, text: string, at: number): number {
  if (writer.takenForWide > 0) {
    writer.takenForWide--;
    throw BESIDE_SIGNAL;
  }
  if (text.length + 4 > (writer.end - at - 1) * 4) throw NO_ROOM_SIGNAL;
  const next = WIDE.test(text) ? -1 : writeAscii(writer, text, at);
  writer.wideRun = next >= 0 ? 0 : Math.min(Math.max(writer.wideRun * 2, TAKEN_FOR_WIDE_MIN), TAKEN_FOR_WIDE_MAX);
  if (next >= 0) return next;
  writer.takenForWide = writer.wideRun;
  throw BESIDE_SIGNAL;
}

/** The number, the text, and the numbers that the decoder is to forget. */
function writeTaught(writer: PackedWriter, known: KnownTexts, text: string, at: number): number {
  if (at + 2 > writer.end) throw NO_ROOM_SIGNAL;
  const { words } = writer;
  words[at + 1] = known.nextNumber;
  let next = writeWhole(writer, text, at + 2);
  const forgotten = known.teach(text, (words[at + 2]! & TAG_MASK) === TAG_TEXT_UTF16 ? text.length * 2 : text.length);
  for (const number of forgotten) {
    if (next >= writer.end) throw NO_ROOM_SIGNAL;
    words[next++] = number;
  }
  words[at] = (((forgotten.length << EXTRA_BITS) | EXTRA_TEXT_REMEMBER) << TAG_BITS) | TAG_EXTRA;
  return next;
}

/** A few characters tell nearly always, and a write in vain costs more than any other. */
function looksAscii(text: string): boolean {
  const last = text.length - 1;
  const step = last >>> 2;
  let seen = text.charCodeAt(0) | text.charCodeAt(step) | text.charCodeAt(step * 2);
  seen |= text.charCodeAt(step * 3) | text.charCodeAt(last - 3) | text.charCodeAt(last);
  return seen < 0x80;
}

/**
 * Writes a text if it is ASCII, else returns -1. ASCII is UTF-8 of equal length, and nothing else is. There must be room for four
 * bytes more, which let anything else show: a writer that stops at the limit stops at most three bytes before it.
 */
function writeAscii(writer: PackedWriter, text: string, at: number): number {
  if (!looksAscii(text)) return -1;
  const length = text.length;
  const next = at + 1 + ((length + 3) >>> 2);
  writer.words[next - 1] = 0; // padding
  if (writer.memory.text.utf8Write(text, (at + 1) * 4, length + 4) !== length) return -1;
  writer.words[at] = (length << TAG_BITS) | TAG_TEXT_LATIN1;
  return next;
}

function writeWhole(writer: PackedWriter, text: string, at: number): number {
  const length = text.length;
  if (length > ARGUMENT_MAX) throw REFUSED_SIGNAL;
  const offset = (at + 1) * 4;
  const room = (writer.end - at - 1) * 4;
  if (length > room) throw NO_ROOM_SIGNAL;
  const memory = writer.memory.text;
  if (!memory.latin1First && room >= length + 4) {
    const ascii = writeAscii(writer, text, at);
    if (ascii >= 0) return ascii;
  }
  const next = at + 1 + ((length + 3) >>> 2);
  writer.words[next - 1] = 0; // padding
  if (!WIDE.test(text)) {
    memory.latin1Write(text, offset, length);
    writer.words[at] = (length << TAG_BITS) | TAG_TEXT_LATIN1;
    return next;
  }
  if (length * 2 > room) throw NO_ROOM_SIGNAL;
  const wideNext = at + 1 + ((length + 1) >>> 1);
  writer.words[wideNext - 1] = 0;
  memory.utf16Write(text, offset, length * 2);
  writer.words[at] = (length << TAG_BITS) | TAG_TEXT_UTF16;
  return wideNext;
}
