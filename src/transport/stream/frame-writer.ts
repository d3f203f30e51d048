// Writes frames on a byte stream, each with one `write`. Silent once the connection is over.
import { CLOSE_CODES } from '../../memory/layout.ts';
import type { CloseReason } from '../../outcome.ts';
import * as frames from './frames.ts';

export class FrameWriter {
  /** Nothing is to be said any more. */
  over = false;
  readonly #write: (bytes: Uint8Array) => void;
  readonly #words = new Int32Array((frames.FRAME_HEADER_BYTES + frames.CONTROL_BYTES_MAX) >>> 2);
  readonly #bytes = new Uint8Array(this.#words.buffer);

  /** @param write takes bytes, which are ours again when it returns */
  constructor(write: (bytes: Uint8Array) => void) {
    this.#write = write;
  }

  /** A whole frame that somebody else has made. */
  whole(frame: Uint8Array): void {
    if (!this.over) this.#write(frame);
  }
  ack(channel: number, taken: number, limit: number, received: number, relearns: number): void {
    const { lowWord, highWord } = frames;
    this.frame(
      frames.ACK,
      channel,
      lowWord(taken),
      highWord(taken),
      lowWord(limit),
      highWord(limit),
      received,
      relearns,
    );
  }
  ask(channel: number, position: number): void {
    this.frame(frames.ASK, channel, frames.lowWord(position), frames.highWord(position));
  }
  interrupt(channel: number, word: number): void {
    this.frame(frames.INTERRUPT, channel, word, 0);
  }
  close(channel: number, reason: CloseReason, received: number): void {
    this.frame(frames.CLOSE, channel, CLOSE_CODES[reason], received);
  }
  /** @param channel 0: the connection */
  reset(channel: number, code: number = frames.CODE_DAMAGE): void {
    this.frame(frames.RESET, channel, code, 0);
  }

  frame(type: number, channel: number, ...body: number[]): void {
    if (this.over) return;
    this.#words[0] = body.length * 4;
    this.#words[1] = type | (channel << 8);
    this.#words.set(body, frames.FRAME_HEADER_BYTES >>> 2);
    this.#write(this.#bytes.subarray(0, frames.FRAME_HEADER_BYTES + body.length * 4));
  }
}
