// What a direction needs of the medium under it: somewhere to put records, and somewhere to take them from. The ring's
// Producer and Consumer are such ends (ring-records.ts), and so are the two ends of a byte stream (transport/stream/).
//
// A record is a header of eight bytes and a payload (frame/header.ts). A position counts the bytes of records since the
// lane was opened, and does not wrap; what it counts beside them (pads) is the medium's own affair.
import type { Views } from '../memory/region.ts';

/** Where records go. One claim may be open at a time. Never blocks. */
export interface RecordSink {
  /** Views over what the open claim lies in: another one may lie elsewhere. */
  readonly views: Views;
  /** Bytes of records that may be under way at the most. */
  readonly capacity: number;
  /** Bytes of payload that one record takes at the most. A claim of so much succeeds once nothing is under way. */
  readonly maxPayload: number;
  /** Payload bytes of the open claim. */
  readonly claimed: number;
  /**
   * Claims what room there is: `wanted` bytes if they can be had at once, more if there is more, less if there is less;
   * returns the byte offset of the payload in `views`, or FULL when there is none to speak of.
   * @param limit bytes at the most
   * @throws LayoutError if what the other side wrote makes no sense
   */
  claimUpTo(wanted: number, limit: number): number;
  /** Claims exactly `length` bytes: their offset, or FULL. @throws LayoutError */
  tryClaim(length: number): number;
  /** Bytes that `tryClaim` would grant: `wanted` of them if possible; below 0 when not even a header fits. @throws LayoutError */
  claimable(wanted: number): number;
  /** Makes `length` bytes of the claim a record. */
  commit(length: number, kind: number): void;
  /** Gives the claim up. */
  abort(): void;
  /** Makes what was committed visible now, also inside `cork`, and wakes who waits for it. */
  publish(): void;
  /** Publishes what `body` commits together, at its end. */
  cork<R>(body: () => R): R;

  /** Behind the last committed record. */
  readonly position: number;
  /** Whether the reader has taken over everything before `position`. Looks anew. @throws LayoutError */
  releasedUpTo(position: number): boolean;
  /** Takes note of what the reader has given back; only more than that is progress. @throws LayoutError */
  lookAtHead(): void;
  /** Whether the reader has given anything back since the last look that found too little. */
  readonly headMoved: boolean;
  /** What to sleep for when any progress will do. */
  readonly untaken: number;
}

/** Where records come from. The bytes of one that was advanced over stay as they are until `release`. */
export interface RecordSource {
  readonly views: Views;
  readonly capacity: number;
  /** Payload bytes, and kind with its flags, of the record that `peek` found last. */
  readonly length: number;
  readonly kind: number;
  /** Whether a record may be there. Looks anew. @throws LayoutError */
  readonly ready: boolean;
  /** Whether everything that was there at the last look was advanced over. */
  readonly caughtUp: boolean;
  /** Bytes advanced over and not released. */
  readonly held: number;
  /** Byte offset in `views` of the next record's payload, or NONE. The same one until `advance`. @throws LayoutError */
  peek(): number;
  advance(): void;
  /** Everything advanced over is out, as far as `flush` is concerned. `release` says so, too. */
  tell(): void;
  /** Gives back the room of everything advanced over. */
  release(): void;
}

/** What the two sides of a lane tell each other beside its records, and what is counted: the sender's part. */
export interface OutboundNotes {
  /** Requests of the reader to be taught anew. */
  readonly relearns: number;
  /** Values that the reader has taken from beside the lane. */
  readonly besideTaken: number;
  sent(): void;
  stalled(): void;
  outbox(drops: number, peak: number): void;
}

/** The reader's part. */
export interface InboundNotes {
  askToRelearn(): void;
  /** All values before `number` were taken from beside the lane, or let go. */
  besideTaken(number: number): void;
  received(): void;
  undecodable(): void;
}
