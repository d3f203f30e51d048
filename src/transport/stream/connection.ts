// A connection: one byte stream each way between two agents, with many channels in it. Greets, opens channels, hands to each
// what came for it, and ends when the stream does or when what comes can be no frames.
import { LayoutError, UnsupportedError, UsageError } from '../../errors.ts';
import {
  KNOWN_TEXT_BYTES_MAX,
  KNOWN_TEXTS_MAX,
  MESSAGE_BYTES_DEFAULT,
  MESSAGE_BYTES_MAX,
  STREAM_CHANNELS_MAX,
  STREAM_WINDOW_DEFAULT,
  STREAM_WINDOW_MAX,
  STREAM_WINDOW_MIN,
} from '../../limits.ts';
import { closeReason } from '../../memory/layout.ts';
import { capacityFor } from '../../memory/region.ts';
import type { CloseReason } from '../../outcome.ts';
import { type ChannelTerms, StreamChannel } from './channel.ts';
import { type FrameHandler, FrameReader } from './frame-reader.ts';
import { FrameWriter } from './frame-writer.ts';
import * as frames from './frames.ts';

/** The medium: reliable, in order, whole bytes. */
export interface ByteStream {
  /** Takes bytes, which are the caller's again when it returns. Never blocks. */
  write(bytes: Uint8Array): void;
  /** Nothing follows; what was written still goes out. */
  end(): void;
  /** Keeps the process alive, or lets it go. */
  hold(held: boolean): void;
}

export interface ConnectionOptions {
  /** Exactly one side is: its channels have odd numbers, those of the other side even ones. */
  readonly initiator: boolean;
  /** Bytes taken on each channel before they are acknowledged; rounded up to a power of two. */
  readonly windowBytes?: number | undefined;
  /** Bytes, encoded, of the longest message that a peer may open a channel for. */
  readonly maxMessageBytes?: number | undefined;
  /** Channels that a peer may have open. */
  readonly channelsMax?: number | undefined;
}

export interface ConnectionEvents {
  /** The peer has opened a channel: `accept` it, or `reset` it. Called in the middle of `received`. */
  opened(channel: StreamChannel): void;
  /** It is over; all its channels are. `error` says what was wrong if something was. */
  ended(reason: CloseReason, error: Error | undefined): void;
}

interface Greeting {
  readonly window: number;
  readonly messageMax: number;
}

export class StreamConnection implements FrameHandler {
  /** Bytes that this side takes on each channel. */
  readonly window: number;
  /** What channels say goes through it. */
  readonly frames: FrameWriter;
  ended: CloseReason | undefined;
  readonly #stream: ByteStream;
  readonly #events: ConnectionEvents;
  readonly #reader = new FrameReader(this);
  readonly #channels = new Map<number, StreamChannel>();
  readonly #messageMax: number;
  readonly #channelsMax: number;
  readonly #parity: 0 | 1;
  #nextNumber: number;
  /** The highest number that the peer has opened. */
  #opened = 0;
  /** Channels that the peer has opened and that are not over. */
  #theirs = 0;
  #peer: Greeting | undefined;
  #holds = 0;
  /** Whose DATA frame is coming; undefined while it is nobody's any more. */
  #into: StreamChannel | undefined;

  /** Greets at once. From then on `received` is to be given what comes. @throws UsageError ERR_OPTION */
  constructor(stream: ByteStream, options: ConnectionOptions, events: ConnectionEvents) {
    const { windowBytes = STREAM_WINDOW_DEFAULT, maxMessageBytes = MESSAGE_BYTES_DEFAULT } = options;
    this.window = Math.max(STREAM_WINDOW_MIN, capacityFor(windowBytes, 'windowBytes'));
    if (this.window > STREAM_WINDOW_MAX) {
      throw new UsageError(
        'ERR_OPTION',
        `Option windowBytes cannot be ${windowBytes}: it takes ${STREAM_WINDOW_MAX} at the most`,
        {
          option: 'windowBytes',
          value: windowBytes,
        },
      );
    }
    this.#stream = stream;
    this.frames = new FrameWriter((bytes) => stream.write(bytes));
    this.#events = events;
    this.#messageMax = maxMessageBytes;
    this.#channelsMax = options.channelsMax ?? STREAM_CHANNELS_MAX;
    this.#parity = options.initiator ? 1 : 0;
    this.#nextNumber = options.initiator ? 1 : 2;
    this.frames.frame(
      frames.HELLO,
      0,
      ...[frames.STREAM_MAGIC, frames.STREAM_VERSION, frames.STREAM_VERSION, this.window],
      ...[this.#messageMax, this.#channelsMax, 0, 0],
    );
  }

  /**
   * Opens a channel. What is sent on it waits for the peer's greeting, and for its credit.
   * @throws UnsupportedError when the connection has ended, or has no number left
   */
  open(terms: Partial<ChannelTerms> = {}): StreamChannel {
    const number = this.#nextNumber;
    if (this.ended !== undefined || number > frames.CHANNEL_MAX) {
      throw new UnsupportedError(
        `Cannot open a channel: the connection has ${this.ended === undefined ? 'used its numbers' : 'ended'}`,
      );
    }
    this.#nextNumber += 2;
    const all = { messageMax: this.#messageMax, texts: 0, textBytes: 0, ...terms };
    const channel = new StreamChannel(this, number, all, false);
    this.#channels.set(number, channel);
    this.frames.frame(frames.OPEN, number, all.messageMax, all.texts, all.textBytes, 0);
    this.#credit(channel);
    return channel;
  }
  /** Takes part in a channel that the peer has opened. */
  accept(channel: StreamChannel): void {
    this.frames.frame(frames.ACCEPT, channel.number);
  }

  /** Channels that are not over on both sides. */
  get channels(): number {
    return this.#channels.size;
  }

  /** Keeps the process alive as long as anybody wants it. */
  hold(held: boolean): void {
    if (this.ended !== undefined) return;
    this.#holds += held ? 1 : -1;
    if (this.#holds === (held ? 1 : 0)) this.#stream.hold(held);
  }

  /** Takes bytes that came; they are the caller's again when it returns. Not to be called inside itself. */
  received(bytes: Uint8Array): void {
    if (this.ended !== undefined) return;
    try {
      this.#reader.feed(bytes);
    } catch (error) {
      if (!(error instanceof LayoutError)) throw error;
      this.#break(error, frames.CODE_DAMAGE);
    }
  }

  /** The stream has ended: nothing more will come, nor go out. */
  closed(): void {
    this.#over('terminated', this.#reader.between ? undefined : new LayoutError('The stream ended inside a frame'));
  }

  /** Ends the connection, and with it what is under way. */
  close(): void {
    if (this.ended !== undefined) return;
    this.#stream.end();
    this.#over('closed', undefined);
  }

  /** A channel is over on both sides. */
  forget({ number }: StreamChannel): void {
    if (this.#channels.delete(number) && (number & 1) !== this.#parity) this.#theirs--;
  }

  // ---- what came: called by the reader, which passes what they throw to `received` --------------------------------

  control(type: number, number: number, words: Int32Array): void {
    if (type === frames.HELLO || this.#peer === undefined || number === 0) {
      this.#ofConnection(type, number, words);
      return;
    }
    if (type >= frames.OPTIONAL_TYPES) return;
    if (type === frames.OPEN) this.#open(number, words);
    else {
      const channel = this.#channelOf(number);
      // What is still on its way on a channel that is over means nothing.
      if (channel === undefined) return;
      if (channel.closeCame) channel.reset(new LayoutError('Cannot take a frame behind the end of its channel'));
      else this.#ofChannel(type, channel, words);
    }
  }

  dataBegins(number: number, length: number): void {
    if (this.#peer === undefined || number === 0) throw unexpected(frames.DATA, number);
    this.#into = this.#channelOf(number);
    if (this.#into === undefined) return;
    // A side that has ended reads no more.
    if (this.#into.endedHere) {
      this.#into = undefined;
      return;
    }
    if (this.#into.closeCame) this.#spoil(new LayoutError('Cannot take records behind the end of their channel'));
    else this.#trying((channel) => channel.source.begin(length, channel.creditGiven));
  }
  data(bytes: Uint8Array, start: number, end: number): void {
    this.#trying((channel) => channel.source.add(bytes, start, end));
  }
  dataEnds(): void {
    const channel = this.#into;
    this.#into = undefined;
    if (channel === undefined) return;
    if (channel.source.endsWhole) channel.owner?.changed();
    else channel.reset(new LayoutError('Cannot take a frame that ends inside a record'));
  }

  /** Damage inside a channel's records is that channel's alone: the frames around them still say where they end. */
  #trying(body: (channel: StreamChannel) => void): void {
    if (this.#into === undefined) return;
    try {
      body(this.#into);
    } catch (error) {
      if (!(error instanceof LayoutError)) throw error;
      this.#spoil(error);
    }
  }
  #spoil(error: LayoutError): void {
    const channel = this.#into;
    this.#into = undefined;
    channel?.reset(error);
  }

  #ofConnection(type: number, number: number, words: Int32Array): void {
    if (type === frames.HELLO && number === 0 && this.#peer === undefined) this.#greeted(words);
    else if (this.#peer === undefined) throw unexpected(type, number);
    else if (type === frames.PING) this.frames.frame(frames.PONG, 0, words[0] as number, words[1] as number);
    else if (type === frames.RESET) {
      const code = words[0] as number;
      const why = code === frames.CODE_VERSION ? 'it speaks another version' : 'it found damage';
      this.#stream.end();
      this.#over('lost', new LayoutError(`The other side has ended the connection: ${why}`, { value: code }));
    } else if (type !== frames.PONG && type < frames.OPTIONAL_TYPES) throw unexpected(type, number);
  }

  #greeted(words: Int32Array): void {
    const [magic, version, versionMin, window, messageMax] = words as unknown as [
      number,
      number,
      number,
      number,
      number,
    ];
    if (magic !== frames.STREAM_MAGIC)
      throw new LayoutError('Cannot connect: the stream does not begin with a greeting of millrace');
    if (versionMin > frames.STREAM_VERSION || version < frames.STREAM_VERSION) {
      const error = new LayoutError(
        `Cannot connect: the other side speaks versions ${versionMin} to ${version}, this one ${frames.STREAM_VERSION}`,
      );
      this.#break(error, frames.CODE_VERSION);
      return;
    }
    const plausible = window >= STREAM_WINDOW_MIN && window <= STREAM_WINDOW_MAX && (window & (window - 1)) === 0;
    if (!plausible || messageMax < 1 || messageMax > MESSAGE_BYTES_MAX) {
      throw new LayoutError(`Cannot connect: credit ${window} and messages of ${messageMax} bytes make no sense`);
    }
    this.#peer = { window, messageMax };
    for (const channel of this.#channels.values()) this.#credit(channel);
  }

  /** The credit of a new channel is that of the greeting. */
  #credit(channel: StreamChannel): void {
    if (this.#peer === undefined) return;
    channel.credited(this.#peer.window);
  }

  #open(number: number, words: Int32Array): void {
    if ((number & 1) === this.#parity || number <= this.#opened) throw unexpected(frames.OPEN, number);
    this.#opened = number;
    const [messageMax, texts, textBytes] = words as unknown as [number, number, number];
    if (
      this.#theirs >= this.#channelsMax ||
      messageMax < 1 ||
      messageMax > this.#messageMax ||
      texts >>> 0 > KNOWN_TEXTS_MAX ||
      textBytes >>> 0 > KNOWN_TEXT_BYTES_MAX
    ) {
      this.frames.reset(number, frames.CODE_REFUSED);
      return;
    }
    const channel = new StreamChannel(this, number, { messageMax, texts, textBytes }, true);
    this.#channels.set(number, channel);
    this.#theirs++;
    this.#credit(channel);
    this.#events.opened(channel);
  }

  #ofChannel(type: number, channel: StreamChannel, words: Int32Array): void {
    const word = (i: number): number => words[i] as number;
    if (type === frames.ACK) {
      const taken = frames.positionOf(word(0), word(1));
      const limit = frames.positionOf(word(2), word(3));
      if (!channel.acknowledged(taken, limit, word(4), word(5))) {
        channel.reset(new LayoutError(`Cannot be: ${taken} bytes were taken, and ${limit} may come`));
      }
    } else if (type === frames.ASK) channel.asked(frames.positionOf(word(0), word(1)));
    else if (type === frames.INTERRUPT) channel.interrupted = word(0);
    else if (type === frames.CLOSE) channel.closed(closeReason(word(0)), word(1));
    else if (type === frames.RESET) channel.closed('lost', channel.peerReceived);
    else if (type === frames.ACCEPT) channel.accepted();
    else throw unexpected(type, channel.number);
  }

  /** The channel of this number; undefined if it is over. @throws LayoutError if it never was */
  #channelOf(number: number): StreamChannel | undefined {
    const channel = this.#channels.get(number);
    if (channel !== undefined) return channel;
    const known = (number & 1) === this.#parity ? number < this.#nextNumber : number <= this.#opened;
    if (!known)
      throw new LayoutError(`Cannot take a frame for channel ${number}, which nobody has opened`, { value: number });
    return undefined;
  }

  #break(error: LayoutError, code: number): void {
    if (this.ended !== undefined) return;
    // What came is believed no more, also not while the other side is told.
    this.#into = undefined;
    this.frames.reset(0, code);
    this.#stream.end();
    this.#over('lost', error);
  }

  #over(reason: CloseReason, error: Error | undefined): void {
    if (this.ended !== undefined) return;
    this.ended = reason;
    this.frames.over = true;
    // We may be in the middle of a chunk: an OPEN behind this would make a channel that nobody ends.
    this.#reader.stop();
    this.#into = undefined;
    if (this.#holds > 0) this.#stream.hold(false);
    for (const channel of [...this.#channels.values()]) channel.cut(reason);
    this.#channels.clear();
    this.#events.ended(reason, error);
  }
}

function unexpected(type: number, number: number): LayoutError {
  return new LayoutError(`Cannot read the stream: a frame of type ${type} for channel ${number} does not belong here`, {
    kind: type,
  });
}
