// One direction of which only the newest message counts (overflow `latest`): values into slots that are replaced in place
// (ring/latest-slots.ts), so that whoever reads gets the newest one although its sender's thread does something else.
//
// A message that finds no way into a slot waits, alone, as the one entry of the outbox: inside `cork`, and when too many
// values lie in the side channel. The next message replaces it there.
// Longer than most files: what goes out now, what waits, and what was given up keep one count of what was accepted.
import { type Encoder, REFUSED } from '../codec/codec.ts';
import { ClosedError, LayoutError, UsageError } from '../errors.ts';
import { ELSEWHERE_BYTES, KIND_ELSEWHERE, KIND_LATEST, KIND_SIDE, MARKER_BYTES } from '../frame/header.ts';
import { OUTBOX_ITEM_BYTES, SIDE_VALUES_MAX } from '../limits.ts';
import type { LaneMemory, Region, Views } from '../memory/region.ts';
import { LatestProducer } from '../ring/latest-producer.ts';
import { type Bell, FULL, Producer } from '../ring/producer.ts';
import { type Aside, AsideEncoder } from './aside-encoder.ts';
import { markerOf } from './backlog.ts';
import { type Beside, type HeldValue, weightOf } from './beside.ts';
import { shutMeanwhile } from './beside-sender.ts';
import type { Mark } from './lane.ts';
import { SlotGrowth } from './latest-growth.ts';
import { LatestProgress } from './latest-progress.ts';
import type { LeftOver, SpilledFrame } from './left-over.ts';
import type { Lending } from './lending.ts';
import type { OutboundLuggage } from './luggage.ts';
import type { Outbox, OverflowPolicy } from './outbox.ts';
import type { OutboundNotes, RecordSink } from './records.ts';

const NO_TRANSFER: readonly unknown[] = [];
const NOTHING_ASIDE: Aside = { bytes: new Uint8Array(0), home: undefined };

export interface LatestParts {
  /** Of which this side sends on one lane, from its first message on. */
  readonly region: Region;
  readonly lane: LaneMemory;
  readonly notes: OutboundNotes;
  /** Wakes the reader. */
  readonly bell: Bell;
  readonly encoder: Encoder;
  /** Of the encoder's payloads. */
  readonly kind: number;
  readonly beside: Beside;
  /** Where memory for messages longer than a slot comes from, if there is any. */
  readonly lending?: Pick<Lending, 'lend'> | undefined;
  readonly leftOver?: Pick<LeftOver, 'leave'> | undefined;
  readonly outbox: Outbox;
  /** Looks where nobody can be thrown at: damage counts as true, and is told to who reads. */
  readonly looked: (look: () => boolean) => boolean;
  /** Called when something is replaced that `isTaken` was asked for. */
  readonly awaitedCame: () => void;
  /** Told of a message that waited and could not be sent after all. */
  readonly failed: (error: unknown) => void;
  /** What the end has taken along that this lane goes on for; the encoder was made with its `successor`. */
  readonly luggage?: OutboundLuggage | undefined;
}

export class LatestOutbound implements Pick<RecordSink, 'cork' | 'publish'> {
  readonly #views: Views;
  readonly #lane: LaneMemory;
  readonly #slots: LatestProducer;
  readonly #encoder: Encoder;
  readonly #kind: number;
  readonly #messageMax: number;
  readonly #beside: Beside;
  readonly #leftOver: Pick<LeftOver, 'leave'> | undefined;
  readonly #outbox: Outbox;
  readonly #aside: AsideEncoder;
  readonly #growth: SlotGrowth;
  readonly #notes: OutboundNotes;
  readonly #progress: LatestProgress;
  /** The last message was longer than a slot: the next one will be, too. */
  #long = false;
  #corks = 0;
  /** What waits in the outbox waits for the reader to take values out of the side channel; how many it had taken. */
  #stuck = false;
  #takenSeen = 0;
  /** The reader knows that it must look at the slots. */
  #announced = false;
  /** A value is being encoded or cloned: its getters are user code, which must find neither slot nor number half used. */
  #encoding = false;
  /** Nothing may follow what has gone out, or what `spill` leaves over. */
  #ended = false;
  /** Nobody is there to read any more. */
  #abandoned = false;
  /** Messages that found no way into a slot before the end. */
  #left = 0;
  /** Messages that waited and could not be sent after all. */
  #failures = 0;
  readonly #failed: (error: unknown) => void;
  readonly #looked: (look: () => boolean) => boolean;
  readonly #moves = (): boolean => this.#moveIn();

  constructor(parts: LatestParts) {
    const { region, lane, notes, bell, encoder, outbox } = parts;
    this.#failed = parts.failed;
    this.#looked = parts.looked;
    this.#views = region.views;
    this.#lane = lane;
    this.#slots = new LatestProducer(lane, bell);
    this.#encoder = encoder;
    this.#kind = parts.kind;
    this.#messageMax = region.messageMax;
    this.#beside = parts.beside;
    this.#leftOver = parts.leftOver;
    this.#outbox = outbox;
    this.#aside = new AsideEncoder(encoder, region.messageMax);
    this.#growth = new SlotGrowth(parts.lending, encoder, this.#aside, region.messageMax);
    this.#notes = notes;
    this.#progress = new LatestProgress(this.#slots, outbox, parts.awaitedCame);
    if (parts.luggage !== undefined) this.#unpack(parts.luggage);
  }

  /** A value is being written: whoever calls now is a getter of it. */
  get busy(): boolean {
    return this.#encoding;
  }
  /** This end goes over to another thread: what is to go along. Nothing goes out here any more. @throws LayoutError */
  leave(): OutboundLuggage {
    this.#moveIn();
    const waiting = this.#outbox.takeAll().flatMap(({ kind, bytes, held }) => {
      try {
        const goesOn = held && this.#beside.movesOn(held.value, held.transfer);
        return [{ kind, bytes: bytes.slice(), held: goesOn, moved: 0 }];
      } catch (error) {
        this.#giveUp(error);
        return [];
      }
    });
    this.#ended = true;
    this.#abandoned = true;
    const latest = { slot: this.#slots.slot, announced: this.#announced, ...this.#growth.luggage };
    const { drops, peak } = this.#outbox;
    return { successor: this.#encoder.successor?.(), waiting, drops, peak, failures: this.#failures, latest };
  }
  #unpack({ waiting, drops, peak, failures, latest }: OutboundLuggage): void {
    this.#outbox.resume(drops, peak);
    this.#failures = failures;
    if (latest !== undefined) {
      this.#slots.resume(latest.slot);
      this.#announced = latest.announced;
      this.#growth.resume(latest);
    }
    for (const { kind, bytes, held } of waiting) {
      this.#wait(kind, { bytes, home: undefined }, held);
      this.#stuck = true;
    }
  }

  get overflow(): OverflowPolicy {
    return this.#outbox.policy;
  }
  /** Messages that wait for the reader; one that waits for the end of `cork` does not. */
  get backlog(): number {
    return this.#stuck ? this.#outbox.length : 0;
  }
  /** Messages accepted that never came into a slot, and were not replaced: one that waits, or what the end has left over. */
  get unsent(): number {
    return this.#outbox.length + this.#left;
  }
  /** Messages that this side took and could not send after all. */
  get failures(): number {
    return this.#failures;
  }
  get sink(): Pick<RecordSink, 'cork' | 'publish'> {
    return this;
  }
  /** There is always room for the newest. */
  get writable(): boolean {
    return true;
  }

  /**
   * Makes the value the newest message. Never blocks; there is always room.
   * @throws DataCloneError, UsageError ERR_TOO_LARGE, ERR_TRANSFER, ERR_BUSY; ClosedError if a getter of it has closed the
   *   port. The message before is still the newest then
   */
  trySend(value: unknown, transfer: readonly unknown[] = NO_TRANSFER): boolean {
    if (this.#encoding) {
      throw new UsageError(
        'ERR_BUSY',
        'Cannot send: a getter of the value that is being sent called back into its port',
      );
    }
    this.#encoding = true;
    try {
      const corked = this.#corks > 0;
      if (transfer.length > 0 && this.#beside.copying?.suits(transfer, this.#messageMax)) {
        // It leaves its owner first, as what is sent here is never refused for want of room.
        const held = this.#beside.holdBack(value, transfer);
        this.#send(held.value, held.transfer, true, corked);
      } else this.#send(value, transfer, transfer.length === 0, corked);
      return true;
    } finally {
      this.#encoding = false;
    }
  }

  /** The same, but a value whose getter closes the port counts as one that came after the end. */
  /** @param encoded by the codec, if it takes the value */
  #send(value: unknown, transfer: readonly unknown[], encoded: boolean, corked: boolean): void {
    const natively = !encoded || !(corked ? this.#postLater(value) : this.#postNow(value));
    if (natively) this.#postBeside(value, transfer, corked);
  }
  post(value: unknown, transfer?: readonly unknown[]): boolean {
    try {
      this.trySend(value, transfer);
    } catch (error) {
      if (!(this.#ended && error instanceof ClosedError)) throw error;
      this.#failures++;
    }
    return this.backlog > 0;
  }

  /** Moves what waits into a slot if it can go; whether nothing waits for the reader. */
  pump(): boolean {
    if (this.#encoding) return false;
    return this.#corks > 0 && !this.#stuck ? true : this.#moveIn();
  }

  cork<R>(body: () => R): R {
    this.#corks++;
    try {
      return body();
    } finally {
      this.#corks--;
      if (this.#corks === 0) this.publish();
    }
  }

  /** Publishes what `cork` holds back. */
  publish(): void {
    if (!this.#encoding && !this.#ended) this.#looked(this.#moves);
  }

  mark(): Mark {
    const { accepted } = this.#progress;
    return { accepted, position: accepted };
  }
  /** Whether the newest message before the mark was taken, or replaced. */
  isTaken({ accepted }: Mark): boolean {
    return this.#progress.settledUpTo(accepted);
  }

  look(): void {}
  /** The reader rings whenever it takes something: that is enough to sleep for. */
  awaits(): undefined {
    return undefined;
  }
  get untaken(): number {
    return 0;
  }
  /** Whether the reader has taken values that stood in the way of the one that waits. */
  get progressed(): boolean {
    return this.#stuck && this.#notes.besideTaken !== this.#takenSeen;
  }

  /** From now on nothing follows, also not the value whose getter is running. */
  shut(): void {
    this.#ended = true;
  }

  /** Leaves what could not go into a slot in the side channel, where the other side finds it; returns the frames left. */
  spill(): number {
    // With a getter on the way the slot is being written.
    if (!this.#encoding && this.#moveIn()) return 0;
    const frames: SpilledFrame[] = [];
    for (const { kind, bytes, held } of this.#outbox.takeAll()) {
      const number = held === undefined ? undefined : this.#postHeld(held);
      if (held === undefined) frames.push([kind, bytes.slice()]);
      else if (number !== undefined) frames.push([kind, markerOf(number, this.#beside.postedWhere)]);
    }
    this.#left += frames.length;
    if (frames.length > 0) this.#leftOver?.leave(frames);
    return frames.length;
  }

  /** Nothing goes out any more. What waits goes on waiting, and the other ends of what is in it are told. */
  abandon(): void {
    if (this.#abandoned) return;
    this.#abandoned = true;
    for (const { held } of this.#outbox.entries()) this.#letGo(held);
  }

  /** Encodes straight into the slot that goes out next; false: refused, the native clone may carry it. */
  #postNow(value: unknown): boolean {
    if (!this.#long) {
      const { offset, maxPayload } = this.#slots;
      const room = Math.min(maxPayload, this.#messageMax);
      const length = this.#encoder.encodeInto(value, this.#views, offset, room, false);
      if (length === REFUSED) return false;
      if (length >= 0) {
        this.#accept();
        this.#publish(length, this.#kind, this.#beside.posted);
        return true;
      }
    }
    const length = this.#growth.encodeInto(this.#slots.slot, value);
    if (length === REFUSED) return false;
    this.#long = length > this.#slots.maxPayload;
    this.#accept();
    this.#publishElsewhere(length, this.#kind);
    return true;
  }

  /** Encodes for the end of `cork`, which may see another one in its place. */
  #postLater(value: unknown): boolean {
    const aside = this.#aside.encode(value, false);
    if (aside === undefined) return false;
    this.#wait(this.#kind, aside);
    return true;
  }

  #postBeside(value: unknown, transfer: readonly unknown[], corked: boolean): void {
    if (corked || !this.#besideFits()) {
      const held = this.#beside.holdBack(value, transfer);
      if (this.#ended) this.#letGo(held);
      this.#wait(KIND_SIDE, NOTHING_ASIDE, held);
      this.#stuck = !corked;
      return;
    }
    const number = this.#beside.post(value, transfer);
    this.#accept();
    this.#publishMarker(number);
  }

  /** Moves the waiting message into a slot; false if the side channel is too full for it. */
  #moveIn(): boolean {
    const entry = this.#outbox.next;
    if (entry === undefined) return true;
    if (this.#abandoned) return false;
    if (entry.held !== undefined && !this.#besideFits()) {
      this.#stuck = true;
      return false;
    }
    // Whatever comes of it now, it will not be tried twice.
    this.#outbox.done();
    this.#stuck = false;
    if (entry.held !== undefined) {
      const number = this.#postHeld(entry.held);
      if (number !== undefined) this.#publishMarker(number);
    } else {
      const { bytes, kind } = entry;
      if (bytes.length <= this.#slots.maxPayload) {
        this.#views.blocks.copyIn(bytes, this.#slots.offset);
        this.#publish(bytes.length, kind, this.#beside.posted);
      } else if (this.#putLong(bytes)) this.#publishElsewhere(bytes.length, kind);
    }
    this.#aside.giveBack(entry);
    return true;
  }

  /** The number of a value that was cloned before; undefined if what was to move with it has closed meanwhile. */
  #postHeld(held: HeldValue): number | undefined {
    try {
      return this.#beside.post(held.value, held.transfer);
    } catch (error) {
      this.#letGo(held);
      this.#giveUp(error);
      return undefined;
    }
  }

  /** Whether there is memory for a message that is longer than a slot. */
  #putLong(bytes: Uint8Array): boolean {
    try {
      this.#growth.put(this.#slots.slot, bytes);
      return true;
    } catch (error) {
      this.#giveUp(error);
      return false;
    }
  }

  /** A message that waited can't be sent after all, and this side is told. */
  #giveUp(error: unknown): void {
    this.#failures++;
    this.#failed(error);
    this.#progress.replaced();
  }

  #letGo(held: HeldValue | undefined): void {
    if (held !== undefined) this.#beside.letGo(held.value, held.transfer);
  }

  #publishMarker(number: number): void {
    const at = this.#slots.offset >>> 2;
    this.#views.words[at] = number;
    this.#views.words[at + 1] = this.#beside.postedWhere;
    this.#publish(MARKER_BYTES, KIND_SIDE, number);
  }

  /** The message lies in the memory that the slot has beside it. */
  #publishElsewhere(length: number, kind: number): void {
    const at = this.#slots.offset >>> 2;
    this.#views.words[at] = length;
    this.#views.words[at + 1] = kind;
    this.#views.words[at + 2] = this.#growth.numberOf(this.#slots.slot);
    this.#views.words[at + 3] = 0;
    this.#publish(ELSEWHERE_BYTES, KIND_ELSEWHERE, this.#beside.posted);
  }

  /** The newest of all that were accepted goes out. */
  #publish(length: number, kind: number, sideBefore: number): void {
    if (!this.#announced) this.#announce();
    this.#dropWaiting();
    if (this.#slots.publish(length, kind, sideBefore)) {
      this.#outbox.drops++;
      this.#countOutbox();
    } else this.#notes.sent();
    this.#progress.published();
  }

  /** The ring's first and last record. Its reader is woken by the message behind it. */
  #announce(): void {
    const ring = new Producer(this.#lane);
    if (ring.tryClaim(0) === FULL) throw new LayoutError('Cannot begin: a ring that was never used is full');
    ring.commit(0, KIND_LATEST);
    this.#announced = true;
  }

  #wait(kind: number, { bytes, home }: Aside, held?: HeldValue): void {
    this.#accept();
    this.#dropWaiting();
    const weight = OUTBOX_ITEM_BYTES + (held === undefined ? bytes.length : weightOf(held));
    this.#outbox.push({ kind, bytes, home, held, weight, number: this.#progress.accepted - 1, moved: 0 });
    this.#countOutbox();
    this.#progress.replaced();
  }

  #dropWaiting(): void {
    for (const entry of this.#outbox.takeAll()) {
      this.#outbox.drops++;
      this.#aside.giveBack(entry);
      this.#letGo(entry.held);
    }
    this.#stuck = false;
  }

  /** Whether one more value may be on its way beside the slots: they are of any size, so their number is bounded. */
  #besideFits(): boolean {
    this.#takenSeen = this.#notes.besideTaken;
    return ((this.#beside.posted - this.#takenSeen) | 0) < SIDE_VALUES_MAX;
  }

  /** One message more, whose getters have run: one of them may have closed the port, and then nothing follows. */
  #accept(): void {
    if (this.#ended) throw shutMeanwhile();
    this.#progress.accepted++;
  }

  #countOutbox(): void {
    this.#notes.outbox(this.#outbox.drops, this.#outbox.peak);
  }
}
