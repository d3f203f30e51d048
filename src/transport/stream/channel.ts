// One end of a channel in a connection: its two lanes' records, what the sides tell each other beside them, and its end. Knows
// frames by their meaning; the connection writes and reads them. Its length is that of what it says of itself.
//
// Invariants:
// C1. Nothing follows a CLOSE. So what was sent before is there when the end is seen, and the rest of an outbox goes out before
//     CLOSE does, as credit comes.
// C2. A number is used again by nobody while one side may still speak of it: it is free when both have sent CLOSE, or one RESET.
// C3. Before the other side has said its part nothing is said about a channel but that it is over. So it costs its reader nothing, and may yet turn out to be
//     the same as another (meeting.ts).
import { LayoutError, RefusedError } from '../../errors.ts';
import type { InboundNotes, OutboundNotes } from '../../lane/records.ts';
import { SIDE_VALUES_MAX } from '../../limits.ts';
import type { EndReason } from '../../outcome.ts';
import type { StreamConnection } from './connection.ts';
import { ASK_ALL, CODE_DAMAGE } from './frames.ts';
import { leftUnanswered } from './last-words.ts';
import { StreamSink } from './sink.ts';
import { StreamSource } from './source.ts';
import { wideCredit } from './wide-credit.ts';

/** What each side says of its part in a channel. */
export interface ChannelTerms {
  /** Bytes of records that it takes before it acknowledges any. */
  readonly window: number;
  /** Bytes, encoded, of the longest message that it sends. This and those below are upper bounds: its reader may take less. */
  readonly messageMax: number;
  /** Large strings that it sends and remembers, and their bytes: the other side has to remember them, too. */
  readonly texts: number;
  readonly textBytes: number;
}

/** What a side may say of its part; the rest is as ever. */
export interface ChannelWish extends Partial<ChannelTerms> {
  /** What it requires of the channel, or offers: bits of FLAGS. */
  readonly flags?: number | undefined;
  /** More credit than usual, while the thread has some (wide-credit.ts), where neither this nor the connection names a `window`. */
  readonly wide?: boolean | undefined;
}

/** Who uses this end. Called in the middle of any call. */
export interface ChannelOwner {
  /** Something came, or was acknowledged. */
  changed(): void;
  /** Credit came, and this end is closing: what waits may go on. Or there is nobody for it any more. */
  drain(): void;
  /** The channel has ended. */
  turned(): void;
  /** The other side takes part: what the channel's terms say is agreed on. */
  joined(): void;
  /** The connection ends: this end is to, too, with what it has accepted as far as credit goes. */
  close(reason: EndReason): void;
}

export class StreamChannel {
  number: number;
  readonly name: string;
  /** This side's: what it has said, and once the other side takes part what is agreed on. */
  terms: ChannelTerms;
  /** The other side's, as agreed on, once it takes part. */
  peerTerms: ChannelTerms | undefined;
  /** Bits of FLAGS: what this side has said, and once the other one takes part what is agreed on (`agreedBits`). */
  flags: number;
  readonly sink: StreamSink;
  readonly source: StreamSource;
  readonly outNotes: OutboundNotes & { sentCount: number; stalls: number };
  readonly inNotes: InboundNotes & { receivedCount: number; bad: number };
  /** Both sides have opened it, and neither has accepted. */
  met = false;
  owner: ChannelOwner | undefined;
  ended: EndReason | undefined;
  endedHere = false;
  /** What it ended of, where that is known. */
  error: unknown;
  /** Damage that was found while nobody was there to throw at. */
  found: unknown;
  /** The word that the peer has set. */
  interrupted = 0;
  /** Messages that the peer has taken. */
  peerReceived = 0;
  closeSent = false;
  closeCame = false;
  /** The peer has ended, and has more to say than there is credit for: it reads no more. */
  peerLingers = false;
  readonly #connection: StreamConnection;
  /** Its credit is the thread's wide one, until it is over. */
  #wide: boolean;
  #relearns = 0;
  #relearnsAsked = 0;
  /** Values before this number were taken from beside the records, here and over there. */
  #besideTaken = 0;
  #besideTakenThere = 0;
  #besideTold = 0;
  /** Position up to which the peer knows that its records were taken. */
  #told = 0;
  #receivedTold = 0;
  /** Positions of which the peer wants to know as soon as they are taken: the first and the last. */
  #asked = Number.POSITIVE_INFINITY;
  #askedLast = 0;
  #asks = 0;
  /** The interrupt that waits for the peer to take part, or for room: the newest, as it is the newest that counts over there. */
  #interrupts = 0;

  /** @param wide its window was taken from the thread's wide credit */
  constructor(
    connection: StreamConnection,
    number: number,
    name: string,
    terms: ChannelTerms,
    flags: number,
    wide = false,
  ) {
    this.#connection = connection;
    this.#wide = wide;
    this.number = number;
    this.name = name;
    this.terms = terms;
    this.flags = flags;
    const waits = (): void => connection.pressure.await(this);
    this.sink = new StreamSink(terms.window, connection.frames, waits, (frame) => {
      if (!this.closeSent) connection.frames.whole(frame);
    });
    this.source = new StreamSource(terms.window, () => this.#taken());
    const self = this;
    this.outNotes = {
      sentCount: 0,
      stalls: 0,
      get besideTaken() {
        return self.#besideTakenThere;
      },
      get relearns() {
        return self.#relearnsAsked;
      },
      sent() {
        this.sentCount++;
      },
      stalled() {
        this.stalls++;
      },
      outbox() {},
    };
    this.inNotes = {
      receivedCount: 0,
      bad: 0,
      askToRelearn() {
        self.#relearns++;
        self.#acknowledge();
      },
      besideTaken(number) {
        self.#besideTaken = number;
        // Their number is bounded, as bytes are: who waits for room among them waits for no bytes.
        if (((number - self.#besideTold) | 0) * 4 >= SIDE_VALUES_MAX) self.#acknowledge();
      },
      received() {
        this.receivedCount++;
      },
      undecodable() {
        this.bad++;
      },
    };
  }

  get attached(): boolean {
    return this.peerTerms !== undefined;
  }
  /** Position up to which the peer may send. */
  get creditGiven(): number {
    return this.#told + this.source.capacity;
  }

  /** Wants to be told as soon as the peer has taken everything before `position`. */
  ask(position: number): void {
    if (position <= this.#asks || this.closeSent || this.closeCame || this.#connection.parting) return;
    this.#asks = position;
    if (this.attached) this.#connection.frames.ask(this.number, position);
  }

  /** This end has ended, and says the rest as credit comes: it wants to be told of each record, and reads none itself. */
  askForAll(): void {
    this.ask(ASK_ALL);
  }

  /** Sets the peer's word, once there is one. */
  interrupt(word: number): void {
    if (this.ended !== undefined) return;
    this.#interrupts = word;
    if (this.attached) this.#sayInterrupt();
  }
  #sayInterrupt(): void {
    const { frames, pressure } = this.#connection;
    if (this.#interrupts === 0 || this.closeSent) return;
    if (frames.full) {
      pressure.owe(this);
      return;
    }
    const word = this.#interrupts;
    this.#interrupts = 0;
    frames.interrupt(this.number, word);
  }

  /** Sends what ends this side; nothing more of it will follow. */
  finish(reason: EndReason): void {
    if (this.closeSent) return;
    this.sink.publish();
    // A medium may call back in the middle of that, and whoever is told of something then may have ended it already.
    if (this.closeSent) return;
    // A goodbye follows, which says the reason, and what of.
    if (this.#connection.parting) this.part();
    this.closeSent = true;
    try {
      if (!this.#connection.parting) this.#connection.frames.close(this.number, reason, this.inNotes.receivedCount);
    } catch (error) {
      // The stack has ended: it was not said.
      this.closeSent = false;
      throw error;
    }
    this.#free();
  }

  /** Its connection says goodbye next, which ends all channels: what is to be said of this one before. */
  part(): void {
    if (this.attached && !this.closeSent && this.inNotes.receivedCount !== this.#receivedTold) this.#tell();
  }

  /** Ends this side, where nobody uses it yet. */
  end(reason: EndReason): void {
    if (this.ended === undefined) {
      this.ended = reason;
      this.endedHere = true;
    }
    this.finish(reason);
  }

  /** This side has found damage, or cannot take what the other wants: the channel is over. */
  reset(error: LayoutError | RefusedError, code: number = CODE_DAMAGE): void {
    // Terms that were refused are the channel's error, here as over there; damage is thrown at who reads.
    if (code === CODE_DAMAGE) this.found ??= error;
    if (this.ended === undefined) {
      this.ended = code === CODE_DAMAGE ? 'lost' : 'closed';
      this.error = error;
      this.endedHere = true;
    }
    if (!this.closeSent) {
      this.closeSent = true;
      this.#connection.frames.reset(this.number, code, error.message);
    }
    // What the peer still has on its way is of no interest.
    this.closeCame = true;
    this.#free();
    this.owner?.turned();
  }

  // ---- what came ------------------------------------------------------------------------------------------------

  /** The peer takes part, under this number and on these terms: with the peer's comes the first credit. */
  joined(number: number, terms: ChannelTerms, peerTerms: ChannelTerms, flags: number): void {
    this.number = number;
    this.terms = terms;
    this.flags = flags;
    this.peerTerms = peerTerms;
    this.sink.begin(number, peerTerms.window);
    if (this.closeSent) return;
    if (this.#asks > 0) this.#connection.frames.ask(number, this.#asks);
    this.#sayInterrupt();
    this.owner?.joined();
    this.#moved();
  }
  /** @returns false if that cannot be */
  acknowledged(taken: number, limit: number, received: number, relearns: number, beside: number): boolean {
    if (!this.sink.acknowledge(taken, limit)) return false;
    this.#receivedThere(received);
    this.#relearnsAsked = relearns;
    this.#besideTakenThere = beside;
    this.#moved();
    return true;
  }
  /** The medium takes bytes again: for what this end owes the other, and for what waits. */
  answer(): void {
    this.#sayInterrupt();
    this.#acknowledge();
  }
  roomCame(): void {
    this.#moved();
  }
  #moved(): void {
    this.owner?.changed();
    if (this.endedHere && !this.closeSent) this.owner?.drain();
  }
  /** The count travels as its low 32 bits. */
  #receivedThere(received: number): void {
    this.peerReceived += Math.max(0, (received - this.peerReceived) | 0);
  }
  asked(position: number): void {
    this.#asked = Math.min(this.#asked, position);
    this.#askedLast = Math.max(this.#askedLast, position);
    this.peerLingers ||= position === ASK_ALL;
    if (this.peerLingers) {
      // Whoever waits here for credit, or to be heard, would wait for one that waits to be read.
      this.owner?.turned();
      if (this.endedHere) this.owner?.drain();
    }
    if (this.#isAsked) this.#acknowledge();
  }
  get #isAsked(): boolean {
    return this.source.taken >= this.#asked || this.#askedLast > this.creditGiven;
  }
  closed(reason: EndReason, received: number): void {
    this.closeCame = true;
    this.#receivedThere(received);
    this.#over(reason, undefined);
    // Whoever has ended reads no more: what still waits here has nowhere to go.
    if (this.endedHere) this.finish(this.ended as EndReason);
    else if (this.source.readOut) this.finish('closed');
    this.#free();
  }
  /** The peer has found damage, or does not want the channel. */
  wasReset(code: number, text: string): void {
    this.closeSent = true;
    this.closeCame = true;
    const what = this.name === '' ? 'the channel' : `channel ${JSON.stringify(this.name)}`;
    const said = text === '' ? '' : `: ${JSON.stringify(text)}`;
    if (code === CODE_DAMAGE) this.#over('lost', new LayoutError(`The other side has found damage in ${what}${said}`));
    else {
      const message = `The other side does not take ${what}${said}`;
      this.#over('closed', new RefusedError('ERR_REFUSED', message, { refusal: code, text }));
    }
    this.#free();
  }
  /** The peer leaves, and has not answered: nobody will. */
  wasLeft(text: string): void {
    this.closeSent = true;
    this.closeCame = true;
    this.#over('closed', leftUnanswered(this.name, text));
    this.#free();
  }
  /** The connection is gone, with everything that was under way. */
  cut(reason: EndReason, error: unknown): void {
    this.closeCame = true;
    this.closeSent = true;
    this.#giveCreditBack();
    this.#over(reason, error);
  }

  #over(reason: EndReason, error: unknown): void {
    if (this.ended === undefined) {
      this.ended = reason;
      this.error = error;
    }
    this.owner?.turned();
  }

  #taken(): void {
    const { taken, capacity } = this.source;
    // Who has ended waits for nothing but this; who goes on is told by batches, or when it has asked.
    if (this.#isAsked || this.closeCame || (taken - this.#told) * 4 >= capacity) this.#acknowledge();
    if (this.closeCame && this.source.readOut) this.finish('closed');
  }
  #acknowledge(): void {
    const { taken } = this.source;
    if (this.#connection.frames.full) {
      this.#connection.pressure.owe(this);
      return;
    }
    this.#told = taken;
    this.#besideTold = this.#besideTaken;
    // Of those between, each record tells.
    if (taken >= this.#askedLast) this.#asked = Number.POSITIVE_INFINITY;
    if (!this.closeSent) this.#tell();
  }
  #tell(): void {
    const { taken, capacity } = this.source;
    const { frames } = this.#connection;
    this.#receivedTold = this.inNotes.receivedCount;
    frames.ack(this.number, taken, taken + capacity, this.inNotes.receivedCount, this.#relearns, this.#besideTaken);
  }
  #free(): void {
    if (!this.closeSent || !this.closeCame) return;
    this.#giveCreditBack();
    this.#connection.forget(this);
    // Whoever has waited to say the rest: nobody wants it.
    this.owner?.drain();
  }
  #giveCreditBack(): void {
    if (this.#wide) wideCredit.giveBack();
    this.#wide = false;
  }
}
