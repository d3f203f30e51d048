// The eight bytes before every payload, the same in a ring and on a socket.
//
//    0                   1                   2                   3
//    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//   +---------------------------------------------------------------+
//   |                LENGTH, bytes of payload (signed)              |
//   +---------------+-+---------------------------------------------+
//   |     KIND      |M|                 0, reserved                 |
//   +---------------+-+---------------------------------------------+
//   |                      payload, LENGTH bytes                  ...
//   +---------------------------------------------------------------+
//
// A record (header and payload) starts on a multiple of 8 and takes a multiple of 8. M (MORE): another part of this
// message follows in the next record of this lane. The first part of such a message starts with eight bytes of its
// own: the length of the whole (one word) and a zero word.

export const HEADER_BYTES = 8;
/** Records start and end on multiples of this. */
export const RECORD_ALIGN = 8;
export const KIND_MASK = 0xff;
export const MORE = 0x100;
/** Bytes before the payload of the first part of a message in parts. */
export const PARTS_PREFIX_BYTES = 8;

/** Kinds 1..63 are codecs (codec/), 64..127 the user's own in `millrace/ring`. */
/** What a producer in `millrace/ring` writes unless told otherwise; no codec. */
export const KIND_BYTES = 1;
export const KIND_JSON = 3;
export const KIND_PACKED = 4;
/** Bytes of payload of a KIND_SIDE record. */
export const MARKER_BYTES = 8;
/** The value is beside the lane; the payload is its number, and where it went (`lane/beside.ts`). */
export const KIND_SIDE = 5;
/** No payload. From here on only the newest message counts, and it lies in a slot: `ring/latest-slots.ts`. */
export const KIND_LATEST = 6;
/** The message lies in memory of its sender's, an annex or what a slot has beside it; the payload says where. */
export const KIND_ELSEWHERE = 7;
/** Bytes of payload of KIND_ELSEWHERE: length, kind, number of the memory, byte where the message begins. */
export const ELSEWHERE_BYTES = 16;
/** Filler up to the end of the data area; LENGTH counts the header too. Never delivered. */
export const KIND_PAD = 0xff;

// A constant that a module keeps to itself becomes part of V8's code; an exported or imported one is loaded and checked
// at every use. So hot loops use copies.
const UP: number = HEADER_BYTES + RECORD_ALIGN - 1;
const ALIGNED: number = -RECORD_ALIGN;

/** Bytes that a record with `length` bytes of payload takes in a ring. */
export function recordBytes(length: number): number {
  return (length + UP) & ALIGNED;
}
