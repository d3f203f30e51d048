// Frames: what goes over a byte stream between two agents, many channels in one connection. docs/protocol/stream.md tells what
// each is for; test/docs.test.ts holds the numbers of both equal. Little-endian throughout; every frame starts and ends on a
// multiple of 8, so that records inside it lie as they lie in a ring.
//
//    0                   1                   2                   3
//    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//   +---------------+-----------------------------------------------+
//   |     TYPE      |  LENGTH, eights of bytes of body              |
//   +---------------+-----------------------------------------------+
//   |           CHANNEL, 0 for the connection itself                |
//   +---------------------------------------------------------------+
//   |                      body, 8 * LENGTH bytes                 ...
//   +---------------------------------------------------------------+
//
// A record in a body is two words of header, too, and then payload to a multiple of 8: so it lies on a multiple of 8 in the stream,
// in a frame that its sender writes, and in the memory of its reader, who hands it to the codec where it lies.
import { LayoutError } from '../../errors.ts';
import {
  STREAM_DEATH_BYTES_MAX,
  STREAM_FEATURE_BYTES_MAX,
  STREAM_FIELDS_BYTES_MAX,
  STREAM_NAME_BYTES_MAX,
  STREAM_TEXT_BYTES_MAX,
  STREAM_UNKNOWN_BYTES_MAX,
} from '../../limits.ts';

export const FRAME_HEADER_BYTES = 8;

/** MAGIC, VERSION, VERSION_MIN, FEATURES, MESSAGE_MAX, CHANNELS_MAX, TEXT_BYTES_MAX, 0, SESSION (4 words), HEARD (2 words), and fields. */
export const HELLO = 1;
/** WINDOW, MESSAGE_MAX, TEXTS, TEXT_BYTES, FLAGS, NAME_BYTES, and the name. */
export const OPEN = 2;
/** WINDOW, MESSAGE_MAX, TEXTS, TEXT_BYTES, FLAGS, 0. */
export const ACCEPT = 3;
/** Whole records. */
export const DATA = 4;
/** TAKEN (2 words), LIMIT (2 words), RECEIVED, RELEARNS, BESIDE, 0. */
export const ACK = 5;
/** POSITION (2 words). */
export const ASK = 6;
/** WORD, 0. */
export const INTERRUPT = 7;
/** REASON, RECEIVED. */
export const CLOSE = 8;
/** CODE, BYTES, and a text of so many. */
export const RESET = 9;
/** Eight bytes that come back. */
export const PING = 10;
export const PONG = 11;
/** REASON, BITS, STATUS, BYTES, and a text of so many. */
export const GOODBYE = 12;
/** TIME, BYTES, and a text of so many. */
export const LEAVING = 13;

/** Bytes of body of each type but DATA; of those with a text, before it. */
export const BODY_BYTES: Readonly<Record<number, number>> = {
  [HELLO]: 56,
  [OPEN]: 24,
  [ACCEPT]: 24,
  [ACK]: 32,
  [ASK]: 8,
  [INTERRUPT]: 8,
  [CLOSE]: 8,
  [RESET]: 8,
  [PING]: 8,
  [PONG]: 8,
  [GOODBYE]: 16,
  [LEAVING]: 8,
};
/** Bytes that may stand behind that: a text, or in a greeting its fields. */
export const BEHIND_BYTES_MAX: Readonly<Record<number, number>> = {
  [HELLO]: STREAM_FIELDS_BYTES_MAX,
  [OPEN]: STREAM_NAME_BYTES_MAX,
  [RESET]: STREAM_TEXT_BYTES_MAX,
  [GOODBYE]: STREAM_DEATH_BYTES_MAX,
  [LEAVING]: STREAM_TEXT_BYTES_MAX,
};
/** Types from here on belong to features: only between sides that have agreed on one. */
export const FEATURE_TYPES = 64;
/** Types from here on may be skipped by who does not know them; others end the connection. */
export const OPTIONAL_TYPES = 128;
/** Bytes of the longest body of a frame that is not DATA. */
export const CONTROL_BYTES_MAX: number =
  56 +
  Math.max(
    ...[STREAM_FIELDS_BYTES_MAX, STREAM_NAME_BYTES_MAX, STREAM_TEXT_BYTES_MAX],
    ...[STREAM_DEATH_BYTES_MAX, STREAM_UNKNOWN_BYTES_MAX, STREAM_FEATURE_BYTES_MAX],
  );

export const STREAM_MAGIC = 0x5343524d;
export const STREAM_VERSION = 1;
/** The highest number: a side has 2^30 of its own, each for one channel. */
export const CHANNEL_MAX = 0x7fffffff;
/** Of FEATURES and FLAGS: bits here must be known to who reads them; the others count where both sides set them. */
export const REQUIRED_BITS = 0xffff;

// BITS of GOODBYE.
/** STATUS is the exit status of its thread or process. */
export const HAS_STATUS = 1;
/** The text is JSON of what was thrown, and nobody has caught. */
export const HAS_THROWN = 2;

// Codes of RESET.
/** What came on this channel, or on this connection, cannot be what an honest peer sends. */
export const CODE_DAMAGE = 1;
/** The other side speaks no version that this one does, or asks for what this one cannot. */
export const CODE_VERSION = 2;
/** There are too many channels, or too many that nobody has accepted. */
export const CODE_FULL = 3;
/** Its terms can be none, or have a flag that this side does not know. */
export const CODE_TERMS = 4;
/** Nobody here takes a channel of that name. */
export const CODE_NAME = 5;
/** This side is leaving: it opens and accepts nothing any more. */
export const CODE_LEAVING = 6;
/** Who connects is not let in. */
export const CODE_IDENTITY = 7;
/** From here on codes mean what the program says that refuses. */
export const CODE_OWN = 256;

/** POSITION of an ASK that asks to be told of each record: any that lies behind what may come. */
export const ASK_ALL: number = Number.MAX_SAFE_INTEGER;

/** The first word of a frame of `length` bytes of body, a multiple of 8. */
export function frameHead(type: number, length: number): number {
  return type | (length << 5);
}
export function typeOf(head: number): number {
  return head & 0xff;
}
/** Bytes of body. */
export function lengthOf(head: number): number {
  return (head >>> 8) * 8;
}
/** Bytes of the frame that begins there; Infinity where not even its header is whole. */
export function frameBytes(bytes: Uint8Array, at = 0): number {
  if (bytes.length - at < FRAME_HEADER_BYTES) return Number.POSITIVE_INFINITY;
  const head = new DataView(bytes.buffer, bytes.byteOffset + at).getInt32(0, true);
  return FRAME_HEADER_BYTES + lengthOf(head);
}

/** A position as it travels: two words. */
export function lowWord(position: number): number {
  return position | 0;
}
export function highWord(position: number): number {
  return Math.floor(position / 2 ** 32);
}
/** The position of two words; NaN if it is none. */
export function positionOf(low: number, high: number): number {
  return high < 0 || high >= 2 ** 21 ? Number.NaN : high * 2 ** 32 + (low >>> 0);
}

const strict = /* @__PURE__ */ new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const lenient = /* @__PURE__ */ new TextDecoder('utf-8', { ignoreBOM: true });
const encoder = /* @__PURE__ */ new TextEncoder();

export function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** What both sides do of what each has said in FEATURES, or FLAGS: what one of them requires, and what both offer. */
export function agreedBits(ours: number, theirs: number): number {
  return ((ours | theirs) & REQUIRED_BITS) | (ours & theirs & ~REQUIRED_BITS);
}

/** A text of at most `max` bytes in UTF-8: of a longer one, the beginning. */
export function textBytes(text: string, max: number): Uint8Array {
  const bytes = new Uint8Array(max);
  return bytes.subarray(0, encoder.encodeInto(text, bytes).written);
}
/** Whether a name is none of a program's: the library's own, which are for what later versions have to say. */
export function isKept(name: string): boolean {
  return name.startsWith('\0');
}
/** The bytes of a name; undefined if it is too long, or does not come back as it is. */
export function nameBytes(name: string): Uint8Array | undefined {
  // No more than three bytes a unit of UTF-16, and no fewer than one.
  if (name.length > STREAM_NAME_BYTES_MAX) return undefined;
  const bytes = encoder.encode(name);
  return bytes.length > STREAM_NAME_BYTES_MAX || strict.decode(bytes) !== name ? undefined : bytes;
}

/**
 * The text behind the fixed part of a body, of as many bytes as the word at `at` says.
 * @param exact it names something: what is not UTF-8 is damage, where it would be shown as well as can be in a text for people
 * @throws LayoutError
 */
export function textOf(type: number, words: Int32Array, at: number, exact: boolean): string {
  const fixed = BODY_BYTES[type] as number;
  const length = words[at] as number;
  const bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
  if (length >>> 0 > bytes.length - fixed || ((length + 7) & -8) !== bytes.length - fixed) {
    throw new LayoutError(`Cannot read the stream: a text of ${length} bytes in a body of ${bytes.length}`, { length });
  }
  const text = bytes.subarray(fixed, fixed + length);
  if (!exact) return lenient.decode(text);
  try {
    return strict.decode(text);
  } catch (cause) {
    throw new LayoutError('Cannot read the stream: a name is not UTF-8', { cause });
  }
}

export function unexpected(type: number, number: number): LayoutError {
  return new LayoutError(`Cannot read the stream: a frame of type ${type} for channel ${number} does not belong here`, {
    kind: type,
  });
}
