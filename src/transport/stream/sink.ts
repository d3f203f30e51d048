// Records that go over a byte stream: written one behind the other into a frame, which is handed over when they are published.
// How far it may write, the reader says (LIMIT, a credit in bytes); what was taken over, too (TAKEN). How much memory a frame may
// take, this side says: a reader's word costs nobody else any. It is had from the first claim to the write: channels take turns.
//
// Invariants (with source.ts):
// B1. taken <= position <= limit, and limit never exceeds taken by more than the reader keeps memory for.
// B2. limit and taken never fall: an ACK that would have them fall is damage.
import { HEADER_BYTES, RECORD_ALIGN, recordBytes } from '../../frame/header.ts';
import type { RecordSink } from '../../lane/records.ts';
import { STREAM_GATHER_BYTES } from '../../limits.ts';
import type { Views } from '../../memory/region.ts';
import { scratch } from '../../memory/scratch.ts';
import { FULL } from '../../ring/producer.ts';
import { DATA, FRAME_HEADER_BYTES, frameHead } from './frames.ts';

/** Bytes of payload below which a claim is not worth an attempt. */
const LEAST = 8;

/** What is to be known of the medium, with each message: an object's own field. */
export interface MediumRoom {
  /** It has enough for now. */
  readonly full: boolean;
  /** What was to go out may be cut off in the middle: it takes nothing more. */
  torn: boolean;
  /** Whether what was committed may wait for more of this turn; it is published then. */
  gathers(records: Pick<StreamSink, 'publish'>): boolean;
}

export class StreamSink implements RecordSink {
  /** Bytes of records in a frame at the most: no more than the credit; 0 until that is known. */
  capacity = 0;
  maxPayload = 0;
  /** Behind the last record that was committed. */
  position = 0;
  claimed = -1;
  /** The channel's number. */
  #number = 0;
  readonly #frameMax: number;
  readonly #medium: MediumRoom;
  readonly #foundNone: () => void;
  readonly #write: (frame: Uint8Array) => void;
  /** A frame's header, and behind it the records that it will have; while there is a claim, or something has gathered. */
  #views: Views | undefined;
  /** Where the frame at hand begins there: not at 0 where others were handed over while a value was being written behind them. */
  #begin = 0;
  /** Bytes of records committed and not handed over yet. */
  #gathered = 0;
  /** Gathered bytes from which on a commit hands over by itself. */
  #gatherBytes = 0;
  /** What the reader keeps memory for. */
  #window = 0;
  #limit = 0;
  #limitSeen = 0;
  #taken = 0;
  /** The last look that found too little found the medium full. */
  #foundFull = false;

  /**
   * @param frameMax bytes of records in a frame at the most
   * @param foundNone called when a look has found the medium full
   * @param write hands a frame over; it is the sink's again when it returns
   */
  constructor(frameMax: number, medium: MediumRoom, foundNone: () => void, write: (frame: Uint8Array) => void) {
    this.#frameMax = frameMax;
    this.#medium = medium;
    this.#foundNone = foundNone;
    this.#write = write;
  }

  /** The reader takes part in the channel of this number, and keeps memory for `window` bytes, the first credit. */
  begin(number: number, window: number): void {
    this.#number = number;
    this.#window = window;
    this.capacity = Math.min(window, this.#frameMax);
    this.maxPayload = Math.floor(this.capacity / 2) - HEADER_BYTES;
    this.#limit = window;
  }

  get views(): Views {
    this.#views ??= scratch.take(this.capacity);
    return this.#views;
  }
  #letGoOf(views: Views): void {
    // What was asked for counts as used: it is for many small records, and is not to be had anew for each.
    scratch.give(views, this.capacity);
  }

  claimUpTo(wanted: number, limit: number): number {
    const room = Math.min(this.claimable(wanted), limit);
    // What is longer than so short a limit is not without room: its sender is to find out.
    return room < Math.min(LEAST, limit) ? FULL : this.tryClaim(room);
  }

  tryClaim(length: number): number {
    const need = recordBytes(length);
    if (need > this.#room && this.#lackOf(need)) return FULL;
    this.claimed = length;
    return this.#end + HEADER_BYTES;
  }

  claimable(wanted: number): number {
    const need = recordBytes(wanted);
    if (need > this.#room) this.#lackOf(need);
    return Math.min(this.#room - HEADER_BYTES, this.maxPayload);
  }

  commit(length: number, kind: number): void {
    const { words, bytes } = this.views;
    const at = this.#end;
    words[at >>> 2] = length;
    words[(at >>> 2) + 1] = kind | 0;
    const end = at + recordBytes(length);
    // What stood there before is nobody's business.
    for (let i = at + HEADER_BYTES + length; i < end; i++) bytes[i] = 0;
    this.position += end - at;
    this.#gathered += end - at;
    this.claimed = -1;
    if (this.#gathered < this.#gatherBytes) return;
    if (this.#gathered >= STREAM_GATHER_BYTES || !this.#medium.gathers(this)) this.publish();
  }

  abort(): void {
    this.claimed = -1;
    const views = this.#views;
    if (views === undefined || this.#gathered > 0) return;
    this.#views = undefined;
    this.#begin = 0;
    this.#letGoOf(views);
  }

  publish(): void {
    const bytes = this.#gathered;
    if (bytes === 0) return;
    const { views } = this;
    const begin = this.#begin;
    const end = this.#end;
    // A getter of a value that is being written calls: it goes on in this memory, which nobody else may have, and where it is, as a frame of its own.
    const writes = this.claimed >= 0;
    views.words[begin >>> 2] = frameHead(DATA, bytes);
    views.words[(begin >>> 2) + 1] = this.#number;
    this.#gathered = 0;
    this.#begin = writes ? begin + bytes : 0;
    // Whoever sends in the middle of the write has another one.
    if (!writes) this.#views = undefined;
    try {
      this.#write(views.bytes.subarray(begin, end));
    } catch (error) {
      // The position has gone on: no other record may stand there. A stack that has ended has room for no call here.
      this.#medium.torn = true;
      throw error;
    }
    if (!writes) this.#letGoOf(views);
  }

  cork<R>(body: () => R): R {
    const before = this.#gatherBytes;
    this.#gatherBytes = Math.max(before, this.capacity / 4);
    try {
      return body();
    } finally {
      this.#gatherBytes = before;
      if (this.claimed < 0 && this.#gathered >= before) this.publish();
    }
  }

  releasedUpTo(position: number): boolean {
    return this.#taken >= position;
  }
  lookAtHead(): void {
    this.#limitSeen = this.#limit;
    this.#foundFull = this.#medium.full;
    if (this.#foundFull) this.#foundNone();
  }
  get headMoved(): boolean {
    return this.#limit > this.#limitSeen || (this.#foundFull && !this.#medium.full);
  }
  get untaken(): number {
    return this.#taken + 1;
  }

  /** The reader has taken everything before `taken`, and takes as much as to `limit`. False: it cannot be. */
  acknowledge(taken: number, limit: number): boolean {
    const fits =
      taken >= this.#taken && taken <= this.position && limit >= this.#limit && limit <= taken + this.#window;
    if (!fits || limit % RECORD_ALIGN !== 0) return false;
    this.#taken = taken;
    this.#limit = limit;
    return true;
  }

  get #room(): number {
    if (this.#medium.full) return 0;
    return Math.min(this.#limit - this.position, this.capacity - this.#end);
  }
  /** Behind what has gathered, in the memory. */
  get #end(): number {
    return this.#begin + FRAME_HEADER_BYTES + this.#gathered;
  }

  /** Whether there is too little room, also once what has gathered is handed over: a reader that sees nothing makes none. */
  #lackOf(need: number): boolean {
    if (this.claimed < 0) this.publish();
    if (need <= this.#room) return false;
    this.lookAtHead();
    return true;
  }
}
