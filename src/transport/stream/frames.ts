// Frames: what goes over a byte stream between two agents, many channels in one connection. docs/protocol/stream.md tells what
// each is for; test/docs.test.ts holds the numbers of both equal. Little-endian throughout; every frame starts and ends on a
// multiple of 8, so that records inside it lie as they lie in a ring.
//
//    0                   1                   2                   3
//    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//   +---------------------------------------------------------------+
//   |           LENGTH, bytes of body, a multiple of 8              |
//   +---------------+-----------------------------------------------+
//   |     TYPE      |  CHANNEL, 0 for the connection itself         |
//   +---------------+-----------------------------------------------+
//   |                      body, LENGTH bytes                     ...
//   +---------------------------------------------------------------+

export const FRAME_HEADER_BYTES = 8;

/** MAGIC, VERSION, VERSION_MIN, WINDOW, MESSAGE_MAX, CHANNELS_MAX, and two words for resuming: 0. */
export const HELLO = 1;
/** MESSAGE_MAX, TEXTS, TEXT_BYTES, 0. */
export const OPEN = 2;
/** No body. */
export const ACCEPT = 3;
/** Whole records. */
export const DATA = 4;
/** TAKEN (two words), LIMIT (two words), RECEIVED, RELEARNS. */
export const ACK = 5;
/** POSITION (two words). */
export const ASK = 6;
/** WORD, 0. */
export const INTERRUPT = 7;
/** REASON, RECEIVED. */
export const CLOSE = 8;
/** CODE, 0. */
export const RESET = 9;
/** Eight bytes that come back. */
export const PING = 10;
export const PONG = 11;

/** Bytes of body of each type but DATA. */
export const BODY_BYTES: Readonly<Record<number, number>> = {
  [HELLO]: 32,
  [OPEN]: 16,
  [ACCEPT]: 0,
  [ACK]: 24,
  [ASK]: 8,
  [INTERRUPT]: 8,
  [CLOSE]: 8,
  [RESET]: 8,
  [PING]: 8,
  [PONG]: 8,
};
/** Types from here on may be skipped by who does not know them; others end the connection. */
export const OPTIONAL_TYPES = 128;
/** Bytes of the longest body of a frame that is not DATA, optional types included. */
export const CONTROL_BYTES_MAX = 64;

export const STREAM_MAGIC = 0x5343524d;
export const STREAM_VERSION = 1;
export const CHANNEL_MAX = 0xffffff;

// Codes of RESET.
/** What came on this channel, or on this connection, cannot be what an honest peer sends. */
export const CODE_DAMAGE = 1;
/** The other side speaks no version that this one does. */
export const CODE_VERSION = 2;
/** There are too many channels, or one that is to take longer messages than this side does. */
export const CODE_REFUSED = 3;

/** POSITION of an ASK that asks to be told of each record: any that lies behind what may come. */
export const ASK_ALL: number = Number.MAX_SAFE_INTEGER;

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
