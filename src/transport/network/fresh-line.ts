// A line of which nobody knows yet what it is for: it is read up to the end of the first frame, which says, and kept from there on until somebody has it.
import { LayoutError } from '../../errors.ts';
import { STREAM_FIELDS_BYTES_MAX } from '../../limits.ts';
import * as frames from '../stream/frames.ts';
import { type Greeting, greetingOf, noCommonTongue } from '../stream/greeting.ts';
import { joined } from '../stream/joined.ts';
import type { Line, LineUser } from './line.ts';

/** What a line begins with. */
export interface FirstWords {
  /** `undefined` where it is no HELLO, or one that a connection refuses: it says why, if it is given what has come. */
  readonly greeting: Greeting | undefined;
  /** Bytes of the frame. */
  readonly bytes: number;
}

const HELLO_BYTES = frames.BODY_BYTES[frames.HELLO] as number;
const FIRST_BYTES_MAX = frames.FRAME_HEADER_BYTES + HELLO_BYTES + STREAM_FIELDS_BYTES_MAX;

export class FreshLine implements LineUser {
  readonly line: Line;
  #user: LineUser | undefined;
  /** What has come and nobody has. */
  #early: Uint8Array = new Uint8Array(0);
  #first: FirstWords | undefined;
  #told: ((first: FirstWords) => void) | undefined;
  /** Looks at what comes behind those. */
  #toldSecond: (() => void) | undefined;
  #endedFirst: ((error: Error | undefined) => void) | undefined;
  #gone: Parameters<LineUser['closed']> | undefined;

  constructor(line: Line) {
    this.line = line;
    line.connect(this);
  }

  /** Whether it has ended. Who has it was told, or is told as it is given. */
  get ended(): boolean {
    return this.#gone !== undefined;
  }

  /**
   * @param told what it begins with, once that is known
   * @param ended told where it ends before that
   */
  read(told: (first: FirstWords) => void, ended: (error: Error | undefined) => void): void {
    this.#told = told;
    this.#endedFirst = ended;
    this.#look();
    if (this.#gone !== undefined && this.#first === undefined) ended(this.#gone[1]);
  }

  /** @param told the code with which it was refused, where a RESET stands behind its first words; 0 where something else does, or it ends */
  refused(behind: number, told: (code: number) => void): void {
    this.#toldSecond = () => {
      const bytes = this.#early.subarray(behind);
      const whole = frames.frameBytes(bytes) <= bytes.length;
      if (!whole && this.#gone === undefined) return;
      const [head, , code] = wordsOf(bytes, 12) as unknown as [number, number, number];
      this.#toldSecond = undefined;
      told(whole && frames.typeOf(head) === frames.RESET ? code : 0);
    };
    this.#toldSecond();
  }

  /** What comes is this user's from here on, and what has come from `from` on, or that it has ended. */
  give(user: LineUser, from = 0): void {
    this.#user = user;
    this.#told = undefined;
    const early = this.#early.subarray(from);
    this.#early = early.subarray(early.length);
    if (early.length > 0) user.received(early);
    if (this.#gone !== undefined) user.closed(...this.#gone);
  }

  received(bytes: Uint8Array): void {
    if (this.#user !== undefined) {
      this.#user.received(bytes);
      return;
    }
    this.#early = joined([this.#early, bytes]);
    this.#look();
    this.#toldSecond?.();
    // It is being decided about, and nobody honest says more before it has the answer.
    if (this.#user === undefined && this.#early.length > FIRST_BYTES_MAX) this.line.destroy();
  }
  drained(): void {
    this.#user?.drained();
  }
  closed(...how: Parameters<LineUser['closed']>): void {
    this.#gone = how;
    if (this.#user !== undefined) this.#user.closed(...how);
    else if (this.#first === undefined) this.#endedFirst?.(how[1]);
    else this.#toldSecond?.();
  }

  #look(): void {
    const told = this.#told;
    this.#first ??= firstWords(this.#early);
    if (this.#first === undefined || told === undefined) return;
    this.#told = undefined;
    told(this.#first);
  }
}

/** What it begins with; `undefined` as long as that is not whole. */
export function firstWords(bytes: Uint8Array): FirstWords | undefined {
  const none = { greeting: undefined, bytes: 0 };
  if (bytes.length < frames.FRAME_HEADER_BYTES) return undefined;
  const [head, channel] = wordsOf(bytes, frames.FRAME_HEADER_BYTES) as unknown as [number, number];
  const length = frames.lengthOf(head);
  const fits = length >= HELLO_BYTES && length <= HELLO_BYTES + STREAM_FIELDS_BYTES_MAX;
  if (frames.typeOf(head) !== frames.HELLO || channel !== 0 || !fits) return none;
  const size = frames.FRAME_HEADER_BYTES + length;
  if (bytes.length < size) return undefined;
  const words = wordsOf(bytes, size).subarray(frames.FRAME_HEADER_BYTES >>> 2);
  try {
    return noCommonTongue(words, 0) === undefined ? { greeting: greetingOf(words), bytes: size } : none;
  } catch (error) {
    if (error instanceof LayoutError) return none;
    throw error;
  }
}

/** @param length with zeros behind what there is */
function wordsOf(bytes: Uint8Array, length: number): Int32Array {
  const words = new Int32Array((length + 3) >>> 2);
  new Uint8Array(words.buffer).set(bytes.subarray(0, length));
  return words;
}
