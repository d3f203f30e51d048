// What of a stream concerns who resumes it: how far it was heard, the positions that the other side tells, and its last words. It walks from header to header
// beside the connection that reads the frames, and judges none of them.
import * as frames from '../stream/frames.ts';

/** The bit of FEATURES with which a side offers to resume. */
export const RESUMES = 0x10000;
/** The frame that tells how far a side has heard: a position, of two words. */
export const POSITION = 65;
export const POSITION_BYTES = 8;

export interface HeardEvents {
  /** The other side has heard so far. NaN: it says what can be no position. */
  told(position: number): void;
}

export class Heard {
  /** The other side has said its last words, GOODBYE or RESET of the connection. */
  last = false;
  readonly #events: HeardEvents;
  /** A header, and the body of a position. */
  readonly #words = new Int32Array((frames.FRAME_HEADER_BYTES + POSITION_BYTES) >>> 2);
  readonly #bytes = new Uint8Array(this.#words.buffer);
  #filled = 0;
  /** Bytes of body to pass over; -1 while a header, or a position, is coming. */
  #left = -1;
  /** Bytes that have come, and where the other side's HELLO ended; -1 before. */
  #seen = 0;
  #base = -1;

  constructor(events: HeardEvents) {
    this.#events = events;
  }

  /** Bytes behind the other side's HELLO. */
  get position(): number {
    return this.#base < 0 ? 0 : this.#seen - this.#base;
  }

  feed(bytes: Uint8Array): void {
    const before = this.#seen;
    this.#seen += bytes.length;
    for (let at = 0; at < bytes.length; ) {
      if (this.#left < 0) {
        this.#bytes[this.#filled++] = bytes[at++] as number;
        if (this.#filled === frames.FRAME_HEADER_BYTES) this.#header();
        else if (this.#filled === this.#bytes.length) this.#told();
      } else {
        const count = Math.min(this.#left, bytes.length - at);
        this.#left -= count;
        at += count;
      }
      if (this.#left === 0) this.#ends(before + at);
    }
  }
  #header(): void {
    const length = frames.lengthOf(this.#words[0] as number);
    if (!this.#is(POSITION) || length !== POSITION_BYTES) this.#left = length;
  }
  #told(): void {
    const [low, high] = this.#words.subarray(frames.FRAME_HEADER_BYTES >>> 2) as unknown as [number, number];
    this.#left = 0;
    this.#events.told(frames.positionOf(low, high));
  }
  #ends(position: number): void {
    if (this.#base < 0) this.#base = position;
    this.last ||= this.#is(frames.GOODBYE) || this.#is(frames.RESET);
    this.#filled = 0;
    this.#left = -1;
  }
  /** Whether this is a frame of that type, of the connection itself. */
  #is(type: number): boolean {
    return frames.typeOf(this.#words[0] as number) === type && this.#words[1] === 0;
  }
}

/** The frame, whole. */
export function positionFrame(position: number): Uint8Array {
  const words = Int32Array.of(
    ...[frames.frameHead(POSITION, POSITION_BYTES), 0],
    ...[frames.lowWord(position), frames.highWord(position)],
  );
  return new Uint8Array(words.buffer);
}
