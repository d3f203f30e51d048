// Our side of a connection over a byte stream, and a peer of which nothing is true but what the test says, frame by frame.
import { STREAM_FEATURE_BYTES_MAX } from '../../src/limits.ts';
import { Port } from '../../src/port/port.ts';
import type { StreamChannel } from '../../src/transport/stream/channel.ts';
import { type ConnectionOptions, StreamConnection } from '../../src/transport/stream/connection.ts';
import { FrameReader } from '../../src/transport/stream/frame-reader.ts';
import * as frames from '../../src/transport/stream/frames.ts';
import type { Opening } from '../../src/transport/stream/opening.ts';
import { StreamTransport } from '../../src/transport/stream/stream-transport.ts';
import type { Leaving } from '../../src/transport/transport.ts';
import { endOptions } from './stream-pair.ts';

export const WINDOW = 1024;
/** What an honest peer says first. */
export const HELLO: readonly number[] = [frames.STREAM_MAGIC, 1, 1, 0, 4096, 100, 65536, 0, 0, 0, 0, 0, 0, 0];
/** The terms of a channel that takes what ours do. */
export const TERMS: readonly number[] = [WINDOW, 4096, 0, 0];
/** A record of eight bytes of payload that says it is one of kind 1. */
export const RECORD: readonly number[] = [8, 1, 0, 0];

export type Frame = readonly [type: number, channel: number, ...body: number[]];

/** A text as it stands in a frame: its bytes, and the words in which they are. */
export function text(value: string | Uint8Array): readonly [bytes: number, ...words: number[]] {
  const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value;
  const padded = new Uint8Array((bytes.length + 7) & -8);
  padded.set(bytes);
  return [bytes.length, ...new Int32Array(padded.buffer)];
}
export function openFrame(number: number, name = '', terms: readonly number[] = TERMS, flags = 0): Frame {
  return [frames.OPEN, number, ...terms, flags, ...text(name)];
}
export function acceptFrame(number: number, terms: readonly number[] = TERMS): Frame {
  return [frames.ACCEPT, number, ...terms, 0, 0];
}
export function goodbyeFrame(code: number, said = '', bits = 0, status = 0): Frame {
  return [frames.GOODBYE, 0, code, bits, status, ...text(said)];
}
export function leavingFrame(timeMs = 0, said = ''): Frame {
  return [frames.LEAVING, 0, timeMs, ...text(said)];
}
/** Frames in one chunk, as a socket may hand them over. */
export function chunk(...all: readonly Frame[]): Uint8Array {
  return new Uint8Array(
    Int32Array.from(
      all.flatMap(([type, channel, ...body]) => [frames.frameHead(type, body.length * 4), channel, ...body]),
    ).buffer,
  );
}

export class StreamBench {
  /** Frames that came from ours: type, channel and words. Of OPEN the terms and the name, of RESET the code, of GOODBYE and LEAVING the text, of DATA its bytes. */
  readonly heard: string[] = [];
  /** What was said to each RESET. */
  readonly said: string[] = [];
  readonly openings: Opening[] = [];
  readonly connection: StreamConnection;
  readonly left: Leaving[] = [];
  /** What the medium makes of being flushed. */
  whenFlushed: ((timeoutMs: number) => boolean) | undefined;
  /** Called in the middle of `received`. */
  whenOpened: ((opening: Opening) => void) | undefined;
  over: [string, string | undefined] | undefined;
  greeted = 0;
  idle = 0;
  flushed = 0;
  held = 0;
  /** The medium has enough. */
  full = false;
  streamEnded = false;
  readonly #reader: FrameReader;

  constructor(greeting: readonly number[] | null = HELLO, options: Partial<ConnectionOptions> = {}) {
    let channel = 0;
    let data = '';
    this.#reader = new FrameReader(
      {
        control: (type, number, words) => this.#hear(type, number, words),
        dataBegins: (number) => {
          channel = number;
          data = '';
        },
        data: (_, start, end) => {
          data += ` ${end - start}`;
        },
        dataEnds: () => void this.heard.push(`${frames.DATA} ${channel}:${data}`),
      },
      (type) => (type >= frames.FEATURE_TYPES ? [0, STREAM_FEATURE_BYTES_MAX] : undefined),
    );
    this.connection = new StreamConnection(
      {
        write: (bytes) => {
          this.#reader.feed(bytes);
          return !this.full;
        },
        end: () => {
          this.streamEnded = true;
        },
        hold: (held) => {
          this.held += held ? 1 : -1;
        },
        flushSync: (timeoutMs) => {
          this.flushed++;
          return this.whenFlushed?.(timeoutMs) ?? false;
        },
      },
      { initiator: true, windowBytes: WINDOW, maxMessageBytes: 4096, ...options },
      {
        greeted: () => void this.greeted++,
        opened: (opening) => {
          this.openings.push(opening);
          this.whenOpened?.(opening);
        },
        leaving: (leaving) => void this.left.push(leaving),
        idle: () => void this.idle++,
        ended: (reason, error) => {
          this.over = [reason, (error as Error | undefined)?.message];
        },
      },
    );
    this.heard.splice(0);
    if (greeting !== null) this.say(frames.HELLO, 0, ...greeting);
  }

  #hear(type: number, number: number, words: Int32Array): void {
    let told: readonly (number | string)[] = [...words];
    if (type === frames.OPEN) told = [...words.subarray(0, 5), JSON.stringify(frames.textOf(type, words, 5, true))];
    if (type === frames.RESET) {
      told = [words[0] as number];
      this.said.push(frames.textOf(type, words, 1, true));
    }
    if (type === frames.GOODBYE) told = [...words.subarray(0, 3), frames.textOf(type, words, 3, true)];
    if (type === frames.LEAVING) told = [words[0] as number, frames.textOf(type, words, 1, true)];
    this.heard.push(`${type} ${number}: ${told.join(' ')}`.trim());
  }

  say(...frame: Frame): void {
    this.connection.received(chunk(frame));
  }
  open(number: number, name = '', terms: readonly number[] = TERMS, flags = 0): void {
    this.say(...openFrame(number, name, terms, flags));
  }
  /** The peer opens a channel, and we take it. What was heard so far is forgotten. */
  taken(number: number, name = ''): StreamChannel {
    this.open(number, name);
    const channel = this.connection.accept(this.openings.pop() as Opening);
    this.heard.splice(0);
    return channel;
  }
  portOver(channel: StreamChannel): Port {
    return new Port((events) => new StreamTransport(this.connection, channel, endOptions({}), events));
  }
  /** A port over a channel that we have opened and the peer has accepted. What was heard so far is forgotten. */
  port(name = ''): { port: Port; channel: StreamChannel } {
    const channel = this.connection.open(name);
    const port = this.portOver(channel);
    this.say(...acceptFrame(channel.number));
    this.heard.splice(0);
    return { port, channel };
  }
}
