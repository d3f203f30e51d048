// Values into records: encoded straight into the claim when there is room, through the outbox when there is not, in parts
// when they are longer than a record may be, beside the lane when only the medium's own way carries them.
// Longer than most files: each way of a value ends with another kind of "no room", and what a sender waits for follows from it.
import { type Encoder, REFUSED } from '../codec/codec.ts';
import { ClosedError, UsageError } from '../errors.ts';
import { HEADER_BYTES, KIND_SIDE, MARKER_BYTES } from '../frame/header.ts';
import { ANNEX_MESSAGE_MIN } from '../limits.ts';
import type { Views } from '../memory/region.ts';
import { FULL } from '../ring/producer.ts';
import { type Annex, annexOf } from './annex.ts';
import { type Aside, AsideEncoder } from './aside-encoder.ts';
import { Backlog, type BacklogParts } from './backlog.ts';
import type { Beside, HeldValue } from './beside.ts';
import { BesideSender, shutMeanwhile } from './beside-sender.ts';
import type { Mark } from './lane.ts';
import type { Lending } from './lending.ts';
import type { OutboundLuggage } from './luggage.ts';
import type { Outbox, OverflowPolicy } from './outbox.ts';
import type { OutboundNotes, RecordSink } from './records.ts';

const NO_TRANSFER: readonly unknown[] = [];

// How an attempt to send at once ends.
const SENT = 0;
/** No room for a record, or for one more value beside the lane. */
const NO_ROOM = 1;
/** The value did not fit the room that there was. */
const UNFIT = 2;
/** Earlier messages wait. */
const BEHIND = 3;
/** No room in the annex. */
const NO_ANNEX = 4;

export interface OutboundParts extends BacklogParts {
  readonly outbox: Outbox;
  readonly encoder: Encoder;
  /** Of the encoder's payloads. */
  readonly kind: number;
  /** Bytes, encoded, of the longest message. */
  readonly messageMax: number;
  /** Where memory for larger messages comes from that the reader is given, if there is any. */
  readonly lending?: Pick<Lending, 'lend' | 'held'> | undefined;
  /** What the end has taken along that this lane goes on for; the encoder was made with its `successor`. */
  readonly luggage?: OutboundLuggage | undefined;
}

export class LaneOutbound {
  readonly #sink: RecordSink;
  readonly #notes: OutboundNotes;
  readonly #beside: Beside;
  readonly #encoder: Encoder;
  readonly #kind: number = 0;
  #messageMax: number = 0;
  readonly #outbox: Outbox;
  readonly #backlog: Backlog;
  readonly #aside: AsideEncoder;
  readonly #besideSender: BesideSender;
  readonly #annex: Annex | undefined;
  /** Bytes that are wanted from which on the annex is asked first. */
  readonly #annexFrom: number = 0;
  /** Whether the encoder teaches at all. */
  readonly #teaches: boolean = false;
  /** Requests of the peer to be taught anew that were heeded. */
  #heeded = 0;
  /** Bytes the next value is expected to take: a little more than the last one did. */
  #wanted = 64;
  /** Bytes that `trySend` last found no room for; 0 when it found room. */
  #starvedFor = 0;
  /** It was the annex that had none. */
  #annexStarved = false;
  /** A value is being encoded or cloned: its getters are user code, which must not find us half way. */
  #encoding = false;
  /** The last value tried was to go beside the lane from the first. */
  #natively = false;
  /** The lane has ended: nothing may follow what it has published. */
  #shut = false;

  constructor(parts: OutboundParts) {
    const { sink, notes, beside, encoder, kind, messageMax, outbox } = parts;
    this.#sink = sink;
    this.#notes = notes;
    this.#beside = beside;
    this.#encoder = encoder;
    this.#kind = kind;
    this.#messageMax = messageMax;
    this.#outbox = outbox;
    this.#aside = new AsideEncoder(encoder, messageMax);
    this.#besideSender = new BesideSender(sink, notes, beside, messageMax);
    // What may be dropped while it waits is to be new when it is read: no room for sixty of them.
    this.#annex = outbox.mayDrop ? undefined : annexOf(sink, parts.lending);
    this.#annexFrom = this.#annex === undefined ? Number.POSITIVE_INFINITY : ANNEX_MESSAGE_MIN;
    this.#backlog = new Backlog(parts, this.#aside, this.#besideSender, this.#annex);
    this.#teaches = encoder.forget !== undefined;
    if (parts.luggage !== undefined) this.#unpack(parts.luggage);
  }

  /** A value is being written: whoever calls now is a getter of it. */
  get busy(): boolean {
    return this.#encoding;
  }
  /** This end goes over to another thread: what is to go along. Nothing goes out here any more. @throws LayoutError */
  leave(): OutboundLuggage {
    this.pump();
    this.#sink.publish();
    const waiting = this.#backlog.leave();
    const { drops, peak } = this.#outbox;
    const { failures } = this.#backlog;
    return { successor: this.#encoder.successor?.(), waiting, drops, peak, failures, annex: this.#annex?.luggage };
  }
  #unpack({ waiting, drops, peak, failures, annex }: OutboundLuggage): void {
    this.#outbox.resume(drops, peak);
    this.#backlog.failures = failures;
    if (annex !== undefined) this.#annex?.resume(annex);
    for (const each of waiting) this.#backlog.resume(each);
  }

  /** The reader takes less than was thought: what waits and is longer is given up as a failure. */
  lower(messageMax: number): void {
    this.#messageMax = messageMax;
    this.#aside.messageMax = messageMax;
  }

  /** Messages accepted so far; with `moved`, tells when everything up to a point has left the outbox. */
  get accepted(): number {
    return this.#backlog.accepted;
  }
  /** Messages before the first one that still waits: they are in the lane, or were dropped. */
  get moved(): number {
    return this.#backlog.moved;
  }

  /** This point in the stream of messages: behind everything accepted so far. */
  mark(): Mark {
    return this.#backlog.mark();
  }
  /**
   * Whether the reader has taken everything before the mark.
   * @throws LayoutError if the lane is damaged
   */
  isTaken({ position }: Mark): boolean {
    return position !== undefined && this.#sink.releasedUpTo(position);
  }
  /** The position to sleep for until the mark is taken; undefined while it needs room first. */
  awaits({ position }: Mark): number | undefined {
    return position;
  }
  /** Takes note of what the reader has given back; only more than that is progress. Try again after it, before sleeping. */
  look(): void {
    this.#sink.lookAtHead();
  }
  /** Whether the reader has given room back since the last look that found too little. */
  get progressed(): boolean {
    return this.#sink.headMoved || this.#besideSender.moved;
  }
  /** The position to sleep for when any progress will do. */
  get untaken(): number {
    return this.#sink.untaken;
  }
  get overflow(): OverflowPolicy {
    return this.#outbox.policy;
  }
  get backlog(): number {
    return this.#outbox.length;
  }
  /** Messages accepted that never came to stand in the lane: they wait, or were left beside the lane. */
  get unsent(): number {
    return this.#backlog.unsent;
  }
  /** Messages that this side took and could not send after all. */
  get failures(): number {
    return this.#backlog.failures;
  }
  get sink(): Pick<RecordSink, 'cork' | 'publish'> {
    return this.#sink;
  }

  /** Whether a sender need not wait: the outbox is below its mark and the last refused message would fit now. */
  get writable(): boolean {
    if (this.#outbox.aboveMark) return false;
    if (this.#starvedFor === 0) return true;
    return (
      this.#outbox.length === 0 &&
      !(this.#besideSender.wasFull && this.#besideSender.full) &&
      this.#fits(this.#starvedFor, this.#annexStarved)
    );
  }

  /**
   * Sends now or not at all. Never blocks; false when full.
   * @throws DataCloneError, UsageError ERR_TOO_LARGE, ERR_TRANSFER, ERR_BUSY, ClosedError if a getter of the value closed
   *   the lane; nothing was sent
   */
  trySend(value: unknown, transfer: readonly unknown[] = NO_TRANSFER): boolean {
    const tried = this.#attempt(value, transfer);
    if (tried === SENT) return true;
    if (tried === BEHIND) return this.#starve(HEADER_BYTES);
    if (tried === NO_ANNEX) return this.#starve(this.#wanted, true);
    // How long it is was not seen: with any room at all it is tried again, and then its length is known.
    if (tried === NO_ROOM) return this.#starve(MARKER_BYTES);
    // It may be too long for the room at hand or for any record: only its encoded length tells.
    const encoded = this.#encodeAside(value);
    if (encoded === undefined) return this.#sendBeside(value, transfer) || this.#starve(MARKER_BYTES);
    const { length } = encoded.bytes;
    const { maxPayload } = this.#sink;
    const inAnnex = this.#annex?.takes(length) ?? false;
    const first = inAnnex || length <= maxPayload ? length : maxPayload >>> 1;
    if (!this.#fits(first, inAnnex)) {
      this.#encoder.discard?.();
      this.#aside.giveBack(encoded);
      this.#besideSender.forgetFull();
      return this.#starve(first, inAnnex);
    }
    if (transfer.length > 0) this.#detach(encoded, transfer);
    this.#backlog.add(this.#kind, encoded);
    this.pump();
    this.#starvedFor = 0;
    return true;
  }

  /**
   * Sends, through the outbox if need be; whether something waits there now. Never blocks. A value whose getter closes the
   * lane counts as one that came after the end: it is not sent, and that is no error.
   * @throws DataCloneError, UsageError ERR_TOO_LARGE, ERR_TRANSFER, ERR_OUTBOX_FULL, ERR_BUSY; nothing was sent
   */
  post(value: unknown, transfer: readonly unknown[] = NO_TRANSFER): boolean {
    try {
      const tried = this.#attempt(value, transfer);
      if (tried !== SENT) this.#postLater(value, transfer, tried);
    } catch (error) {
      if (!(this.#shut && error instanceof ClosedError)) throw error;
      this.#backlog.failures++;
    }
    return this.#outbox.length > 0;
  }

  /** One attempt to send now, for `trySend` and `post`. */
  #attempt(value: unknown, transfer: readonly unknown[]): number {
    if (this.#encoding) throw busy();
    if (this.pumping) return BEHIND;
    this.#giveUpClaim();
    if (this.#outbox.length > 0 && !this.pump()) return BEHIND;
    this.#natively = this.#goesBeside(value, transfer);
    // What is in the list is taken from its owner once the value is written, and not before it is certain to go.
    if (!this.#natively) return transfer.length > 0 ? UNFIT : this.#sendDirectly(value);
    return this.#sendBeside(value, transfer) ? SENT : NO_ROOM;
  }
  #goesBeside(value: unknown, transfer: readonly unknown[]): boolean {
    if (transfer.length > 0) return this.#beside.copying?.suits(transfer, this.#messageMax) !== true;
    return typeof value === 'string' && this.#besideSender.isFasterFor(value);
  }

  /** The attempt ended so: the value goes into the outbox. */
  #postLater(value: unknown, transfer: readonly unknown[], tried: number): void {
    const natively = tried === BEHIND ? this.#goesBeside(value, transfer) : this.#natively;
    if (!this.#outbox.admit()) {
      this.#backlog.count();
      return;
    }
    const encoded = natively ? undefined : this.#encodeAside(value);
    if (encoded !== undefined) {
      if (transfer.length > 0) this.#detach(encoded, transfer);
      this.#backlog.add(this.#kind, encoded);
    } else this.#backlog.add(KIND_SIDE, NOTHING_ASIDE, this.#holdBack(value, transfer));
    this.#notes.stalled();
    if (!this.pump() && encoded !== undefined) this.#backlog.pumpAlong(encoded.bytes.length);
  }

  /** Moves what waits into the lane as far as it fits; whether nothing waits now. */
  pump(): boolean {
    if (this.#encoding || this.pumping) return false;
    this.#giveUpClaim();
    return this.#backlog.pump();
  }
  /** What waits is on its way in just now: this is a call in the middle of that. */
  get pumping(): boolean {
    return this.#backlog.pumping;
  }
  /** Nothing is being sent, so an open claim was left by a call that ran out of stack. */
  #giveUpClaim(): void {
    if (this.#sink.claimed >= 0) this.#sink.abort();
  }

  /** From now on nothing follows, also not the value whose getter is running. */
  shut(): void {
    this.#shut = true;
    this.#besideSender.shut();
  }

  /** Leaves what did not fit the lane beside it, where the other side finds it; returns the frames left. */
  spill(): number {
    return this.#backlog.spill();
  }
  /** Nothing goes out any more, and nobody is there to read it. */
  abandon(): void {
    this.#backlog.abandon();
  }

  #sendDirectly(value: unknown): number {
    const large = this.#wanted >= this.#annexFrom;
    if (large && this.#annex?.busy && this.#annex.suits(this.#wanted)) return this.#sendByAnnex(value, this.#annex);
    const sink = this.#sink;
    const offset = sink.claimUpTo(this.#wanted, this.#messageMax);
    if (large && sink.claimed < this.#wanted && this.#annex?.suits(this.#wanted)) {
      if (offset !== FULL) sink.abort();
      return this.#sendByAnnex(value, this.#annex);
    }
    if (offset === FULL) {
      this.#besideSender.forgetFull();
      return NO_ROOM;
    }
    const { claimed } = sink;
    const length = this.#encodeInto(value, sink.views, offset, claimed);
    if (length >= 0) {
      sink.commit(length, this.#kind);
      this.#wanted = length + 64;
      this.#sent();
      return SENT;
    }
    sink.abort();
    if (length === REFUSED) return this.#sendBeside(value, NO_TRANSFER) ? SENT : NO_ROOM;
    // It is longer than that: then the annex, which has more in one piece.
    if (claimed < this.#annexFrom) return UNFIT;
    this.#wanted = Math.max(this.#wanted, claimed);
    return this.#annex?.suits(this.#wanted) ? this.#sendByAnnex(value, this.#annex) : UNFIT;
  }

  #sendByAnnex(value: unknown, annex: Annex): number {
    if (!annex.open()) return UNFIT;
    const offset = annex.claim(this.#wanted);
    if (offset === FULL) {
      this.#besideSender.forgetFull();
      return NO_ANNEX;
    }
    const length = this.#encodeInto(value, annex.views, offset, Math.min(annex.claimed, this.#messageMax));
    if (length >= 0) {
      annex.commit(offset, length, this.#kind);
      this.#wanted = length + 64;
      this.#sent();
      return SENT;
    }
    annex.abort();
    if (length !== REFUSED) return UNFIT;
    return this.#sendBeside(value, NO_TRANSFER) ? SENT : NO_ROOM;
  }

  /** Encodes into a claim of the ring's, or of the annex, and gives the claim up if that throws. */
  #encodeInto(value: unknown, views: Views, offset: number, limit: number): number {
    let length: number;
    if (this.#teaches) this.#heed();
    this.#encoding = true;
    try {
      length = this.#encoder.encodeInto(value, views, offset, limit, true);
    } catch (error) {
      this.#sink.abort();
      throw error;
    } finally {
      this.#encoding = false;
    }
    if (!this.#shut) return length;
    this.#sink.abort();
    throw shutMeanwhile();
  }

  /** Sends the value beside the lane and its place in the order through it. */
  #sendBeside(value: unknown, transfer: readonly unknown[]): boolean {
    this.#encoding = true;
    try {
      if (!this.#besideSender.trySend(value, transfer)) return false;
    } finally {
      this.#encoding = false;
    }
    this.#sent();
    return true;
  }

  /** Clones a value that has to wait. */
  #holdBack(value: unknown, transfer: readonly unknown[]): HeldValue {
    this.#encoding = true;
    try {
      const held = this.#beside.holdBack(value, transfer);
      if (!this.#shut) return held;
      this.#beside.letGo(held.value, held.transfer);
      throw shutMeanwhile();
    } finally {
      this.#encoding = false;
    }
  }

  /** Encodes outside the lane. Undefined: refused, the native clone may carry it. What may be dropped teaches nothing. */
  #encodeAside(value: unknown): Aside | undefined {
    if (this.#teaches) this.#heed();
    this.#encoding = true;
    try {
      const encoded = this.#aside.encode(value, !this.#outbox.mayDrop);
      if (this.#shut) throw shutMeanwhile();
      return encoded;
    } finally {
      this.#encoding = false;
    }
  }

  /** What has moved into this message leaves its owner; if it cannot, the message is given up. */
  #detach(encoded: Aside, transfer: readonly unknown[]): void {
    try {
      this.#beside.copying?.detach(transfer);
    } catch (error) {
      this.#encoder.discard?.();
      this.#aside.giveBack(encoded);
      throw error;
    }
  }

  /**
   * Before a value is encoded: did the peer ask to be taught anew? Then what this value needs is taught with it. What was
   * encoded before, in ring and outbox, arrives before; as far as the peer lacks something for it, it is lost (G6).
   */
  #heed(): void {
    const asked = this.#notes.relearns;
    if (asked === this.#heeded) return;
    this.#heeded = asked;
    this.#encoder.forget?.();
  }

  /** One message went straight into the lane. */
  #sent(): void {
    this.#backlog.accepted++;
    this.#starvedFor = 0;
    this.#notes.sent();
  }

  #starve(bytes: number, inAnnex = false): false {
    // The next message is expected to be a little longer than the last one, which may be more than a record takes.
    this.#starvedFor = inAnnex ? bytes : Math.max(1, Math.min(bytes, this.#sink.maxPayload));
    this.#annexStarved = inAnnex;
    this.#notes.stalled();
    // Inside cork too: a reader that sees nothing makes no room.
    this.#sink.publish();
    return false;
  }

  #fits(bytes: number, inAnnex: boolean): boolean {
    if (inAnnex) return (this.#annex as Annex).fits(bytes);
    return this.#sink.claimable(bytes) >= bytes;
  }
}

const NOTHING_ASIDE: Aside = { bytes: new Uint8Array(0), home: undefined };

function busy(): UsageError {
  return new UsageError('ERR_BUSY', 'Cannot send: a getter of the value that is being sent called back into its port');
}
