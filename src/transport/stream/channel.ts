// One end of a channel in a connection: its two lanes' records, what the sides tell each other beside them, and its end. Knows
// frames by their meaning; the connection writes and reads them.
//
// Invariants:
// C1. Nothing follows a CLOSE. So what was sent before is there when the end is seen, and the rest of an outbox goes out before
//     CLOSE does, as credit comes.
// C2. A number is used again by nobody while one side may still speak of it: it is free when both have sent CLOSE or RESET.
import type { InboundNotes, OutboundNotes } from '../../lane/records.ts';
import type { CloseReason } from '../../outcome.ts';
import type { StreamConnection } from './connection.ts';
import { ASK_ALL, DATA } from './frames.ts';
import { StreamSink } from './sink.ts';
import { StreamSource } from './source.ts';

/** What a channel is opened with, for both ends. */
export interface ChannelTerms {
  /** Bytes, encoded, of the longest message. */
  readonly messageMax: number;
  /** Large strings that each side remembers a direction, and their bytes. */
  readonly texts: number;
  readonly textBytes: number;
}

/** Who uses this end. Called in the middle of any call. */
export interface ChannelOwner {
  /** Something came, or was acknowledged. */
  changed(): void;
  /** Credit came, and this end is closing: what waits may go on. */
  drain(): void;
  /** The channel has ended, or been accepted. */
  turned(): void;
}

export class StreamChannel {
  readonly number: number;
  readonly terms: ChannelTerms;
  readonly sink: StreamSink;
  readonly source: StreamSource;
  readonly outNotes: OutboundNotes & { sentCount: number; stalls: number };
  readonly inNotes: InboundNotes & { receivedCount: number; bad: number };
  owner: ChannelOwner | undefined;
  /** Both ends are open. */
  attached: boolean;
  ended: CloseReason | undefined;
  endedHere = false;
  /** Damage that was found while nobody was there to throw at. */
  found: unknown;
  /** The word that the peer has set. */
  interrupted = 0;
  /** Messages that the peer has taken. */
  peerReceived = 0;
  closeSent = false;
  closeCame = false;
  readonly #connection: StreamConnection;
  #relearns = 0;
  #relearnsAsked = 0;
  /** Position up to which the peer knows that its records were taken. */
  #told = 0;
  /** Position of which the peer wants to know as soon as it is taken. */
  #asked = Number.POSITIVE_INFINITY;
  /** Position of which we have asked the peer to tell. */
  #asks = 0;

  constructor(connection: StreamConnection, number: number, terms: ChannelTerms, attached: boolean) {
    this.#connection = connection;
    this.number = number;
    this.terms = terms;
    this.attached = attached;
    this.sink = new StreamSink(DATA | (number << 8), (frame) => {
      if (!this.closeSent) connection.frames.whole(frame);
    });
    this.source = new StreamSource(connection.window, () => this.#taken());
    const self = this;
    this.outNotes = {
      sentCount: 0,
      stalls: 0,
      besideTaken: 0,
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
      besideTaken() {},
      received() {
        this.receivedCount++;
      },
      undecodable() {
        this.bad++;
      },
    };
  }

  /** Position up to which the peer may send. */
  get creditGiven(): number {
    return this.#told + this.source.capacity;
  }

  /** Wants to be told as soon as the peer has taken everything before `position`. */
  ask(position: number): void {
    if (position <= this.#asks || this.closeCame) return;
    this.#asks = position;
    this.#connection.frames.ask(this.number, position);
  }

  /** Wants to be told of each record that is taken. */
  askForAll(): void {
    this.ask(ASK_ALL);
  }

  /** Sends what ends this side; nothing more of it will follow. */
  finish(reason: CloseReason): void {
    if (this.closeSent) return;
    this.sink.publish();
    this.closeSent = true;
    this.#connection.frames.close(this.number, reason, this.inNotes.receivedCount);
    this.#free();
  }

  /** This side has found damage: the channel is over. */
  reset(error: unknown): void {
    this.found ??= error;
    if (this.ended === undefined) {
      this.ended = 'lost';
      this.endedHere = true;
    }
    if (!this.closeSent) {
      this.closeSent = true;
      this.#connection.frames.reset(this.number);
    }
    // What the peer still has on its way is of no interest.
    this.closeCame = true;
    this.#free();
    this.owner?.turned();
  }

  // ---- what came ------------------------------------------------------------------------------------------------

  /** The peer has greeted, and gives so much credit to begin with. */
  credited(window: number): void {
    this.sink.begin(window);
    this.#moved();
  }
  /** @returns false if that cannot be */
  acknowledged(taken: number, limit: number, received: number, relearns: number): boolean {
    if (!this.sink.acknowledge(taken, limit)) return false;
    this.peerReceived = received;
    this.#relearnsAsked = relearns;
    this.#moved();
    return true;
  }
  #moved(): void {
    this.owner?.changed();
    if (this.endedHere && !this.closeSent) this.owner?.drain();
  }
  asked(position: number): void {
    this.#asked = position;
    if (this.source.taken >= position) this.#acknowledge();
  }
  accepted(): void {
    this.attached = true;
    this.owner?.turned();
  }
  closed(reason: CloseReason, received: number): void {
    this.closeCame = true;
    this.peerReceived = received;
    this.#over(reason);
    // Whoever has ended reads no more: what still waits here has nowhere to go.
    if (this.endedHere) this.finish(this.ended as CloseReason);
    this.#free();
  }
  /** The connection is gone, with everything that was under way. */
  cut(reason: CloseReason): void {
    this.closeCame = true;
    this.closeSent = true;
    this.#over(reason);
  }

  #over(reason: CloseReason): void {
    this.ended ??= reason;
    this.owner?.turned();
  }

  #taken(): void {
    const { taken, capacity } = this.source;
    // Who has ended waits for nothing but this; who goes on is told by batches, or when it has asked.
    const asked = taken >= this.#asked || this.#asked > this.creditGiven;
    if (asked || this.closeCame || (taken - this.#told) * 4 >= capacity) this.#acknowledge();
  }
  #acknowledge(): void {
    const { taken, capacity } = this.source;
    this.#told = taken;
    if (taken >= this.#asked) this.#asked = Number.POSITIVE_INFINITY;
    if (this.closeSent) return;
    this.#connection.frames.ack(this.number, taken, taken + capacity, this.inNotes.receivedCount, this.#relearns);
  }
  #free(): void {
    if (this.closeSent && this.closeCame) this.#connection.forget(this);
  }
}
