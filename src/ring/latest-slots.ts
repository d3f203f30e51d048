// Where the newest message of a lane lies if its sender wants nobody to read another one: a triple buffer. Its first and
// only record (KIND_LATEST) says so; from there on nobody looks at TAIL and HEAD, and the data area is used like this.
//
//   byte   what
//   0      the record
//   64     slot 0, slot 1, slot 2: each (capacity - 64) / 3 bytes, rounded down to a multiple of 64
//
// A slot:
//
//   word   name          meaning
//   0      LENGTH        bytes of payload
//   1      KIND          as in a record, without flags
//   2      SIDE_BEFORE   values posted in the side channel before this message: who takes it lets go of them
//   3      -             0
//   4      -             payload
//
// The word LATEST of the lane block is { fresh: bit 2, middle: bits 0-1 }, and 0 at the start: slot 0 is in the middle,
// slot 1 the writer's, slot 2 the reader's.
//
// Invariants (with latest-producer.ts and latest-consumer.ts):
// L1. The writer's back slot, the reader's front slot and the middle one, whose number stands in LATEST, are three
//     different slots. A slot changes hands by an exchange of LATEST only, which gives one and takes one.
// L2. A slot is touched by the side that owns it, and the middle one by nobody. So no byte is ever written by one side
//     while the other may read it.
// L3. LATEST is FRESH from the writer's exchange until the reader's; the reader exchanges only if it is. So what the reader
//     gets is the newest complete message, each at most once, and never an older one after a newer one.
// L4. A message exists once the exchange has given it away. A writer that dies before leaves the one before where it is.
// L5. Neither side ever waits for the other or tries twice, and who takes a message needs nothing of the writer's thread.
import { LayoutError } from '../errors.ts';

export const FRESH = 4;
export const MIDDLE = 3;
/** Who owns what before the first message: LATEST is 0. */
export const BACK_FIRST = 1;
export const FRONT_FIRST = 2;

/** Bytes before slot 0: the record, and the rest of its line. */
const SLOTS_START = 64;
/** Slots do not share a line, on which both sides would write. */
const SLOT_ALIGN = 64;
export const SLOT_COUNT = 3;
export const SLOT_HEADER_BYTES = 16;
// Words of a slot.
export const LENGTH = 0;
export const KIND = 1;
export const SIDE_BEFORE = 2;

/** Bytes of each slot in a data area of `capacity` bytes; 0 if it is too small for three. */
export function slotBytes(capacity: number): number {
  return Math.max(0, Math.floor((capacity - SLOTS_START) / SLOT_COUNT)) & -SLOT_ALIGN;
}

/** Bytes of payload that a slot takes at the most; below 0 if there are no slots. */
export function slotPayloadMax(capacity: number): number {
  return slotBytes(capacity) - SLOT_HEADER_BYTES;
}

/** Byte offset of a slot in a data area that starts at `data`. */
export function slotOffset(data: number, capacity: number, slot: number): number {
  return data + SLOTS_START + slot * slotBytes(capacity);
}

/**
 * The slot that an exchange of LATEST brought.
 * @param given the slot that was given away by it, which cannot have been in the middle (L1)
 * @throws LayoutError if the other side has written there what it never may
 */
export function slotTaken(word: number, given: number): number {
  const slot = word & MIDDLE;
  if ((word & ~(FRESH | MIDDLE)) !== 0 || slot === MIDDLE || slot === given) {
    throw new LayoutError(`Cannot exchange slots: LATEST is ${word} while slot ${given} is ours`, { value: word });
  }
  return slot;
}
