// The writing end of a ring: single producer, byte records, claim and commit. Never sleeps, never allocates.
//
// Invariants (with consumer.ts; positions are 32-bit and wrap, compare them by difference):
// I1. HEAD <= TAIL <= HEAD + capacity, all multiples of 8. TAIL is written by the producer only, HEAD by the consumer
//     only, both with Atomics.
// I2. The consumer reads data bytes below TAIL and not below HEAD; the producer writes data bytes from TAIL on and
//     below HEAD + capacity. So no byte is ever written by one while the other may read it.
//     Where the consumer keeps TAKEN, too (a channel does), the later of the two stands for HEAD in I1 and I2: with each message
//     one of them moves, HEAD at the end of a batch, TAKEN within it, which rings only for a position that somebody awaits.
//     TAKEN never lies more than half a ring behind HEAD: 32 bits say how far, and what is older could pass for what is newer.
// I3. A record never crosses the end of the data area: a pad record fills the rest, and the record starts at 0.
// I4. A record exists once TAIL has passed it. A producer that dies in between leaves nothing behind.
// I5. A claim of at most capacity / 2 bytes, header included, succeeds as soon as the ring is empty, wherever HEAD
//     stands: the pad before it is shorter than the record itself.
import { LayoutError, UsageError } from '../errors.ts';
import { HEADER_BYTES, KIND_BYTES, KIND_PAD, recordBytes } from '../frame/header.ts';
import { HEAD, TAIL, TAKEN } from '../memory/layout.ts';
import type { LaneMemory } from '../memory/region.ts';
import { distance } from './positions.ts';

/** `tryClaim` found no room. */
export const FULL = -1;

/** What a ring tells the other side; the wait room supplies one. */
export interface Bell {
  /** Called after each publication; after a release with what HEAD is now. */
  ring(position?: number): void;
  /** Called after TAKEN has moved to `position`. */
  reached?(position: number): void;
}

// Constants and fields as V8 compiles them best: frame/header.ts and consumer.ts say how.
const HEADER: number = HEADER_BYTES;
const BYTES: number = KIND_BYTES;
/** Bytes below which a claim is not worth an attempt. */
const LEAST = 8;

const SILENT: Bell = { ring(): void {} };

export class Producer {
  declare readonly words: Int32Array;
  declare readonly bytes: Uint8Array;
  readonly capacity: number = 0;
  /** Bytes of payload that one record takes at the most: half the ring, less the header (I5). */
  readonly maxPayload: number = 0;
  readonly #data: number = 0;
  readonly #mask: number = 0;
  readonly #tailWord: number = 0;
  readonly #headWord: number = 0;
  /** Where the consumer says what it has taken: TAKEN, or HEAD if it does not keep that. */
  readonly #takenWord: number = 0;
  readonly #bell: Bell;
  /** Position after the last committed record, and after a pad that a claim left behind it. */
  #tail = 0;
  /** Position after the last committed record. */
  #committed = 0;
  /** What TAIL holds: the part of `#tail` that the consumer may see. */
  #published = 0;
  /** HEAD or TAKEN as last seen, whichever was later; the real TAKEN is at or past it. */
  #seen = 0;
  /** The same without wrapping: bytes since the ring was made, or a multiple of 2^32 fewer. Exact up to 2^53. */
  #seenTotal = 0;
  /** Up to here everything is free for certain, in one piece. */
  #end = 0;
  /** Payload bytes of the open claim, or -1. */
  #claimed = -1;
  /** Unpublished bytes from which on a commit publishes by itself; 0: every commit does. */
  #gatherBytes = 0;

  /**
   * Takes the producer's role on a lane. One per lane, in one thread; a second one corrupts it.
   * @param bell told after each publication, so that a sleeping consumer can be woken
   * @param exact whether the consumer keeps TAKEN
   */
  constructor(lane: LaneMemory, bell: Bell = SILENT, exact = false) {
    this.words = lane.words;
    this.bytes = lane.bytes;
    this.capacity = lane.capacity;
    this.maxPayload = Math.floor(lane.capacity / 2) - HEADER;
    this.#data = lane.data;
    this.#mask = lane.capacity - 1;
    this.#tailWord = lane.block + TAIL;
    this.#headWord = lane.block + HEAD;
    this.#takenWord = lane.block + (exact ? TAKEN : HEAD);
    this.#bell = bell;
    this.#tail = Atomics.load(lane.words, this.#tailWord);
    this.#published = this.#tail;
    this.#committed = this.#tail;
    this.#end = this.#tail;
    this.#seen = Atomics.load(lane.words, this.#takenWord);
    this.#seenTotal = this.#seen >>> 0;
    if ((this.#tail & 7) !== 0) throw new LayoutError(`Cannot produce: TAIL ${this.#tail} is not a multiple of 8`);
  }

  /**
   * Reserves room for one record and returns the byte offset where its payload starts, or `FULL` (-1).
   * Producer thread only; at most one claim may be open. Never blocks, never allocates. The bytes belong to the caller
   * until `commit` or `abort`; they hold whatever an earlier record left there.
   *
   * @param length payload bytes, 0..maxPayload
   * @throws UsageError ERR_TOO_LARGE if `length` exceeds `maxPayload`, ERR_CLAIM if a claim is open; nothing changed
   * @throws LayoutError if the consumer's position makes no sense
   * @see docs/protocol/memory-layout.md; claim and commit follow Agrona's RingBuffer.tryClaim
   */
  tryClaim(length: number): number {
    if (this.#claimed !== -1) throw claimOpen();
    if (!(length >= 0 && length <= this.maxPayload)) throw tooLarge(length, this.maxPayload);
    const need = recordBytes(length);
    if (need > distance(this.#tail, this.#end) && !this.#makeRoom(need)) return FULL;
    this.#claimed = length;
    return this.#data + (this.#tail & this.#mask) + HEADER;
  }

  /** Payload bytes of the open claim; below 0 without one. */
  get claimed(): number {
    return this.#claimed;
  }

  /**
   * Claims room for a payload whose length is not known yet: what `claimable(wanted)` says, at most `limit` bytes. Returns its
   * offset, or `FULL` when there are not even 8 bytes; `claimed` tells how many, of which `commit` takes those really used.
   * @throws as tryClaim
   */
  claimUpTo(wanted: number, limit: number): number {
    if (this.#claimed !== -1) throw claimOpen();
    // What lies in one piece is free for certain; only when that is too little does anybody look.
    let room = distance(this.#tail, this.#end) - HEADER;
    if (room < wanted) room = this.claimable(wanted);
    if (room > this.maxPayload) room = this.maxPayload;
    if (room > limit) room = limit;
    return room < LEAST ? FULL : this.tryClaim(room);
  }

  /**
   * Payload bytes that `tryClaim` would grant now: the longest stretch if it is at least `wanted`, before the end of
   * the data area if that will do, else behind a pad at its start. Below 0 when not even a header fits. For writers
   * that do not know their length beforehand: claim this much, commit what was used.
   */
  claimable(wanted: number): number {
    let stretch = this.#stretch(wanted);
    if (stretch < wanted) {
      // As far as the consumer has come at all: a stretch depends on more than the sum of what is free.
      this.#refresh(this.capacity + 1);
      stretch = this.#stretch(wanted);
      if (stretch < wanted) this.publish();
    }
    return Math.min(stretch, this.maxPayload);
  }

  /**
   * Ends the claim: the record is now part of the ring, and visible to the consumer unless corked.
   * @param length payload bytes really used, at most those claimed
   * @param kind what the payload is (frame/header.ts), flags included
   * @throws UsageError ERR_CLAIM without an open claim, ERR_TOO_LARGE past it (the claim stays open)
   */
  commit(length: number = this.#claimed, kind: number = BYTES): void {
    if (!(length >= 0 && length <= this.#claimed)) {
      throw this.#claimed === -1 ? noClaim() : tooLarge(length, this.#claimed);
    }
    const header = (this.#data + (this.#tail & this.#mask)) >>> 2;
    this.words[header] = length;
    this.words[header + 1] = kind | 0;
    this.#tail = (this.#tail + recordBytes(length)) | 0;
    this.#committed = this.#tail;
    this.#claimed = -1;
    if (distance(this.#published, this.#tail) >= this.#gatherBytes) this.publish();
  }

  /** Gives the open claim up. At most a pad stays behind, which the consumer never sees as a record. */
  abort(): void {
    if (this.#claimed === -1) throw noClaim();
    this.#claimed = -1;
  }

  /**
   * Publishes the records committed inside `body` together, with one wake-up, when it ends, also by a throw; earlier
   * only when a quarter of the ring has filled up. May nest.
   */
  cork<R>(body: () => R): R {
    const before = this.#gatherBytes;
    this.#gatherBytes = Math.max(before, this.capacity / 4);
    try {
      return body();
    } finally {
      // Before any call: where the stack has ended, later commits are published all the same, and what has gathered with them.
      this.#gatherBytes = before;
      if (distance(this.#published, this.#tail) >= before) this.publish();
    }
  }

  /**
   * From now on commits are published when `bytes` have gathered, or by `publish`; 0, as at the start, publishes each.
   * What has gathered already is published if it reaches the new number. For batches that are not one function call.
   * A claim that finds the ring full publishes too: a consumer that sees nothing of it would never make room.
   * @returns the number that was in force before
   */
  gather(bytes: number): number {
    const before = this.#gatherBytes;
    this.#gatherBytes = bytes;
    if (distance(this.#published, this.#tail) >= bytes) this.publish();
    return before;
  }

  /** Makes everything committed visible now, corked or not, and wakes a consumer that announced its sleep. */
  publish(): void {
    if (this.#published === this.#tail) return;
    this.#published = this.#tail;
    // SYNC record-visible: publishes the plain writes of header and payload above; pairs with Consumer.tryNext.
    Atomics.store(this.words, this.#tailWord, this.#tail);
    this.#bell.ring();
  }

  /**
   * Bytes up to the end of the last committed record, which unlike the positions in shared memory never wrap;
   * `releasedUpTo` tells when the consumer has passed them. A pad that an aborted claim left does not count: nobody passes
   * it before there is something behind it.
   */
  get position(): number {
    return this.#total - distance(this.#committed, this.#tail);
  }
  get #total(): number {
    return this.#seenTotal + distance(this.#seen, this.#tail);
  }

  /** Whether the consumer has released anything since the last look that found too little. */
  get headMoved(): boolean {
    return ((Atomics.load(this.words, this.#headWord) - this.#seen) | 0) > 0;
  }

  /** What to sleep for when any progress at all will do: the first position that was not taken when we last looked. */
  get untaken(): number {
    return this.#seen + 1;
  }

  /**
   * Bytes that are free, headers and pads included; what is left of `capacity` the consumer has not given back. Looks anew. A record
   * lies in one piece: `claimable` says how long one may be.
   * @throws LayoutError if the consumer's position makes no sense
   */
  get available(): number {
    this.#refresh(this.capacity);
    return this.#free;
  }

  /**
   * Looks at the consumer's position anew.
   * @throws LayoutError if it makes no sense
   */
  lookAtHead(): void {
    this.#refresh(0);
  }

  /**
   * Whether the consumer has taken, where it keeps TAKEN, or else released everything before `position`. Looks anew.
   * However much was committed since: what is not taken is less than a ring, so that its distance tells.
   * @throws LayoutError if the consumer's position makes no sense
   */
  releasedUpTo(position: number): boolean {
    // SYNC taken: what the consumer took before is out; pairs with Consumer.tell.
    if (this.#passedBy(this.#takenWord, position)) return true;
    // SYNC room-visible: and what it released is, too; pairs with Consumer.release.
    return this.#headWord !== this.#takenWord && this.#passedBy(this.#headWord, position);
  }
  #passedBy(word: number, position: number): boolean {
    return this.#total - distance(this.#later(Atomics.load(this.words, word)), this.#tail) >= position;
  }

  #stretch(wanted: number): number {
    const index = this.#tail & this.#mask;
    const free = this.#free;
    const room = this.capacity - index;
    if (free <= room) return free - HEADER;
    const before = room - HEADER;
    const behind = free - room - HEADER;
    // tryClaim takes the stretch before the end whenever the length fits there, so a stretch behind the pad is on
    // offer only if it is longer.
    return before >= wanted || behind <= before ? before : behind;
  }

  /** Moves `#end` on, and the tail past a pad where that is needed, so that `need` bytes lie between the two. */
  #makeRoom(need: number): boolean {
    const index = this.#tail & this.#mask;
    const room = this.capacity - index;
    const total = need > room ? room + need : need;
    if (this.#free < total && !this.#refresh(total)) {
      // A consumer that sees nothing of a full ring would never make room in it.
      this.publish();
      return false;
    }
    if (need > room) {
      const pad = (this.#data + index) >>> 2;
      this.words[pad] = room;
      this.words[pad + 1] = KIND_PAD;
      this.#tail = (this.#tail + room) | 0;
    }
    this.#end = (this.#tail + Math.min(this.#free, this.capacity - (this.#tail & this.#mask))) | 0;
    return true;
  }

  /** Bytes that were free when we last looked. */
  get #free(): number {
    return this.capacity - distance(this.#seen, this.#tail);
  }

  /** Reads HEAD anew, and TAKEN if that is too little; whether `total` bytes fit now. */
  #refresh(total: number): boolean {
    // SYNC room-visible: after this load the consumer's reads of the released bytes are over (I2); pairs with
    // Consumer.release.
    if (this.#passed(Atomics.load(this.words, this.#headWord)) >= total) return true;
    if (this.#takenWord === this.#headWord) return false;
    // SYNC taken: the same for what was taken and not given back yet; pairs with Consumer.tell.
    return this.#passed(Atomics.load(this.words, this.#takenWord)) >= total;
  }

  /** The consumer has passed `position`; how many bytes are free then. */
  #passed(position: number): number {
    const later = this.#later(position);
    this.#seenTotal += distance(this.#seen, later);
    this.#seen = later;
    return this.#free;
  }

  /**
   * A position of the consumer's, or what we have seen already if that is later: HEAD lies behind TAKEN by a batch, or
   * TAKEN behind HEAD by half a ring at the most.
   * @throws LayoutError if it makes no sense
   */
  #later(position: number): number {
    const used = distance(position, this.#tail);
    const fits = used <= this.capacity;
    if ((position & 7) !== 0 || (!fits && distance(position, this.#seen) > this.capacity)) {
      throw new LayoutError(`Cannot produce: HEAD ${position} and TAIL ${this.#tail} lie ${used} bytes apart`, {
        position,
        limit: this.capacity,
      });
    }
    return fits && used < distance(this.#seen, this.#tail) ? position : this.#seen;
  }
}

function claimOpen(): UsageError {
  return new UsageError('ERR_CLAIM', 'Cannot claim: the last claim was neither committed nor aborted');
}
function noClaim(): UsageError {
  return new UsageError('ERR_CLAIM', 'Cannot commit or abort: no claim is open');
}
function tooLarge(length: number, limit: number): UsageError {
  return new UsageError('ERR_TOO_LARGE', `Cannot claim ${String(length)} bytes: a record takes 0 to ${limit}`, {
    length,
    limit,
  });
}
