// Values into a ring: encoded straight into the claimed record when there is room, through the outbox when there is
// not, in parts when they are longer than a record may be, beside the ring when only the native clone carries them.
import { platform } from '#platform';
import type { Encoder } from '../codec/codec.ts';
import { REFUSED } from '../codec/codec.ts';
import { UsageError } from '../errors.ts';
import { HEADER_BYTES, KIND_SIDE, MARKER_BYTES, MORE, PARTS_PREFIX_BYTES } from '../frame/header.ts';
import {
  OUTBOX_ITEM_BYTES,
  PACE_BYTES_PER_MS,
  PACE_MS_MAX,
  PACE_PATIENCE_MS,
  SIDE_VALUE_BYTES,
  SIDE_VALUES_MAX,
} from '../limits.ts';
import { DROPS, OUTBOX_PEAK, SENT, SIDE_TAKEN, STALLS } from '../memory/layout.ts';
import type { LaneMemory, Views } from '../memory/region.ts';
import { Scratch } from '../memory/scratch.ts';
import { FULL, type Producer } from '../ring/producer.ts';
import type { Outbox, OutboxEntry } from './outbox.ts';
import type { HeldValue, SideChannel, SpilledFrame } from './side-channel.ts';

/** Bytes first offered to a value that has to be encoded outside the ring; grows fourfold while it does not fit. */
const ASIDE_BYTES_FIRST = 64 * 1024;
/** Bytes from which on a waiting message keeps the memory it was encoded in; below, a copy is cheaper to keep. */
const ASIDE_BYTES_KEPT = 32 * 1024;
const NO_TRANSFER: readonly unknown[] = [];

export class RingOutbound {
  readonly #views: Views;
  readonly #lane: LaneMemory;
  readonly #producer: Producer;
  readonly #encoder: Encoder;
  readonly #kind: number;
  readonly #side: SideChannel;
  readonly #messageMax: number;
  readonly #outbox: Outbox;
  readonly #maySpin: boolean;
  readonly #scratch = new Scratch();
  /** Bytes that the last message encoded outside the ring took. */
  #asideBytes: number = ASIDE_BYTES_FIRST;
  /** The string that went natively last. */
  #lastNativeText = '';
  /** Bytes the next value is expected to take: a little more than the last one did. */
  #wanted = 64;
  /** Bytes that `trySend` last found no room for; 0 when it found room. */
  #starvedFor = 0;
  /** Whether it was the number of values in the side channel that stood in the way. */
  #sideFull = false;
  /** Messages accepted so far. */
  #accepted = 0;
  /** A value is being encoded: its getters are user code, which must not find the encoder half way. */
  #encoding = false;

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
  ) {
    this.#views = views;
    this.#lane = lane;
    this.#producer = producer;
    this.#encoder = encoder;
    this.#kind = kind;
    this.#side = side;
    this.#messageMax = messageMax;
    this.#outbox = outbox;
    this.#maySpin = maySpin;
  }

  /** Messages accepted so far; with `moved`, tells when everything up to a point has left the outbox. */
  get accepted(): number {
    return this.#accepted;
  }
  /** Messages before the first one that still waits: they are in the ring, or were dropped. */
  get moved(): number {
    return this.#outbox.first?.number ?? this.#accepted;
  }
  get backlog(): number {
    return this.#outbox.length;
  }
  get producer(): Producer {
    return this.#producer;
  }

  /** Whether a sender need not wait: the outbox is below its mark and the last refused message would fit now. */
  get writable(): boolean {
    if (this.#outbox.aboveMark) return false;
    if (this.#starvedFor === 0) return true;
    return this.#outbox.length === 0 && !(this.#sideFull && this.#sideChannelFull) && this.#fits(this.#starvedFor);
  }

  /**
   * Sends now or not at all. Never blocks; false when full.
   * @throws DataCloneError, UsageError ERR_TOO_LARGE, ERR_TRANSFER; nothing was sent
   */
  trySend(value: unknown, transfer: readonly unknown[] = NO_TRANSFER): boolean {
    if (this.#encoding) throw busy();
    if (this.#outbox.length > 0 && !this.pump()) return this.#starve(HEADER_BYTES);
    if (transfer.length > 0 || this.#goesNatively(value)) {
      return this.#sendSideways(value, transfer) || this.#starve(MARKER_BYTES);
    }
    const sent = this.#sendDirectly(value);
    if (sent !== undefined) return sent || this.#starve(this.#sideFull ? MARKER_BYTES : this.#wanted);
    // It may be too long for the room at hand or for any record: only its encoded length tells.
    const encoded = this.#encodeAside(value, !this.#outbox.mayDrop);
    if (encoded === undefined) return this.#sendSideways(value, NO_TRANSFER) || this.#starve(MARKER_BYTES);
    const { length } = encoded.bytes;
    const { maxPayload } = this.#producer;
    if (!this.#fits(length > maxPayload ? maxPayload >>> 1 : length)) {
      this.#encoder.discard?.();
      this.#giveBack(encoded);
      return this.#starve(length > maxPayload ? maxPayload >>> 1 : length);
    }
    this.#enqueue(this.#kind, encoded);
    this.pump();
    this.#starvedFor = 0;
    this.#sideFull = false;
    return true;
  }

  /**
   * Sends, through the outbox if need be. Never blocks.
   * @throws DataCloneError, UsageError ERR_TOO_LARGE, ERR_TRANSFER, ERR_OUTBOX_FULL; nothing was sent
   */
  post(value: unknown, transfer: readonly unknown[] = NO_TRANSFER): void {
    if (this.#encoding) throw busy();
    const natively = transfer.length > 0 || this.#goesNatively(value);
    if (this.#outbox.length === 0 || this.pump()) {
      if (natively ? this.#sendSideways(value, transfer) : this.#sendDirectly(value) === true) return;
    }
    if (!this.#outbox.admit()) {
      this.#countDrops();
      return;
    }
    // What may be dropped later must teach the receiver nothing.
    const encoded = natively ? undefined : this.#encodeAside(value, !this.#outbox.mayDrop);
    if (encoded !== undefined) this.#enqueue(this.#kind, encoded);
    else this.#enqueue(KIND_SIDE, NOTHING_ASIDE, this.#side.holdBack(value, transfer));
    this.#stalled();
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
    for (let entry = this.#outbox.first; entry !== undefined; entry = this.#outbox.first) {
      if (!this.#moveIn(entry)) return false;
      this.#outbox.shift();
      this.#giveBack(entry);
    }
    return true;
  }

  /** Leaves what did not fit the ring in the side channel, where the other side finds it; returns the frames left. */
  spill(): number {
    const frames: SpilledFrame[] = [];
    for (const { kind, bytes, home, held, moved } of this.#outbox.takeAll()) {
      if (held !== undefined) frames.push([kind, marker(this.#side.post(held.value, held.transfer))]);
      else frames.push([kind, moved === 0 && home === undefined ? bytes : bytes.slice(moved)]);
    }
    if (frames.length > 0) this.#side.leave(frames);
    return frames.length;
  }

  /**
   * Whether the runtime's own port carries this string faster. One that comes again right away does not go natively:
   * then the codec teaches it to the receiver, and from there on its number travels.
   */
  #goesNatively(value: unknown): boolean {
    if (typeof value !== 'string' || value.length < platform.nativeTextMin || value === this.#lastNativeText)
      return false;
    if (value.length > this.#messageMax) return false;
    this.#lastNativeText = value;
    return true;
  }

  /** True: sent. False: no room to speak of. Undefined: the value did not fit the room there was. */
  #sendDirectly(value: unknown): boolean | undefined {
    const producer = this.#producer;
    const room = Math.min(producer.claimable(this.#wanted), this.#messageMax);
    if (room < MARKER_BYTES) return false;
    const offset = producer.tryClaim(room);
    if (offset === FULL) return false;
    let length: number;
    this.#encoding = true;
    try {
      length = this.#encoder.encodeInto(value, this.#views, offset, room, true);
    } catch (error) {
      producer.abort();
      throw error;
    } finally {
      this.#encoding = false;
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
    if (!this.#postSideways(value, transfer)) return false;
    this.#accepted++;
    this.#starvedFor = 0;
    return true;
  }

  #postSideways(value: unknown, transfer: readonly unknown[]): boolean {
    this.#sideFull = this.#sideChannelFull;
    if (this.#sideFull) return false;
    const offset = this.#producer.tryClaim(MARKER_BYTES);
    if (offset === FULL) return false;
    let number: number;
    try {
      number = this.#side.post(value, transfer);
    } catch (error) {
      this.#producer.abort();
      throw error;
    }
    this.#views.words[offset >>> 2] = number;
    this.#views.words[(offset >>> 2) + 1] = 0;
    this.#producer.commit(MARKER_BYTES, KIND_SIDE);
    this.#sentOne();
    return true;
  }

  /** Encodes outside the ring. Undefined: refused, the native clone may carry it. */
  #encodeAside(value: unknown, learn: boolean): Aside | undefined {
    let home = this.#scratch.take(Math.min(this.#asideBytes, this.#messageMax));
    for (;;) {
      const room = Math.min(home.bytes.length, this.#messageMax);
      let length: number = REFUSED;
      this.#encoding = true;
      try {
        length = this.#encoder.encodeInto(value, home, 0, room, learn);
      } finally {
        this.#encoding = false;
        if (length === REFUSED) this.#scratch.give(home, room);
      }
      if (length >= 0) {
        this.#asideBytes = Math.max(length, ASIDE_BYTES_FIRST);
        if (length >= ASIDE_BYTES_KEPT) return { bytes: home.bytes.subarray(0, length), home };
        const bytes = home.bytes.slice(0, length);
        this.#scratch.give(home, room);
        return { bytes, home: undefined };
      }
      if (length === REFUSED) return undefined;
      this.#scratch.give(home, room);
      if (room === this.#messageMax) {
        throw new UsageError(
          'ERR_TOO_LARGE',
          `Cannot send: the message takes more than ${this.#messageMax} bytes; raise the channel's maxMessageBytes`,
          { limit: this.#messageMax },
        );
      }
      home = this.#scratch.take(Math.min(room * 4, this.#messageMax));
    }
  }

  /** Moves one waiting message, or its next parts, into the ring; whether all of it is there. */
  #moveIn(entry: OutboxEntry): boolean {
    const { bytes, kind, held } = entry;
    if (held !== undefined) return this.#postSideways(held.value, held.transfer);
    if (bytes.length <= this.#producer.maxPayload && entry.moved === 0) return this.#copyIn(kind, bytes);
    while (entry.moved < bytes.length) {
      const prefix = entry.moved === 0 ? PARTS_PREFIX_BYTES : 0;
      const left = bytes.length - entry.moved + prefix;
      // Parts of an eighth of the ring keep both sides busy at once; the rest goes as it is.
      const smallest = Math.min(left, this.#producer.capacity >>> 3);
      const room = this.#producer.claimable(smallest);
      if (room < smallest) return false;
      const length = Math.min(room, left, this.#producer.capacity >>> 2);
      const offset = this.#producer.tryClaim(length);
      if (offset === FULL) return false;
      if (prefix > 0) {
        this.#views.words[offset >>> 2] = bytes.length;
        this.#views.words[(offset >>> 2) + 1] = 0;
      }
      const count = length - prefix;
      this.#views.blocks.copyIn(bytes.subarray(entry.moved, entry.moved + count), offset + prefix);
      entry.moved += count;
      this.#producer.commit(length, entry.moved < bytes.length ? kind | MORE : kind);
    }
    this.#sentOne();
    return true;
  }

  #giveBack({ bytes, home }: Aside): void {
    if (home !== undefined) this.#scratch.give(home, bytes.length);
  }

  #copyIn(kind: number, bytes: Uint8Array): boolean {
    const offset = this.#producer.tryClaim(bytes.length);
    if (offset === FULL) return false;
    this.#views.blocks.copyIn(bytes, offset);
    this.#producer.commit(bytes.length, kind);
    this.#sentOne();
    return true;
  }

  #enqueue(kind: number, { bytes, home }: Aside, held?: HeldValue): void {
    const drops = this.#outbox.drops;
    const weight = OUTBOX_ITEM_BYTES + (held === undefined ? bytes.length : SIDE_VALUE_BYTES);
    this.#outbox.push({ kind, bytes, home, held, weight, number: this.#accepted, moved: 0 });
    this.#accepted++;
    this.#count(OUTBOX_PEAK, this.#outbox.peak);
    if (this.#outbox.drops !== drops) this.#countDrops();
  }

  /** One message went straight into the ring. */
  #sent(): void {
    this.#accepted++;
    this.#starvedFor = 0;
    this.#sentOne();
  }

  /** Values in the side channel lie outside the ring and may be of any size, so their number is bounded. */
  get #sideChannelFull(): boolean {
    // HEAD first: the other side moves it after SIDE_TAKEN, so either both are new here, or HEAD will be seen to move
    // before anybody sleeps.
    this.#producer.lookAtHead();
    // SYNC side-taken: what the other side has taken no longer counts; pairs with RingInbound.#fromRing.
    const taken = Atomics.load(this.#lane.words, this.#lane.block + SIDE_TAKEN);
    return ((this.#side.posted - taken) | 0) >= SIDE_VALUES_MAX;
  }

  #starve(bytes: number): false {
    // The next message is expected to be a little longer than the last one, which may be more than a record takes.
    this.#starvedFor = Math.min(bytes, this.#producer.maxPayload);
    this.#stalled();
    return false;
  }

  #fits(bytes: number): boolean {
    return this.#producer.claimable(bytes) >= bytes;
  }

  // Counters are written by this thread only and plainly: a reader elsewhere may see them a little late.
  #sentOne(): void {
    const at = this.#lane.block + SENT;
    this.#lane.words[at] = (this.#lane.words[at] as number) + 1;
  }
  #stalled(): void {
    const at = this.#lane.block + STALLS;
    this.#lane.words[at] = (this.#lane.words[at] as number) + 1;
  }
  #countDrops(): void {
    this.#count(DROPS, this.#outbox.drops);
  }
  #count(counter: number, value: number): void {
    this.#lane.words[this.#lane.block + counter] = value;
  }
}

/** A message encoded outside the ring, and the memory around it if that is to be used again. */
interface Aside {
  readonly bytes: Uint8Array;
  readonly home: Views | undefined;
}
const NOTHING_ASIDE: Aside = { bytes: new Uint8Array(0), home: undefined };

function busy(): UsageError {
  return new UsageError('ERR_BUSY', 'Cannot send: a getter of the value that is being sent called back into its port');
}

function marker(number: number): Uint8Array {
  const bytes = new Uint8Array(MARKER_BYTES);
  new Int32Array(bytes.buffer)[0] = number;
  return bytes;
}
