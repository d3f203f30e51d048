// Messages longer than a slot of overflow `latest`: each slot has memory of its own for them, made when it is first needed,
// which changes hands with the slot (invariants L1 and L2 of ring/latest-slots.ts cover it). It grows, and never shrinks: three
// times the longest message, rounded up to a power of two, is what a channel may come to hold.

import { type Encoder, NO_ROOM, REFUSED } from '../codec/codec.ts';
import { UsageError } from '../errors.ts';
import { SLOT_BYTES_FIRST } from '../limits.ts';
import { type Views, viewsOf } from '../memory/region.ts';
import type { AsideEncoder } from './aside-encoder.ts';
import type { Lending } from './lending.ts';
import type { LatestLuggage } from './luggage.ts';

interface Room {
  readonly number: number;
  readonly views: Views;
}

export class SlotGrowth {
  readonly #lending: Pick<Lending, 'lend'> | undefined;
  readonly #encoder: Encoder;
  readonly #aside: AsideEncoder;
  readonly #messageMax: number;
  readonly #rooms: (Room | undefined)[] = [];
  #count = 0;

  /** @param lending none: no message is longer than a slot */
  constructor(lending: Pick<Lending, 'lend'> | undefined, encoder: Encoder, aside: AsideEncoder, messageMax: number) {
    this.#lending = lending;
    this.#encoder = encoder;
    this.#aside = aside;
    this.#messageMax = messageMax;
  }

  /** What was made so far, and what each slot has. */
  get luggage(): Pick<LatestLuggage, 'made' | 'rooms'> {
    const rooms = this.#rooms.flatMap((room, slot) =>
      room === undefined ? [] : [[slot, room.number, room.views.bytes.buffer as SharedArrayBuffer] as const],
    );
    return { made: this.#count, rooms };
  }
  resume({ made, rooms }: Pick<LatestLuggage, 'made' | 'rooms'>): void {
    this.#count = made;
    for (const [slot, number, memory] of rooms) this.#rooms[slot] = { number, views: viewsOf(memory) };
  }

  /** What the reader knows the memory of slot `slot` by. */
  numberOf(slot: number): number {
    return (this.#rooms[slot] as Room).number;
  }

  /**
   * Encodes into the memory of slot `slot`, which must be the writer's own; returns the length, or REFUSED.
   * @throws DataCloneError, UsageError ERR_TOO_LARGE
   */
  encodeInto(slot: number, value: unknown): number {
    const room = this.#rooms[slot]?.views;
    if (room !== undefined) {
      const limit = Math.min(room.bytes.length, this.#messageMax);
      const length = this.#encoder.encodeInto(value, room, 0, limit, false);
      if (length !== NO_ROOM) return length;
    }
    // Only its encoded length tells how much it takes.
    const aside = this.#aside.encode(value, false);
    if (aside === undefined) return REFUSED;
    try {
      this.put(slot, aside.bytes);
      return aside.bytes.length;
    } finally {
      this.#aside.giveBack(aside);
    }
  }

  /** Copies an encoded message into the memory of slot `slot`, which must be the writer's own. @throws as encodeInto */
  put(slot: number, bytes: Uint8Array): void {
    const room = this.#rooms[slot];
    const roomy = room !== undefined && room.views.bytes.length >= bytes.length;
    (roomy ? room : this.#grow(slot, bytes.length)).views.blocks.copyIn(bytes, 0);
  }

  /** The reader is given what is new before anything refers to it; nothing that it may yet read lies in the old one. */
  #grow(slot: number, bytes: number): Room {
    let size = SLOT_BYTES_FIRST;
    while (size < bytes) size *= 2;
    const views = this.#lending?.lend(size, this.#count, slot);
    if (views === undefined) {
      throw new UsageError('ERR_TOO_LARGE', `Cannot send ${bytes} bytes: there is no memory for them`, {
        length: bytes,
        limit: this.#messageMax,
      });
    }
    const room = { number: this.#count++, views };
    this.#rooms[slot] = room;
    return room;
  }
}
