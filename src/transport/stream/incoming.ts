// What comes over a connection, frame by frame: what belongs to the connection itself goes to it, the rest to its channel. Whatever
// cannot be what an honest side sends is damage: of one channel where the frames around it can be believed, else of all.
import { LayoutError } from '../../errors.ts';
import { STREAM_ANSWERS_MAX, STREAM_EARLY_BYTES_MAX } from '../../limits.ts';
import { closeReason } from '../../memory/layout.ts';
import type { StreamChannel } from './channel.ts';
import type { ChannelBook } from './channel-book.ts';
import type { FeatureFrames } from './feature-frames.ts';
import { type FrameHandler, FrameReader } from './frame-reader.ts';
import type { FrameWriter } from './frame-writer.ts';
import * as frames from './frames.ts';
import type { Pressure } from './pressure.ts';

/** What the other side says of the connection. */
export interface IncomingEvents {
  /** @throws LayoutError if it can be none */
  greeting(words: Int32Array): void;
  reset(code: number, text: string): void;
  /** @param timeMs until it ends at the latest; 0: it has not said */
  leaving(timeMs: number, text: string): void;
  /** @throws LayoutError if it can be none */
  goodbye(words: Int32Array): void;
  /** It says more than is kept while this side decides about it. */
  tooEarly(): void;
}

type Early = readonly [type: number, number: number, words: Int32Array];
const NO_WORDS: Int32Array = /* @__PURE__ */ new Int32Array(0);
/** Bytes of what keeps a frame, beside its own. */
const KEEP_BYTES = 64;

export class Incoming implements FrameHandler {
  readonly #reader: FrameReader;
  readonly #book: ChannelBook;
  readonly #frames: FrameWriter;
  readonly #pressure: Pressure;
  readonly #features: FeatureFrames;
  readonly #events: IncomingEvents;
  /** Whose DATA frame is coming; undefined while it is nobody's any more. */
  #into: StreamChannel | undefined;
  /** What came while this side decides what it answers the other's greeting. */
  #early: Early[] | undefined;
  #earlyBytes = 0;
  #stopped = false;

  constructor(
    book: ChannelBook,
    writer: FrameWriter,
    pressure: Pressure,
    features: FeatureFrames,
    events: IncomingEvents,
  ) {
    this.#reader = new FrameReader(this, (type) => features.roomFor(type));
    this.#features = features;
    this.#book = book;
    this.#frames = writer;
    this.#pressure = pressure;
    this.#events = events;
  }

  /** Whether the stream stands between two frames. */
  get between(): boolean {
    return this.#reader.between;
  }

  /** @throws LayoutError for damage that is the connection's */
  feed(bytes: Uint8Array): void {
    this.#frames.answers = true;
    try {
      this.#reader.feed(bytes);
    } finally {
      this.#frames.answers = false;
    }
  }

  /** Nothing is believed any more, also not of the chunk at hand. */
  stop(): void {
    this.#reader.stop();
    this.#into = undefined;
    this.#stopped = true;
    this.#early = undefined;
  }

  /** From here on what comes is kept, but for the end. */
  holdBack(): void {
    this.#early = [];
  }
  /** What was kept is taken, in its order. @throws LayoutError for damage that is the connection's */
  goOn(): void {
    const early = this.#early ?? [];
    // What comes in the middle of it comes behind it.
    for (let i = 0; i < early.length && !this.#stopped; i++) this.#takeEarly(...(early[i] as Early));
    this.#early = undefined;
  }
  #takeEarly(type: number, number: number, words: Int32Array): void {
    if (type !== frames.DATA) {
      this.#take(type, number, words);
      return;
    }
    const channel = this.#book.channelOf(number);
    const opening = this.#book.openingOf(number);
    if (opening !== undefined) this.#book.ofOpening(type, opening);
    else channel?.reset(frames.unexpected(type, number));
  }

  // ---- called by the reader, which passes on what they throw ------------------------------------------------------

  control(type: number, number: number, words: Int32Array): void {
    if (this.#early !== undefined && !isEnd(type, number)) this.#keep(type, number, words.slice());
    else this.#take(type, number, words);
    const { owed } = this.#frames;
    if (owed > STREAM_ANSWERS_MAX)
      throw new LayoutError(`The other side asks and does not read: ${owed} bytes of answers wait`);
  }
  #keep(type: number, number: number, words: Int32Array): void {
    if (type === frames.HELLO) throw frames.unexpected(type, number);
    this.#early?.push([type, number, words]);
    this.#earlyBytes += frames.FRAME_HEADER_BYTES + words.byteLength + KEEP_BYTES;
    if (this.#earlyBytes > STREAM_EARLY_BYTES_MAX) this.#events.tooEarly();
  }
  #take(type: number, number: number, words: Int32Array): void {
    if (type === frames.HELLO || !this.#greeted || number === 0) {
      this.#ofConnection(type, number, words);
      return;
    }
    if (type >= frames.OPTIONAL_TYPES) return;
    // These are the connection's.
    if (type >= frames.PING && !(type >= frames.FEATURE_TYPES && this.#features.isOfChannels(type)))
      throw frames.unexpected(type, number);
    if (type === frames.OPEN) {
      this.#book.came(number, words);
      return;
    }
    const channel = this.#book.channelOf(number);
    const opening = this.#book.openingOf(number);
    if (channel !== undefined) this.#ofChannel(type, channel, words);
    else if (opening !== undefined) this.#book.ofOpening(type, opening);
    // What is still on its way on a channel that is over means nothing.
  }

  dataBegins(number: number, length: number): void {
    if (!this.#greeted || number === 0) throw frames.unexpected(frames.DATA, number);
    if (this.#early !== undefined) {
      // Whatever it is, no channel can have begun: its bytes mean nothing.
      this.#keep(frames.DATA, number, NO_WORDS);
      return;
    }
    const channel = this.#book.channelOf(number);
    const opening = this.#book.openingOf(number);
    if (opening !== undefined) this.#book.ofOpening(frames.DATA, opening);
    // A side that has ended reads no more.
    this.#into = channel?.endedHere === true ? undefined : channel;
    if (this.#into?.closeCame === true)
      this.#spoil(new LayoutError('Cannot take records behind the end of their channel'));
    else if (this.#into?.attached === false) this.#spoil(frames.unexpected(frames.DATA, number));
    else {
      try {
        this.#into?.source.begin(length, this.#into.creditGiven);
      } catch (error) {
        this.#found(error);
      }
    }
  }
  data(bytes: Uint8Array, start: number, end: number): void {
    try {
      this.#into?.source.add(bytes, start, end);
    } catch (error) {
      this.#found(error);
    }
  }
  dataEnds(): void {
    const channel = this.#into;
    this.#into = undefined;
    if (channel === undefined) return;
    if (channel.source.endsWhole) channel.owner?.changed();
    else channel.reset(new LayoutError('Cannot take a frame that ends inside a record'));
  }

  /** Damage inside a channel's records is that channel's alone: the frames around them still say where they end. */
  #found(error: unknown): void {
    if (!(error instanceof LayoutError)) throw error;
    this.#spoil(error);
  }
  #spoil(error: LayoutError): void {
    const channel = this.#into;
    this.#into = undefined;
    channel?.reset(error);
  }

  /** Whether the other side's greeting has come. */
  get #greeted(): boolean {
    return this.#book.peer !== undefined || this.#early !== undefined;
  }
  #ofConnection(type: number, number: number, words: Int32Array): void {
    const [first, second] = words as unknown as [number, number];
    if (type === frames.HELLO && number === 0 && !this.#greeted) this.#events.greeting(words);
    else if (!this.#greeted) throw frames.unexpected(type, number);
    else if (type === frames.RESET) this.#events.reset(first, frames.textOf(type, words, 1, false));
    else if (type === frames.PING) this.#pressure.pinged(first, second);
    else if (type === frames.GOODBYE) this.#events.goodbye(words);
    else if (type === frames.LEAVING) {
      if (first < 0) throw new LayoutError(`Cannot leave in ${first} ms`);
      this.#events.leaving(first, frames.textOf(type, words, 1, false));
    } else if (type >= frames.FEATURE_TYPES && type < frames.OPTIONAL_TYPES)
      this.#features.came(type, words, undefined);
    else if (type !== frames.PONG && type < frames.OPTIONAL_TYPES) throw frames.unexpected(type, number);
  }

  #ofChannel(type: number, channel: StreamChannel, words: Int32Array): void {
    const word = (i: number): number => words[i] as number;
    // These are the answers to an OPEN, or end what has come of it.
    if (type === frames.RESET) channel.wasReset(word(0), frames.textOf(type, words, 1, false));
    else if (channel.closeCame) channel.reset(new LayoutError('Cannot take a frame behind the end of its channel'));
    else if (type === frames.CLOSE) {
      this.#book.answered(channel);
      channel.closed(closeReason(word(0)), word(1));
    } else if (type === frames.ACCEPT && !channel.attached) this.#book.accepted(channel, words);
    else if (!channel.attached || type === frames.ACCEPT) channel.reset(frames.unexpected(type, channel.number));
    else if (type >= frames.FEATURE_TYPES) this.#ofFeature(type, channel, words);
    else if (type === frames.ACK) {
      const taken = frames.positionOf(word(0), word(1));
      const limit = frames.positionOf(word(2), word(3));
      if (!channel.acknowledged(taken, limit, word(4), word(5), word(6)))
        channel.reset(new LayoutError(`Cannot be: ${taken} bytes were taken, and ${limit} may come`));
    } else if (type === frames.ASK) {
      const position = frames.positionOf(word(0), word(1));
      if (Number.isNaN(position)) channel.reset(new LayoutError('Cannot tell of a position that is none'));
      else channel.asked(position);
    } else if (word(0) > 0) channel.interrupted = word(0);
    else channel.reset(new LayoutError(`Cannot be interrupted by ${word(0)}`));
  }
  #ofFeature(type: number, channel: StreamChannel, words: Int32Array): void {
    try {
      this.#features.came(type, words, channel);
    } catch (error) {
      if (!(error instanceof LayoutError)) throw error;
      channel.reset(error);
    }
  }
}

/** The end needs no decision. */
function isEnd(type: number, number: number): boolean {
  return number === 0 && (type === frames.RESET || type === frames.GOODBYE);
}
