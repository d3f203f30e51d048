// The writing end of a triple buffer. Never sleeps, never allocates, never finds it full.
// Invariants L1 to L5 stand at the top of latest-slots.ts.
import { LayoutError } from '../errors.ts';
import { LATEST } from '../memory/layout.ts';
import type { LaneMemory } from '../memory/region.ts';
import {
  BACK_FIRST,
  FRESH,
  KIND,
  LENGTH,
  SIDE_BEFORE,
  SLOT_COUNT,
  SLOT_HEADER_BYTES,
  slotOffset,
  slotPayloadMax,
  slotTaken,
} from './latest-slots.ts';
import type { Bell } from './producer.ts';

const SILENT: Bell = { ring(): void {} };

export class LatestProducer {
  /** Bytes of payload that one message takes at the most. */
  readonly maxPayload: number;
  readonly #words: Int32Array;
  readonly #data: number;
  readonly #capacity: number;
  readonly #latest: number;
  readonly #bell: Bell;
  #back: number = BACK_FIRST;

  /**
   * Takes the producer's role on a lane whose first record is KIND_LATEST. One per lane, in one thread.
   * @param bell told after each publication, so that a sleeping consumer can be woken
   * @throws LayoutError if the data area is too small for three slots
   */
  constructor(lane: Pick<LaneMemory, 'words' | 'block' | 'data' | 'capacity'>, bell: Bell = SILENT) {
    this.maxPayload = slotPayloadMax(lane.capacity);
    if (this.maxPayload < 0) throw new LayoutError(`Cannot lay three slots into ${lane.capacity} bytes`);
    this.#words = lane.words;
    this.#data = lane.data;
    this.#capacity = lane.capacity;
    this.#latest = lane.block + LATEST;
    this.#bell = bell;
  }

  /** Number of the slot in which the next message goes. */
  get slot(): number {
    return this.#back;
  }
  /** Goes on for another one, whose slot this was. @throws LayoutError if it can be nobody's */
  resume(slot: number): void {
    if (!(slot >= 0 && slot < SLOT_COUNT)) throw new LayoutError(`Cannot write slot ${slot} of three`, { value: slot });
    this.#back = slot;
  }

  /** Byte offset at which the payload of the next message goes. The bytes behind it are ours until `publish` (L2). */
  get offset(): number {
    return slotOffset(this.#data, this.#capacity, this.#back) + SLOT_HEADER_BYTES;
  }

  /**
   * Makes what was written at `offset` the newest message. Never blocks, never allocates.
   * @param length bytes of payload, 0..maxPayload
   * @param sideBefore values posted in the side channel before this message
   * @returns whether it replaced one that the consumer had not taken
   * @throws LayoutError if the consumer has written into LATEST what it never may
   */
  publish(length: number, kind: number, sideBefore: number): boolean {
    const header = slotOffset(this.#data, this.#capacity, this.#back) >>> 2;
    this.#words[header + LENGTH] = length;
    this.#words[header + KIND] = kind;
    this.#words[header + SIDE_BEFORE] = sideBefore;
    // SYNC newest-visible: publishes the plain writes of header and payload above; pairs with LatestConsumer.#take.
    // SYNC slot-free: takes over a slot whose reads by the consumer are over; pairs with LatestConsumer.#take.
    const was = Atomics.exchange(this.#words, this.#latest, this.#back | FRESH);
    this.#back = slotTaken(was, this.#back);
    this.#bell.ring();
    return (was & FRESH) !== 0;
  }

  /** Whether the newest message still lies there. Looks anew. */
  get pending(): boolean {
    // SYNC newest-taken: one bit and nothing else; covers no plain access; pairs with LatestConsumer.#take.
    return (Atomics.load(this.#words, this.#latest) & FRESH) !== 0;
  }
}
