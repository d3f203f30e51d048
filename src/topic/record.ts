// A message in the ring of a topic. Records start on multiples of 16, and none crosses the end of the data area: a pad fills it.
//
//   word  name     meaning
//   0     LENGTH   bytes of payload; of a pad all its bytes
//   1     KIND     KIND_PACKED or KIND_PAD (frame/header.ts)
//   2     NUMBER   messages published before it, wraps at 2^32
//   3     BACK     bytes back to where the record before it starts; 0 in the first one
//   4     -        payload
//
// Each payload can be read by itself: it uses no shape and no text that another one has taught.

export const LENGTH = 0;
export const KIND = 1;
export const NUMBER = 2;
export const BACK = 3;
export const HEADER_BYTES = 16;
/** Records start on multiples of this, so that there is room for a header wherever one may start. */
export const RECORD_ALIGN = 16;

// Copies: see frame/header.ts.
const UP: number = HEADER_BYTES + RECORD_ALIGN - 1;
const ALIGNED: number = -RECORD_ALIGN;

/** Bytes that a record with `length` bytes of payload takes. */
export function recordBytes(length: number): number {
  return (length + UP) & ALIGNED;
}
