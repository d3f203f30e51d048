// A connection: one byte stream each way between two agents, with many channels in it. Greets, opens channels, hands to each
// what came for it, and ends when either side does, when the stream does, or when what comes can be no frames.
// Longer than most files: each kind of frame has its place here, and each way to end.
import { LayoutError, RefusedError } from '../../errors.ts';
import {
  KNOWN_TEXT_BYTES_DEFAULT,
  MESSAGE_BYTES_DEFAULT,
  STREAM_ANSWERS_MAX,
  STREAM_CHANNELS_MAX,
} from '../../limits.ts';
import { closeReason } from '../../memory/layout.ts';
import type { EndReason } from '../../outcome.ts';
import type { ThreadEnd } from '../../platform/contract.ts';
import { endWithThread, forgetThreadEnd } from '../thread-end.ts';
import type { ExitStatus, Link, Way } from '../transport.ts';
import type { ChannelTerms, StreamChannel } from './channel.ts';
import { ChannelBook } from './channel-book.ts';
import { type FrameHandler, FrameReader } from './frame-reader.ts';
import { FrameWriter } from './frame-writer.ts';
import * as frames from './frames.ts';
import { greetingOf, greetingWords, noCommonTongue } from './greeting.ts';
import { checkRefusal, type Opening } from './opening.ts';
import { Pressure } from './pressure.ts';

/** The medium: reliable, in order, whole bytes. */
export interface ByteStream {
  /**
   * Takes bytes, which are the caller's again when it returns. Never blocks. False: it has taken them, that is enough for now, and it
   * will call `drained`.
   */
  write(bytes: Uint8Array): boolean;
  /** Nothing follows; what was written still goes out. What comes is still to be taken off the medium, for a while. */
  end(): void;
  /** Keeps the process alive, or lets it go. At the start it lets it go. */
  hold(held: boolean): void;
  /** This thread has no other turn: what was written goes out now, as far as it does without waiting. */
  flush?(): void;
}

export interface ConnectionOptions {
  /** Exactly one side is: its channels have odd numbers, those of the other side even ones. */
  readonly initiator: boolean;
  /** Bytes taken on a channel before they are acknowledged, unless it is told otherwise; rounded up to a power of two. */
  readonly windowBytes?: number | undefined;
  /** Bytes, encoded, of the longest message that this side takes on any channel. */
  readonly maxMessageBytes?: number | undefined;
  /** Bytes of large strings that this side remembers for a channel, on behalf of the peer. */
  readonly textBytesMax?: number | undefined;
  /** Channels that a peer may have open. */
  readonly channelsMax?: number | undefined;
  /** Of these, channels that nobody here has accepted yet. */
  readonly waitingMax?: number | undefined;
  /** By what the bytes go, for whoever asks a port. */
  readonly way?: Way | undefined;
}

export interface ConnectionEvents {
  /** The peer has said its first words: it is one that speaks as we do. */
  greeted?(): void;
  /** The peer has opened a channel that nobody has asked for here. `accept` it or `refuse` it, now or later; or `open` its name. */
  opened(opening: Opening): void;
  /** There is no channel any more, also none that waits. */
  idle?(): void;
  /** It is over; all its channels are. `error` says what was wrong if something was. */
  ended(reason: EndReason, error: Error | undefined): void;
}

export class StreamConnection implements FrameHandler, Link {
  /** What channels say goes through it, and what they wait for while the medium has enough. */
  readonly frames: FrameWriter;
  readonly pressure: Pressure;
  readonly way: Way | undefined;
  ended: EndReason | undefined;
  /** What it ended of, where that is known. */
  error: Error | undefined;
  /** How the peer's process ended, once the medium has learned it. */
  exit: ExitStatus | undefined;
  /** Chunks that came. Who heard nothing for a while may `ping`; silence alone ends nothing. */
  heard = 0;
  readonly #stream: ByteStream;
  readonly #events: ConnectionEvents;
  readonly #reader = new FrameReader(this);
  readonly #book: ChannelBook;
  #holds = 0;
  #pings = 0;
  /** It ends with its last channel, for this reason. */
  #leaving: EndReason | undefined;
  /** Whose DATA frame is coming; undefined while it is nobody's any more. */
  #into: StreamChannel | undefined;

  /** Greets at once. From then on `received` is to be given what comes. @throws UsageError ERR_OPTION */
  constructor(stream: ByteStream, options: ConnectionOptions, events: ConnectionEvents) {
    const own = {
      features: 0,
      messageMax: options.maxMessageBytes ?? MESSAGE_BYTES_DEFAULT,
      channelsMax: options.channelsMax ?? STREAM_CHANNELS_MAX,
      textBytesMax: options.textBytesMax ?? KNOWN_TEXT_BYTES_DEFAULT,
    };
    this.#book = new ChannelBook(this, own, options, {
      opened: (opening) => events.opened(opening),
      emptied: () => this.#emptied(),
    });
    this.way = options.way;
    this.#stream = stream;
    this.frames = new FrameWriter((bytes) => stream.write(bytes));
    this.pressure = new Pressure(this.frames);
    this.#events = events;
    this.frames.hello(greetingWords(own));
    endWithThread(this);
  }

  /**
   * The channel of this name: one that the peer has opened and nobody has accepted yet, else a new one. What is sent on that
   * waits until the peer takes part; if it asks for the same name meanwhile, it gets the same channel.
   * @param terms this side's; those of a channel that the peer has opened are the peer's where nothing is said
   * @throws UsageError ERR_OPTION for what can be no name of a program's, or no credit
   * @throws UnsupportedError when the connection has ended, is leaving, or has no number left
   */
  open(name = '', terms: Partial<ChannelTerms> = {}): StreamChannel {
    return this.#book.open(name, terms);
  }

  /** Takes part in a channel that the peer has opened. One that is over meanwhile gives a channel that has ended. */
  accept(opening: Opening, terms: Partial<ChannelTerms> = {}): StreamChannel {
    return this.#book.accept(opening, terms);
  }

  /** @see Opening.refuse */
  refuseOpening(opening: Opening, code: number, text: string): void {
    this.#book.refuse(opening, code, text);
  }

  /**
   * Lets the peer know that nobody takes the connection: with all its channels it ends as `closed`, over there with a RefusedError that
   * says `code` and `text`. Nothing of what was accepted and not sent goes out. Does nothing when it is over.
   * @param code 3 to 6 mean what docs/protocol/stream.md says, from 256 on what the two programs agree on
   * @param text for people, 256 bytes at the most; the rest is cut off
   * @throws UsageError ERR_OPTION for another code
   */
  refuse(code: number, text = ''): void {
    checkRefusal(code);
    this.#over('closed', undefined, () => {
      this.frames.reset(0, code, text);
      this.#stream.end();
    });
  }

  /** Channels that the peer has opened and nobody has accepted, in the order of their names' first. */
  get waiting(): Iterable<Opening> {
    return this.#book.waiting;
  }
  /** Channels that are not over on both sides, and those that wait. */
  get channels(): number {
    return this.#book.count;
  }

  /** Keeps the process alive as long as anybody wants it. */
  hold(held: boolean): void {
    if (this.ended !== undefined) return;
    this.#holds += held ? 1 : -1;
    if (this.#holds === (held ? 1 : 0)) this.#stream.hold(held);
  }

  /** Asks the peer for a sign, which comes when it returns to its event loop, and counts as heard. */
  ping(): void {
    this.frames.ping(++this.#pings, 0);
  }

  /** Takes bytes that came; they are the caller's again when it returns. Not to be called inside itself. */
  received(bytes: Uint8Array): void {
    if (this.ended !== undefined) return;
    this.heard++;
    this.frames.answers = true;
    try {
      this.#reader.feed(bytes);
    } catch (error) {
      if (!(error instanceof LayoutError)) throw error;
      this.#break(error, frames.CODE_DAMAGE);
    } finally {
      this.frames.answers = false;
    }
  }

  /** The medium takes more again, after a `write` that returned false. */
  drained(): void {
    if (this.ended !== undefined) return;
    this.pressure.relieved();
  }

  /**
   * The medium has ended, and the peer has not said goodbye: nothing more will come, nor go out.
   * @param reason what the medium makes of that: `lost`, or `terminated` where it knows that the peer's thread or process is gone
   */
  closed(reason: EndReason, error?: Error): void {
    forgetThreadEnd(this);
    this.#over(
      reason,
      error ?? (this.#reader.between ? undefined : new LayoutError('The stream ended inside a frame')),
    );
  }

  /**
   * Ends the connection. What its channels have accepted goes out as far as the peer has given credit; with `drain` all of it, and
   * the connection ends when the peer has taken it, or at the next call without. Meanwhile no channel is opened or accepted.
   */
  close({ drain = false, reason = 'closed' }: { drain?: boolean; reason?: EndReason } = {}): void {
    if (this.ended !== undefined || (drain && this.#leaving !== undefined)) return;
    if (drain) this.hold(true);
    this.#leaving = reason;
    this.#book.end(reason);
    if (drain) this.#emptied();
    else this.#leave(reason);
  }

  /** Called by the list of what ends with the thread. */
  endThread(how: ThreadEnd): void {
    this.close({ reason: how });
    this.#stream.flush?.();
  }

  /** A channel is over on both sides. */
  forget(channel: StreamChannel): void {
    this.pressure.forget(channel);
    this.#book.forget(channel);
  }

  // ---- what came: called by the reader, which passes what they throw to `received` --------------------------------

  control(type: number, number: number, words: Int32Array): void {
    this.#take(type, number, words);
    if (this.frames.owed > STREAM_ANSWERS_MAX)
      throw new LayoutError(`The other side asks and does not read: ${this.frames.owed} bytes of answers wait`);
  }
  #take(type: number, number: number, words: Int32Array): void {
    if (type === frames.HELLO || this.#book.peer === undefined || number === 0) {
      this.#ofConnection(type, number, words);
      return;
    }
    if (type >= frames.OPTIONAL_TYPES) return;
    // These are the connection's.
    if (type >= frames.PING) throw unexpected(type, number);
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
    if (this.#book.peer === undefined || number === 0) throw unexpected(frames.DATA, number);
    const channel = this.#book.channelOf(number);
    const opening = this.#book.openingOf(number);
    if (opening !== undefined) this.#book.ofOpening(frames.DATA, opening);
    // A side that has ended reads no more.
    this.#into = channel?.endedHere === true ? undefined : channel;
    if (this.#into?.closeCame === true)
      this.#spoil(new LayoutError('Cannot take records behind the end of their channel'));
    else if (this.#into?.attached === false) this.#spoil(unexpected(frames.DATA, number));
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
    const [first, second] = words as unknown as [number, number];
    if (type === frames.HELLO && number === 0 && this.#book.peer === undefined) this.#greeted(words);
    else if (this.#book.peer === undefined) throw unexpected(type, number);
    else if (type === frames.RESET) this.#resetBy(first, frames.textOf(type, words, 1, false));
    else if (type === frames.PING) this.pressure.pinged(first, second);
    else if (type === frames.GOODBYE) {
      const text = frames.textOf(type, words, 1, false);
      this.#over(closeReason(first), text === '' ? undefined : new Error(text), () => this.#stream.end());
    } else if (type !== frames.PONG && type < frames.OPTIONAL_TYPES) throw unexpected(type, number);
  }

  #resetBy(code: number, text: string): void {
    if (code > frames.CODE_VERSION) {
      const message = `The other side does not take the connection${text === '' ? '' : `: ${JSON.stringify(text)}`}`;
      const error = new RefusedError('ERR_REFUSED', message, { refusal: code, text });
      this.#over('closed', error, () => this.#stream.end());
      return;
    }
    const why = code === frames.CODE_VERSION ? 'it speaks another version' : 'it found damage';
    const said = text === '' ? '' : ` (${JSON.stringify(text)})`;
    const error = new LayoutError(`The other side has ended the connection: ${why}${said}`, { value: code });
    this.#over('lost', error, () => this.#stream.end());
  }

  #greeted(words: Int32Array): void {
    const error = noCommonTongue(words);
    if (error !== undefined) {
      this.#break(error, frames.CODE_VERSION);
      return;
    }
    this.#book.peer = greetingOf(words);
    this.#events.greeted?.();
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
    else if (!channel.attached || type === frames.ACCEPT) channel.reset(unexpected(type, channel.number));
    else if (type === frames.ACK) {
      const taken = frames.positionOf(word(0), word(1));
      const limit = frames.positionOf(word(2), word(3));
      if (!channel.acknowledged(taken, limit, word(4), word(5), word(6)))
        channel.reset(new LayoutError(`Cannot be: ${taken} bytes were taken, and ${limit} may come`));
    } else if (type === frames.ASK) channel.asked(frames.positionOf(word(0), word(1)));
    else if (word(0) > 0) channel.interrupted = word(0);
    else channel.reset(new LayoutError(`Cannot be interrupted by ${word(0)}`));
  }

  #emptied(): void {
    if (this.channels > 0 || this.ended !== undefined) return;
    this.#events.idle?.();
    if (this.#leaving !== undefined) this.#leave(this.#leaving);
  }
  #leave(reason: EndReason): void {
    this.#over(reason, undefined, () => {
      this.frames.goodbye(reason, '');
      this.#stream.end();
    });
  }
  #break(error: LayoutError, code: number): void {
    this.#over('lost', error, () => {
      this.frames.reset(0, code, error.message);
      this.#stream.end();
    });
  }

  /** @param say tells the other side, and ends the stream, where that is to be done */
  #over(reason: EndReason, error: Error | undefined, say?: () => void): void {
    if (this.ended !== undefined) return;
    this.ended = reason;
    this.error = error;
    // We may be in the middle of a chunk: an OPEN behind this would make a channel that nobody ends. What comes is believed no
    // more, also not while the other side is told.
    this.#reader.stop();
    this.#into = undefined;
    say?.();
    this.frames.over = true;
    // What was said last may still be with the medium.
    if (this.#stream.flush === undefined) forgetThreadEnd(this);
    if (this.#holds > 0) this.#stream.hold(false);
    this.#book.cut(reason, error);
    this.#events.ended(reason, error);
  }
}

function unexpected(type: number, number: number): LayoutError {
  return new LayoutError(`Cannot read the stream: a frame of type ${type} for channel ${number} does not belong here`, {
    kind: type,
  });
}
