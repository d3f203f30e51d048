// The reading end of a triple buffer, in the manner of Consumer: the newest message stands there like a record.
// Invariants L1 to L5 stand at the top of latest-slots.ts; every header word is read once and checked, as I6 wants it.
import { LayoutError } from '../errors.ts';
import { KIND_MASK } from '../frame/header.ts';
import { LATEST } from '../memory/layout.ts';
import type { LaneMemory } from '../memory/region.ts';
import { NONE } from './consumer.ts';
import {
  FRESH,
  FRONT_FIRST,
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

/** Where a reader of the newest message is. */
export interface Newest {
  /** The slot that is its own. */
  readonly slot: number;
  readonly sideBefore: number;
  /** The message in it, if that was not left yet. */
  readonly here: { readonly length: number; readonly kind: number } | undefined;
}

export class LatestConsumer {
  readonly capacity: number;
  /** Payload bytes and kind of the message that `peek` found last. */
  length = 0;
  kind = 0;
  readonly #words: Int32Array;
  readonly #data: number;
  readonly #payloadMax: number;
  readonly #latest: number;
  readonly #bell: Bell;
  readonly #overtaken: (sideBefore: number) => void;
  #front: number = FRONT_FIRST;
  #sideBefore = 0;
  /** The front slot holds a message that `advance` has not left yet. */
  #here = false;
  /** A message was taken, and the producer was not told yet. */
  #untold = false;

  /**
   * Takes the consumer's role on a lane whose first record was KIND_LATEST. One per lane, in one thread.
   * @param bell told by `release` after a message was taken, so that a producer that waits for it can be woken
   * @param overtaken told the number of the first value in the side channel that a message from now on may refer to
   * @throws LayoutError if the data area is too small for three slots
   */
  constructor(
    lane: Pick<LaneMemory, 'words' | 'block' | 'data' | 'capacity'>,
    bell: Bell = SILENT,
    overtaken: (sideBefore: number) => void = () => {},
  ) {
    this.capacity = lane.capacity;
    this.#payloadMax = slotPayloadMax(lane.capacity);
    if (this.#payloadMax < 0) throw new LayoutError(`Cannot find three slots in ${lane.capacity} bytes`);
    this.#words = lane.words;
    this.#data = lane.data;
    this.#latest = lane.block + LATEST;
    this.#bell = bell;
    this.#overtaken = overtaken;
  }

  /** What a reader that goes on for this one, in another thread, must know. */
  get luggage(): Newest {
    const here = this.#here ? { length: this.length, kind: this.kind } : undefined;
    return { slot: this.#front, sideBefore: this.#sideBefore, here };
  }
  /** @throws LayoutError if there can be no such reader */
  resume({ slot, sideBefore, here }: Newest): void {
    if (!(slot >= 0 && slot < SLOT_COUNT)) throw new LayoutError(`Cannot read slot ${slot} of three`, { value: slot });
    this.#front = slot;
    this.#sideBefore = sideBefore;
    if (here === undefined) return;
    if (here.length >>> 0 > this.#payloadMax) throw new LayoutError(`Cannot read ${here.length} bytes of a slot`);
    this.length = here.length;
    this.kind = here.kind;
    this.#here = true;
  }

  /** Whether a message is there. Looks anew. */
  get ready(): boolean {
    return this.#here || (Atomics.load(this.#words, this.#latest) & FRESH) !== 0;
  }

  /**
   * Byte offset of the newest message's payload, or `NONE`. The message is ours from now on (L2): it is found again until
   * `advance`, whatever is published meanwhile. Never blocks, never allocates.
   * @throws LayoutError if what stands there is no message, or LATEST makes no sense
   */
  peek(): number {
    if (!this.#here && !this.#take()) return NONE;
    return slotOffset(this.#data, this.capacity, this.#front) + SLOT_HEADER_BYTES;
  }

  /** Leaves the message that `peek` found. Its bytes stay valid until the next `peek`. */
  advance(): void {
    this.#here = false;
  }

  /** There is nothing between taking and giving back. */
  tell(): void {}

  /** Tells the producer of what was taken. */
  release(): void {
    if (!this.#untold) return;
    this.#untold = false;
    this.#bell.ring();
  }

  /** As in a ring that is always read up to its end: nothing more is there for certain, and nothing is held back. */
  get caughtUp(): boolean {
    return true;
  }
  get held(): number {
    return 0;
  }

  #take(): boolean {
    // Only the consumer takes FRESH away (L3), so it is still set in the exchange.
    if ((Atomics.load(this.#words, this.#latest) & FRESH) === 0) return false;
    // SYNC newest-visible: the plain reads of the slot it brings see what was written there; pairs with
    // LatestProducer.publish.
    // SYNC slot-free: our reads of the slot it gives away are over; pairs with LatestProducer.publish.
    // SYNC newest-taken: FRESH is gone; pairs with LatestProducer.pending.
    const was = Atomics.exchange(this.#words, this.#latest, this.#front);
    this.#front = slotTaken(was, this.#front);
    this.#untold = true;
    const header = slotOffset(this.#data, this.capacity, this.#front) >>> 2;
    const length = this.#words[header + LENGTH] as number;
    const kind = this.#words[header + KIND] as number;
    const sideBefore = this.#words[header + SIDE_BEFORE] as number;
    // A negative length is a huge one here.
    if (length >>> 0 > this.#payloadMax || (kind & ~KIND_MASK) !== 0) {
      throw new LayoutError(`Cannot take the newest message: it claims ${length} bytes of kind ${kind}`, {
        length,
        kind,
        limit: this.#payloadMax,
      });
    }
    this.length = length;
    this.kind = kind;
    this.#here = true;
    if (sideBefore !== this.#sideBefore) {
      this.#sideBefore = sideBefore;
      this.#overtaken(sideBefore);
    }
    return true;
  }
}
