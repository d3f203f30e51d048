// The channels of a connection: their numbers and names, who waits, who is refused, and what both sides have agreed on. Says what is
// to be said about a channel until both take part in it, and knows it until it is over on both sides.
import { LayoutError, RefusedError, UnsupportedError, UsageError } from '../../errors.ts';
import {
  STREAM_NAME_BYTES_MAX,
  STREAM_WAITING_MAX,
  STREAM_WINDOW_DEFAULT,
  STREAM_WINDOW_MAX,
  STREAM_WINDOW_MIN,
} from '../../limits.ts';
import { capacityFor } from '../../memory/region.ts';
import type { EndReason } from '../../outcome.ts';
import { type ChannelTerms, type ChannelWish, StreamChannel } from './channel.ts';
import type { ConnectionOptions, StreamConnection } from './connection.ts';
import * as frames from './frames.ts';
import { agreedTerms, type Greeting, noTerms, termsOf } from './greeting.ts';
import { Meeting } from './meeting.ts';
import { Numbers } from './numbers.ts';
import { Opening } from './opening.ts';
import { wideCredit } from './wide-credit.ts';

export interface BookEvents {
  opened(opening: Opening): void;
  /** The last channel is over, or the last that waited. */
  emptied(): void;
}

export class ChannelBook {
  /** What the other side has said of itself, and this one. */
  peer: Greeting | undefined;
  own: Greeting;
  /** Why no channel is opened or accepted any more, if so. */
  shut: 'has ended' | 'is leaving' | undefined;
  /** What the other side has said as it began to leave, if it has: it opens and accepts nothing any more. */
  peerLeaves: { readonly text: string } | undefined;
  /** All channels are ending. */
  ending = false;
  readonly #connection: StreamConnection;
  readonly #events: BookEvents;
  readonly #channels = new Map<number, StreamChannel>();
  readonly #openings = new Map<number, Opening>();
  readonly #meeting = new Meeting<StreamChannel, Opening>();
  readonly #window: number;
  /** The program has said so: no channel has more than it says itself. */
  readonly #windowSaid: boolean;
  readonly #waitingMax: number;
  readonly #knownFlags: number;
  readonly #numbers: Numbers;
  /** Channels that the peer has opened and that are not over. */
  #theirs = 0;

  /** @throws UsageError ERR_OPTION */
  constructor(connection: StreamConnection, own: Greeting, options: ConnectionOptions, events: BookEvents) {
    this.#connection = connection;
    this.own = own;
    this.#knownFlags = options.knownFlags ?? 0;
    this.#events = events;
    this.#window = windowFor(options.windowBytes ?? STREAM_WINDOW_DEFAULT);
    this.#windowSaid = options.windowBytes !== undefined;
    this.#waitingMax = options.waitingMax ?? STREAM_WAITING_MAX;
    this.#numbers = new Numbers(options.initiator);
  }

  get count(): number {
    return this.#channels.size + this.#openings.size;
  }
  get waiting(): Iterable<Opening> {
    return this.#meeting.waiting;
  }

  /** @see StreamConnection.open */
  open(name: string, wish: ChannelWish): StreamChannel {
    const waiting = this.#meeting.waiting.first(name);
    if (waiting !== undefined) return this.accept(waiting, wish);
    const bytes = frames.isKept(name) ? undefined : frames.nameBytes(name);
    if (bytes === undefined) {
      throw new UsageError(
        'ERR_OPTION',
        `A channel cannot be named ${JSON.stringify(name)}: it takes ${STREAM_NAME_BYTES_MAX} bytes of well-formed text that does not begin with U+0000`,
        { option: 'name', value: name },
      );
    }
    const why = this.shut ?? (this.#numbers.usedUp ? 'has used its numbers' : undefined);
    if (why !== undefined) throw new UnsupportedError(`Cannot open a channel: the connection ${why}`);
    if (this.peerLeaves !== undefined) {
      // As if it had been opened before this was heard.
      const channel = this.#make(0, name, wish);
      channel.wasLeft(this.peerLeaves.text);
      return channel;
    }
    const channel = this.#make(this.#numbers.take(), name, wish);
    const { number } = channel;
    this.#channels.set(number, channel);
    this.#meeting.asked.add(channel);
    this.#connection.frames.open(number, channel.terms, channel.flags, bytes);
    return channel;
  }

  /** @see StreamConnection.accept */
  accept(opening: Opening, wish: ChannelWish): StreamChannel {
    const { number, name } = opening;
    const { texts, textBytes } = opening.terms;
    const channel = this.#make(number, name, { texts, textBytes, ...wish });
    // What it says: what is agreed on takes the place of both.
    const { terms, flags } = channel;
    if (opening.over) {
      channel.cut(this.#connection.ended ?? 'closed', this.#connection.error);
      return channel;
    }
    this.#settle(opening);
    this.#channels.set(number, channel);
    // Before it is said: a medium may hand over what the peer has to say to it before this returns.
    this.#begin(channel, number, opening.terms, opening.flags);
    this.#connection.frames.accept(number, terms, flags);
    return channel;
  }

  /** @see Opening.refuse */
  refuse(opening: Opening, code: number, text: string): void {
    if (opening.over) return;
    this.#connection.frames.reset(opening.number, code, text);
    this.#drop(opening);
  }

  /** A channel is over on both sides. */
  forget(channel: StreamChannel): void {
    const { number } = channel;
    this.#meeting.asked.delete(channel);
    if (this.#channels.get(number) !== channel) return;
    this.#channels.delete(number);
    if (this.#numbers.isTheirs(number)) this.#theirs--;
    this.#emptied();
  }

  /** None is opened or accepted any more. The other side has been told, which answers all that waits. */
  leave(): void {
    this.shut = 'is leaving';
    for (const opening of [...this.#openings.values()]) {
      this.#settle(opening);
      this.#theirs--;
    }
  }
  /** Every channel ends, with what it has accepted as far as credit goes; none comes. */
  end(reason: EndReason): void {
    this.shut = 'is leaving';
    this.ending = true;
    for (const channel of [...this.#channels.values()]) {
      if (channel.owner === undefined) channel.end(reason);
      else {
        channel.owner.close(reason);
        // It was not its user who has ended it.
        channel.owner.turned();
      }
    }
  }
  /** Room came for what channels that end have left; what there is is used before this returns. */
  goOn(): void {
    for (const channel of [...this.#channels.values()]) channel.owner?.drain();
  }
  /** A goodbye is to be said next: what is to be said of each channel before it. */
  part(): void {
    for (const channel of this.#channels.values()) channel.part();
  }
  /** The connection is over. @param left what the other side has said as it left, where it has: no answer is one */
  cut(reason: EndReason, error: unknown, left?: string): void {
    this.shut = 'has ended';
    for (const opening of [...this.#openings.values()]) this.#settle(opening);
    if (left !== undefined) for (const channel of [...this.#meeting.asked]) channel.wasLeft(left);
    this.#meeting.asked.clear();
    // Each is let go of once it is told: the stack may end in the middle, and the rest be told later.
    for (const [number, channel] of this.#channels) {
      channel.cut(reason, error);
      this.#channels.delete(number);
    }
  }

  // ---- what came ------------------------------------------------------------------------------------------------

  /** The channel of this number; undefined if it is over, or waits. @throws LayoutError if it never was */
  channelOf(number: number): StreamChannel | undefined {
    const channel = this.#channels.get(number);
    if (channel !== undefined) return channel;
    if (!this.#numbers.known(number))
      throw new LayoutError(`Cannot take a frame for channel ${number}, which nobody has opened`, { value: number });
    return undefined;
  }
  /** Whether a channel has, or had, this number. */
  knows(number: number): boolean {
    return this.#numbers.known(number);
  }
  openingOf(number: number): Opening | undefined {
    return this.#openings.get(number);
  }

  /** An OPEN. @throws LayoutError if it can be none */
  came(number: number, words: Int32Array): void {
    this.#numbers.opened(number);
    const name = frames.textOf(frames.OPEN, words, 5, true);
    const terms = termsOf(words);
    const flags = words[4] as number;
    if (this.peerLeaves !== undefined) throw new LayoutError(`Cannot open channel ${number}: its side is leaving`);
    const ours = this.#meeting.met(name);
    if (ours !== undefined) {
      this.#meet(ours, number, terms, flags);
      return;
    }
    // This side's LEAVING is the answer.
    if (this.shut !== undefined) return;
    const [code, why] = this.#objection(name, terms, flags);
    if (code !== 0) {
      this.#connection.frames.reset(number, code, why);
      return;
    }
    const opening = new Opening(this.#connection, number, name, agreedTerms(terms, this.own), flags);
    this.#openings.set(number, opening);
    this.#meeting.waiting.add(opening);
    this.#theirs++;
    this.#events.opened(opening);
  }

  /** An OPEN of theirs has crossed ours: each is the other's answer. The initiator's number stays (N3 in meeting.ts). */
  #meet(ours: StreamChannel, number: number, terms: ChannelTerms, flags: number): void {
    ours.met = true;
    if (this.#numbers.initiator) {
      this.#joins(ours, terms, flags);
      return;
    }
    this.#channels.delete(ours.number);
    if (ours.closeSent) {
      this.#connection.frames.close(number, ours.ended ?? 'closed', 0);
      // Nothing is ever said of it here, and what it had is given back.
      ours.cut(ours.ended ?? 'closed', undefined);
    } else {
      // The other side counts on it from our OPEN on: however many there are, and also while we leave, it is a channel.
      this.#theirs++;
      ours.number = number;
      this.#channels.set(number, ours);
      this.#joins(ours, terms, flags);
    }
    this.#emptied();
  }

  /** Something for a channel that nobody has accepted yet: it can only be over. */
  ofOpening(type: number, opening: Opening): void {
    const { number } = opening;
    if (type === frames.CLOSE) this.#connection.frames.close(number, 'closed', 0);
    else if (type !== frames.RESET)
      this.#connection.frames.reset(number, frames.CODE_DAMAGE, `a frame of type ${type} came before ACCEPT`);
    this.#drop(opening);
  }

  /** An ACCEPT, for a channel of ours that nobody had answered. */
  accepted(channel: StreamChannel, words: Int32Array): void {
    this.answered(channel);
    this.#joins(channel, termsOf(words), words[4] as number);
  }
  /** The other side has said that it leaves: what it has not answered by now it never will, and nothing of it can cross. */
  left(text: string): void {
    this.peerLeaves = { text };
    for (const channel of [...this.#meeting.asked]) channel.wasLeft(text);
  }
  /** The other side has answered a channel of ours, by whatever. */
  answered(channel: StreamChannel): void {
    this.#meeting.asked.delete(channel);
  }

  /** The other side has said its part in a channel of ours. */
  #joins(channel: StreamChannel, terms: ChannelTerms, flags: number): void {
    const text = noTerms(terms, flags, this.#knownFlags);
    if (text === undefined) {
      this.#begin(channel, channel.number, agreedTerms(terms, this.own), flags);
      return;
    }
    const fields = { refusal: frames.CODE_TERMS, text };
    channel.reset(new RefusedError('ERR_REFUSED', `Cannot take part: ${text}`, fields), frames.CODE_TERMS);
  }

  /** Both have said their part, and what they take. */
  #begin(channel: StreamChannel, number: number, theirs: ChannelTerms, flags: number): void {
    const agreed = agreedTerms(channel.terms, this.peer as Greeting);
    channel.joined(number, agreed, theirs, frames.agreedBits(channel.flags, flags));
  }

  /** Why a channel is refused, as code and text; 0 if it is not. */
  #objection(name: string, terms: ChannelTerms, flags: number): readonly [code: number, why: string] {
    if (this.#theirs >= this.own.channelsMax)
      return [frames.CODE_FULL, `this side takes ${this.own.channelsMax} channels`];
    if (this.#openings.size >= this.#waitingMax)
      return [frames.CODE_FULL, `${this.#waitingMax} channels wait already that nobody has accepted`];
    const why = noTerms(terms, flags, this.#knownFlags);
    if (why !== undefined) return [frames.CODE_TERMS, why];
    return frames.isKept(name) ? [frames.CODE_NAME, 'this side has no such channel'] : [0, ''];
  }

  #make(number: number, name: string, { flags = 0, wide = false, ...terms }: ChannelWish): StreamChannel {
    const window = wide && terms.window === undefined && !this.#windowSaid ? wideCredit.take() : undefined;
    const all = this.#terms(terms, window ?? this.#window);
    return new StreamChannel(this.#connection, number, name, all, flags, window !== undefined);
  }
  #terms(terms: Partial<ChannelTerms>, otherwise: number): ChannelTerms {
    const { messageMax } = this.own;
    const window = terms.window === undefined ? otherwise : windowFor(terms.window);
    const said = { messageMax, texts: 0, textBytes: 0, ...terms, window };
    return this.peer === undefined ? said : agreedTerms(said, this.peer);
  }

  #drop(opening: Opening): void {
    this.#settle(opening);
    this.#theirs--;
    this.#emptied();
  }
  /** Nobody waits for an answer to this one any more. */
  #settle(opening: Opening): void {
    opening.over = true;
    this.#openings.delete(opening.number);
    this.#meeting.waiting.delete(opening);
  }
  #emptied(): void {
    if (this.count === 0) this.#events.emptied();
  }
}

function windowFor(bytes: number): number {
  const window = Math.max(STREAM_WINDOW_MIN, capacityFor(bytes, 'windowBytes'));
  if (window <= STREAM_WINDOW_MAX) return window;
  throw new UsageError(
    'ERR_OPTION',
    `Option windowBytes cannot be ${bytes}: it takes ${STREAM_WINDOW_MAX} at the most`,
    { option: 'windowBytes', value: bytes },
  );
}
