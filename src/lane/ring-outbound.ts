// Values into a ring: encoded straight into the claimed record when there is room, through the outbox when there is
// not, in parts when they are longer than a record may be, beside the ring when only the native clone carries them.
import { type Encoder, REFUSED } from '../codec/codec.ts';
import { ClosedError, LayoutError, UsageError } from '../errors.ts';
import { HEADER_BYTES, KIND_SIDE, MARKER_BYTES } from '../frame/header.ts';
import { OUTBOX_ITEM_BYTES, PACE_BYTES_PER_MS, PACE_MS_MAX, PACE_PATIENCE_MS, SIDE_VALUE_BYTES } from '../limits.ts';
import type { LaneMemory, Views } from '../memory/region.ts';
import { FULL, type Producer } from '../ring/producer.ts';
import { type Aside, AsideEncoder } from './aside-encoder.ts';
import { Fifo } from './fifo.ts';
import type { Mark } from './outbound.ts';
import { OutboundCounters } from './outbound-counters.ts';
import type { Outbox, OutboxEntry } from './outbox.ts';
import { writeParts } from './parts.ts';
import type { HeldValue, SideChannel, SpilledFrame } from './side-channel.ts';
import { markerOf, SideSender, shutMeanwhile } from './side-sender.ts';

const NO_TRANSFER: readonly unknown[] = [];

export class RingOutbound {
  readonly #views: Views;
  readonly #producer: Producer;
  readonly #encoder: Encoder;
  readonly #kind: number;
  readonly #side: SideChannel;
  readonly #messageMax: number;
  readonly #outbox: Outbox;
  readonly #maySpin: boolean;
  readonly #failed: (error: unknown) => void;
  readonly #aside: AsideEncoder;
  readonly #sideways: SideSender;
  readonly #counters: OutboundCounters;
  readonly #words: Int32Array;
  readonly #relearn: number;
  /** Whether the encoder teaches at all. */
  readonly #teaches: boolean;
  /** Requests of the peer to be taught anew that were heeded. */
  #heeded = 0;
  /** Bytes the next value is expected to take: a little more than the last one did. */
  #wanted = 64;
  /** Bytes that `trySend` last found no room for; 0 when it found room. */
  #starvedFor = 0;
  /** Messages accepted so far. */
  #accepted = 0;
  /** Marks of which something waits in the outbox. Each is given its position the moment that the last of it leaves. */
  readonly #marks: Fifo<Mark> = new Fifo();
  /** Messages left in the side channel at the end. */
  #left = 0;
  /** A value is being encoded or cloned: its getters are user code, which must not find us half way. */
  #encoding = false;
  /** The lane has ended: nothing may follow what it has published. */
  #shut = false;
  /** Messages accepted, or posted in time, that could not be sent after all. */
  #failures = 0;

  constructor(
    views: Views,
    lane: LaneMemory,
    producer: Producer,
    encoder: Encoder,
    kind: number,
    side: SideChannel,
    messageMax: number,
    outbox: Outbox,
    maySpin: boolean,
    /** Word index of the peer's RELEARN. */
    relearn: number,
    failed: (error: unknown) => void,
  ) {
    this.#views = views;
    this.#producer = producer;
    this.#encoder = encoder;
    this.#kind = kind;
    this.#side = side;
    this.#messageMax = messageMax;
    this.#outbox = outbox;
    this.#maySpin = maySpin;
    this.#failed = failed;
    this.#aside = new AsideEncoder(encoder, messageMax);
    this.#sideways = new SideSender(views, lane, producer, side, messageMax);
    this.#counters = new OutboundCounters(lane);
    this.#words = lane.words;
    this.#relearn = relearn;
    this.#teaches = encoder.forget !== undefined;
  }

  /** Messages accepted so far; with `moved`, tells when everything up to a point has left the outbox. */
  get accepted(): number {
    return this.#accepted;
  }
  /** Messages before the first one that still waits: they are in the ring, or were dropped. */
  get moved(): number {
    return this.#outbox.next?.number ?? this.#accepted;
  }

  /** This point in the stream of messages: behind everything accepted so far. */
  mark(): Mark {
    const mark: Mark = { accepted: this.#accepted, position: undefined };
    this.#marks.push(mark);
    this.#placeMarks();
    return mark;
  }
  /**
   * Whether the reader has taken everything before the mark.
   * @throws LayoutError if the ring is damaged
   */
  isTaken({ position }: Mark): boolean {
    return position !== undefined && this.#producer.releasedUpTo(position);
  }
  /** The position to sleep for until the mark is taken; undefined while it needs room first. */
  awaits({ position }: Mark): number | undefined {
    return position;
  }
  /** Takes note of what the reader has given back; only more than that is progress. Try again after it, before sleeping. */
  look(): void {
    this.#producer.lookAtHead();
  }
  /** Whether the reader has given room back since the last look that found too little. */
  get progressed(): boolean {
    return this.#producer.headMoved || this.#sideways.moved;
  }
  /** The position to sleep for when any progress will do. */
  get untaken(): number {
    return this.#producer.untaken;
  }
  get backlog(): number {
    return this.#outbox.length;
  }
  /** Messages accepted that never came to stand in the ring: they wait, or were left in the side channel. */
  get unsent(): number {
    return this.#outbox.length + this.#left;
  }
  /** Messages that this side took and could not send after all. */
  get failures(): number {
    return this.#failures;
  }
  get producer(): Producer {
    return this.#producer;
  }

  /** Whether a sender need not wait: the outbox is below its mark and the last refused message would fit now. */
  get writable(): boolean {
    if (this.#outbox.aboveMark) return false;
    if (this.#starvedFor === 0) return true;
    return (
      this.#outbox.length === 0 && !(this.#sideways.wasFull && this.#sideways.full) && this.#fits(this.#starvedFor)
    );
  }

  /**
   * Sends now or not at all. Never blocks; false when full.
   * @throws DataCloneError, UsageError ERR_TOO_LARGE, ERR_TRANSFER, ERR_BUSY, ClosedError if a getter of the value closed
   *   the lane; nothing was sent
   */
  trySend(value: unknown, transfer: readonly unknown[] = NO_TRANSFER): boolean {
    if (this.#encoding) throw busy();
    if (this.#outbox.length > 0 && !this.pump()) return this.#starve(HEADER_BYTES);
    if (transfer.length > 0 || this.#sideways.isFasterFor(value)) {
      return this.#sendSideways(value, transfer) || this.#starve(MARKER_BYTES);
    }
    const sent = this.#sendDirectly(value);
    // How long it is was not seen: with any room at all it is tried again, and then its length is known.
    if (sent !== undefined) return sent || this.#starve(MARKER_BYTES);
    // It may be too long for the room at hand or for any record: only its encoded length tells.
    const encoded = this.#encodeAside(value);
    if (encoded === undefined) return this.#sendSideways(value, NO_TRANSFER) || this.#starve(MARKER_BYTES);
    const { length } = encoded.bytes;
    const { maxPayload } = this.#producer;
    if (!this.#fits(length > maxPayload ? maxPayload >>> 1 : length)) {
      this.#encoder.discard?.();
      this.#aside.giveBack(encoded);
      return this.#starve(length > maxPayload ? maxPayload >>> 1 : length);
    }
    this.#enqueue(this.#kind, encoded);
    this.pump();
    this.#starvedFor = 0;
    this.#sideways.forgetFull();
    return true;
  }

  /**
   * Sends, through the outbox if need be. Never blocks. A value whose getter closes the lane counts as one that came
   * after the end: it is not sent, and that is no error.
   * @throws DataCloneError, UsageError ERR_TOO_LARGE, ERR_TRANSFER, ERR_OUTBOX_FULL, ERR_BUSY; nothing was sent
   */
  post(value: unknown, transfer: readonly unknown[] = NO_TRANSFER): void {
    if (this.#encoding) throw busy();
    try {
      this.#post(value, transfer);
    } catch (error) {
      if (!(this.#shut && error instanceof ClosedError)) throw error;
      this.#failures++;
    }
  }

  #post(value: unknown, transfer: readonly unknown[]): void {
    const natively = transfer.length > 0 || this.#sideways.isFasterFor(value);
    if (this.#outbox.length === 0 || this.pump()) {
      if (natively ? this.#sendSideways(value, transfer) : this.#sendDirectly(value) === true) return;
    }
    if (!this.#outbox.admit()) {
      this.#countOutbox();
      return;
    }
    const encoded = natively ? undefined : this.#encodeAside(value);
    if (encoded !== undefined) this.#enqueue(this.#kind, encoded);
    else this.#enqueue(KIND_SIDE, NOTHING_ASIDE, this.#holdBack(value, transfer));
    this.#counters.stalled();
    if (!this.pump() && encoded !== undefined && encoded.bytes.length > this.#producer.capacity) {
      this.#pumpAlong(encoded.bytes.length);
    }
  }

  /**
   * Keeps pace with a reader that is taking a long message in: to come back for each of its parts through the event
   * loop takes longer than the parts themselves. Ends when the reader pauses, or has taken longer than the native clone
   * would have kept this thread anyway.
   */
  #pumpAlong(bytes: number): void {
    if (!this.#maySpin) return;
    const start = performance.now();
    const end = start + Math.min(PACE_MS_MAX, bytes / PACE_BYTES_PER_MS);
    let progress = start;
    for (let now = start; now < end && now - progress < PACE_PATIENCE_MS; now = performance.now()) {
      if (!this.#producer.headMoved) continue;
      progress = now;
      if (this.pump()) return;
    }
  }

  /** Moves what waits in the outbox into the ring as far as it fits; whether the outbox is empty now. */
  pump(): boolean {
    if (this.#encoding) return false;
    for (let entry = this.#outbox.next; entry !== undefined; entry = this.#outbox.next) {
      if (!this.#moveIn(entry)) return false;
      this.#outbox.done();
      this.#aside.giveBack(entry);
      this.#placeMarks();
    }
    return true;
  }

  #placeMarks(): void {
    for (let mark = this.#marks.first; mark !== undefined; mark = this.#marks.first) {
      if (mark.accepted > this.moved) return;
      mark.position = this.#producer.position;
      this.#marks.shift();
    }
  }

  /** From now on nothing follows, also not the value whose getter is running. */
  shut(): void {
    this.#shut = true;
    this.#sideways.shut();
  }

  /** Leaves what did not fit the ring in the side channel, where the other side finds it; returns the frames left. */
  spill(): number {
    const frames: SpilledFrame[] = [];
    for (const { kind, bytes, home, held, moved } of this.#outbox.takeAll()) {
      if (held === undefined) frames.push([kind, moved === 0 && home === undefined ? bytes : bytes.slice(moved)]);
      else {
        try {
          frames.push([kind, markerOf(this.#side.post(held.value, held.transfer))]);
        } catch (error) {
          this.#giveUp(error);
        }
      }
    }
    this.#left = frames.length;
    if (frames.length > 0) this.#side.leave(frames);
    return frames.length;
  }

  /** True: sent. False: no room to speak of. Undefined: the value did not fit the room there was. */
  #sendDirectly(value: unknown): boolean | undefined {
    const producer = this.#producer;
    const room = Math.min(producer.claimable(this.#wanted), this.#messageMax);
    if (room < MARKER_BYTES) return false;
    const offset = producer.tryClaim(room);
    if (offset === FULL) return false;
    let length: number;
    this.#heed();
    this.#encoding = true;
    try {
      length = this.#encoder.encodeInto(value, this.#views, offset, room, true);
    } catch (error) {
      producer.abort();
      throw error;
    } finally {
      this.#encoding = false;
    }
    if (this.#shut) {
      producer.abort();
      throw shutMeanwhile();
    }
    if (length >= 0) {
      producer.commit(length, this.#kind);
      this.#wanted = length + 64;
      this.#sent();
      return true;
    }
    producer.abort();
    return length === REFUSED ? this.#sendSideways(value, NO_TRANSFER) : undefined;
  }

  /** Sends the value through the side channel and its place in the order through the ring. */
  #sendSideways(value: unknown, transfer: readonly unknown[]): boolean {
    this.#encoding = true;
    try {
      if (!this.#sideways.trySend(value, transfer)) return false;
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
      const held = this.#side.holdBack(value, transfer);
      if (this.#shut) throw shutMeanwhile();
      return held;
    } finally {
      this.#encoding = false;
    }
  }

  /** Encodes outside the ring. Undefined: refused, the native clone may carry it. What may be dropped teaches nothing. */
  #encodeAside(value: unknown): Aside | undefined {
    this.#heed();
    this.#encoding = true;
    try {
      const encoded = this.#aside.encode(value, !this.#outbox.mayDrop);
      if (this.#shut) throw shutMeanwhile();
      return encoded;
    } finally {
      this.#encoding = false;
    }
  }

  /**
   * Before a value is encoded: did the peer ask to be taught anew? Then what this value needs is taught with it. What was
   * encoded before, in ring and outbox, arrives before; as far as the peer lacks something for it, it is lost (G6).
   */
  #heed(): void {
    if (!this.#teaches) return;
    // SYNC relearn: a look at a line that nobody writes but in an emergency; pairs with RingInbound.askToRelearn.
    const asked = Atomics.load(this.#words, this.#relearn);
    if (asked === this.#heeded) return;
    this.#heeded = asked;
    this.#encoder.forget?.();
  }

  /** Moves one waiting message, or its next parts, into the ring; whether it need not wait any more. */
  #moveIn(entry: OutboxEntry): boolean {
    const { bytes, kind, held } = entry;
    if (held !== undefined) return this.#moveHeld(held);
    if (bytes.length <= this.#producer.maxPayload && entry.moved === 0) {
      if (!this.#copyIn(kind, bytes)) return false;
    } else {
      entry.moved = writeParts(this.#views, this.#producer, kind, bytes, entry.moved);
      if (entry.moved < bytes.length) return false;
    }
    this.#counters.sent();
    return true;
  }

  /** The same for a value that was cloned. It is cloned once more, and what moves with it may have closed meanwhile. */
  #moveHeld({ value, transfer }: HeldValue): boolean {
    try {
      if (!this.#sideways.trySend(value, transfer)) return false;
      this.#counters.sent();
    } catch (error) {
      if (error instanceof LayoutError) throw error;
      this.#giveUp(error);
    }
    return true;
  }

  /** A message that was accepted can't be sent. It stands in the way of no other, and this side is told. */
  #giveUp(error: unknown): void {
    this.#failures++;
    this.#failed(error);
  }

  #copyIn(kind: number, bytes: Uint8Array): boolean {
    const offset = this.#producer.tryClaim(bytes.length);
    if (offset === FULL) return false;
    this.#views.blocks.copyIn(bytes, offset);
    this.#producer.commit(bytes.length, kind);
    return true;
  }

  #enqueue(kind: number, { bytes, home }: Aside, held?: HeldValue): void {
    const weight = OUTBOX_ITEM_BYTES + (held === undefined ? bytes.length : SIDE_VALUE_BYTES);
    this.#outbox.push({ kind, bytes, home, held, weight, number: this.#accepted, moved: 0 });
    this.#accepted++;
    this.#countOutbox();
    // It may have been dropped what a mark waited for.
    this.#placeMarks();
  }

  /** One message went straight into the ring. */
  #sent(): void {
    this.#accepted++;
    this.#starvedFor = 0;
    this.#counters.sent();
  }

  #starve(bytes: number): false {
    // The next message is expected to be a little longer than the last one, which may be more than a record takes.
    this.#starvedFor = Math.min(bytes, this.#producer.maxPayload);
    this.#counters.stalled();
    // Inside cork too: a reader that sees nothing makes no room.
    this.#producer.publish();
    return false;
  }

  #fits(bytes: number): boolean {
    return this.#producer.claimable(bytes) >= bytes;
  }

  #countOutbox(): void {
    this.#counters.outbox(this.#outbox.drops, this.#outbox.peak);
  }
}

const NOTHING_ASIDE: Aside = { bytes: new Uint8Array(0), home: undefined };

function busy(): UsageError {
  return new UsageError('ERR_BUSY', 'Cannot send: a getter of the value that is being sent called back into its port');
}
