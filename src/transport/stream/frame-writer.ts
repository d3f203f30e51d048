// Writes frames on a byte stream, each with one `write`, but for the first ones. Silent once the connection is over. When the medium has enough for now,
// whoever has records to send finds no room, and waits here; what must be said is said all the same.
import { STREAM_TEXT_BYTES_MAX } from '../../limits.ts';
import { CLOSE_CODES } from '../../memory/layout.ts';
import type { EndReason } from '../../outcome.ts';
import type { ChannelTerms } from './channel.ts';
import type { ByteStream } from './connection.ts';
import * as frames from './frames.ts';
import { joined } from './joined.ts';
import { type CrashTold, type Goodbye, goodbyeWords } from './last-words.ts';

const NO_TEXT: Uint8Array = /* @__PURE__ */ new Uint8Array(0);

/** Has records that are still to become a frame. */
export interface Gathering {
  publish(): void;
}

export class FrameWriter {
  /** Nothing is to be said any more. */
  over = false;
  /** The medium has enough for now. */
  full = false;
  /** Bytes said since then in answer to what came. */
  owed = 0;
  /** What is said now answers what came. ACCEPT, RESET and frames of features always may, also in a turn of their own. */
  answers = false;
  /** Nobody comes back when the medium has room: it takes what there is. */
  last = false;
  /** A write was not finished, as where the stack had ended: nobody knows what of it is out, and nothing behind it could be read. */
  torn = false;
  /** What the medium threw then. */
  tornBy: unknown;
  /** The medium is being given something. */
  writing = false;
  /** What was said before the greeting, which it waits for; undefined once all of it is out. */
  #early: Uint8Array[] | undefined = [];
  /** So many of these are out. */
  #earlyOut = 0;
  readonly #medium: Pick<ByteStream, 'write' | 'beforeWrite'>;
  readonly #whenTorn: () => void;
  /** Whose records of this turn wait for more of it. All that is said comes behind them. */
  #gathering: Gathering | undefined;
  readonly #endOfTurn = (): void => this.#settle();
  readonly #words = new Int32Array((frames.FRAME_HEADER_BYTES + frames.CONTROL_BYTES_MAX) >>> 2);
  readonly #bytes = new Uint8Array(this.#words.buffer);

  /** @param whenTorn called in a turn of its own once nothing can be said any more, because a write was not finished */
  constructor(medium: Pick<ByteStream, 'write' | 'beforeWrite'>, whenTorn: () => void = () => {}) {
    this.#medium = medium;
    this.#whenTorn = whenTorn;
  }

  /** Whether what `records` has gathered may wait for what this turn adds to it: it is published at its end, or before anything else is said. */
  gathers(records: Gathering): boolean {
    if (this.#gathering === records) return true;
    this.#settle();
    const { beforeWrite } = this.#medium;
    // Inside a write of the medium nobody knows whether it has asked already.
    if (beforeWrite === undefined || this.writing || this.torn || this.#early !== undefined) return false;
    if (!this.#medium.beforeWrite?.(this.#endOfTurn)) return false;
    this.#gathering = records;
    return true;
  }
  #settle(): void {
    const records = this.#gathering;
    this.#gathering = undefined;
    records?.publish();
  }

  /** A whole frame that somebody else has made. */
  whole(frame: Uint8Array): void {
    if (this.#gathering !== undefined) this.#settle();
    if (this.over) return;
    if (this.#early !== undefined) this.#early.push(frame.slice());
    else this.#out(frame);
  }
  #out(frame: Uint8Array): void {
    if (this.torn) {
      queueMicrotask(this.#whenTorn);
      return;
    }
    const before = this.writing;
    this.writing = true;
    try {
      if (!this.#medium.write(frame)) this.full = !this.last;
    } catch (error) {
      // It is thrown at nobody: who reads, or looks whether there is room, has not called the medium, and often nobody has.
      this.torn = true;
      this.tornBy = error;
      queueMicrotask(this.#whenTorn);
    } finally {
      this.writing = before;
    }
  }
  /** @param name its bytes */
  open(channel: number, { window, messageMax, texts, textBytes }: ChannelTerms, flags: number, name: Uint8Array): void {
    this.#frame(frames.OPEN, channel, [window, messageMax, texts, textBytes, flags, name.length], name);
  }
  accept(channel: number, { window, messageMax, texts, textBytes }: ChannelTerms, flags: number): void {
    this.#frame(frames.ACCEPT, channel, [window, messageMax, texts, textBytes, flags, 0]);
  }
  ack(channel: number, taken: number, limit: number, received: number, relearns: number, beside: number): void {
    const positions = [...wordsOf(taken), ...wordsOf(limit)];
    this.#frame(frames.ACK, channel, [...positions, received, relearns, beside, 0]);
  }
  ask(channel: number, position: number): void {
    this.#frame(frames.ASK, channel, wordsOf(position));
  }
  interrupt(channel: number, word: number): void {
    this.#frame(frames.INTERRUPT, channel, [word, 0]);
  }
  close(channel: number, reason: EndReason, received: number): void {
    this.#frame(frames.CLOSE, channel, [CLOSE_CODES[reason], received]);
  }
  /** @param channel 0: the connection */
  reset(channel: number, code: number, text: string): void {
    const bytes = frames.textBytes(text, STREAM_TEXT_BYTES_MAX);
    this.#frame(frames.RESET, channel, [code, bytes.length], bytes);
  }
  goodbye(goodbye: Goodbye, told: CrashTold): void {
    this.#frame(frames.GOODBYE, 0, ...goodbyeWords(goodbye, told));
  }
  leaving(timeMs: number, text: string): void {
    const bytes = frames.textBytes(text, STREAM_TEXT_BYTES_MAX);
    this.#frame(frames.LEAVING, 0, [timeMs, bytes.length], bytes);
  }
  /** The first frame of all: what was said before follows it. Neither goes out before `flush`. */
  hello(words: readonly number[], fields: Uint8Array): void {
    const before = this.#early?.splice(0) ?? [];
    this.#frame(frames.HELLO, 0, words, fields);
    this.#early?.push(...before);
  }
  /** What was said so far goes out. Also inside itself, where a medium hands over an answer in the middle of what it is given. */
  flush(): void {
    const early = this.#early;
    if (early === undefined) return;
    // With one write: who is refused is to learn it together with the greeting. What is said meanwhile goes behind.
    while (this.#earlyOut < early.length) {
      const frames = early.slice(this.#earlyOut);
      this.#earlyOut = early.length;
      this.#out(joined(frames));
    }
    this.#early = undefined;
  }
  /** What a feature has to say. It may be an answer, and nobody here knows. */
  feature(type: number, channel: number, words: ArrayLike<number>): void {
    this.#frame(type, channel, words);
  }
  ping(low: number, high: number): void {
    this.#frame(frames.PING, 0, [low, high]);
  }
  pong(low: number, high: number): void {
    this.#frame(frames.PONG, 0, [low, high]);
  }

  #frame(type: number, channel: number, body: ArrayLike<number>, text: Uint8Array = NO_TEXT): void {
    // The words below are had by one frame at a time.
    if (this.#gathering !== undefined) this.#settle();
    if (this.over) return;
    const length = (body.length * 4 + text.length + 7) & -8;
    const at = frames.FRAME_HEADER_BYTES + body.length * 4;
    this.#words[0] = frames.frameHead(type, length);
    this.#words[1] = channel;
    this.#words.set(body, frames.FRAME_HEADER_BYTES >>> 2);
    this.#bytes.set(text, at);
    this.#bytes.fill(0, at + text.length, frames.FRAME_HEADER_BYTES + length);
    const answers = this.answers || type === frames.ACCEPT || type === frames.RESET || type >= frames.FEATURE_TYPES;
    if (this.full && answers) this.owed += frames.FRAME_HEADER_BYTES + length;
    this.whole(this.#bytes.subarray(0, frames.FRAME_HEADER_BYTES + length));
  }
}

function wordsOf(position: number): readonly [low: number, high: number] {
  return [frames.lowWord(position), frames.highWord(position)];
}
