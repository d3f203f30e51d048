// What was accepted and does not stand in the lane yet, on its way there: whole, in parts, or beside the lane.
import { DataCloneError, LayoutError, UsageError } from '../errors.ts';
import { MARKER_BYTES } from '../frame/header.ts';
import { OUTBOX_ITEM_BYTES, PACE_BYTES_PER_MS, PACE_MS_MAX, PACE_PATIENCE_MS } from '../limits.ts';
import { FULL } from '../ring/producer.ts';
import type { Annex } from './annex.ts';
import type { Aside, AsideEncoder } from './aside-encoder.ts';
import { type Beside, type HeldValue, weightOf } from './beside.ts';
import type { BesideSender } from './beside-sender.ts';
import type { Mark } from './lane.ts';
import type { LeftOver, SpilledFrame } from './left-over.ts';
import type { Waiting } from './luggage.ts';
import { Marks } from './marks.ts';
import type { OutboxEntry, WaitingRoom } from './outbox.ts';
import { writeParts } from './parts.ts';
import type { OutboundNotes, RecordSink } from './records.ts';

export interface BacklogParts {
  readonly sink: RecordSink;
  readonly notes: OutboundNotes;
  readonly beside: Beside;
  /** By what way frames are left for the reader at the end, where there is one. */
  readonly leftOver?: Pick<LeftOver, 'leave'> | undefined;
  readonly outbox: WaitingRoom;
  /** Whether to keep pace with a reader that is taking a long message in. */
  readonly maySpin: boolean;
  /** Told of a message that was accepted and cannot be sent after all. */
  readonly failed: (error: unknown) => void;
  /** Flags beside the kind of every part of a message but the first, where that is told. */
  readonly rest?: number;
}

export class Backlog {
  /** Messages accepted so far, those included that went into the lane at once. */
  accepted = 0;
  /** Messages accepted, or posted in time, that could not be sent after all. */
  failures = 0;
  readonly #sink: RecordSink;
  readonly #notes: OutboundNotes;
  readonly #beside: Beside;
  readonly #leftOver: Pick<LeftOver, 'leave'> | undefined;
  readonly #outbox: WaitingRoom;
  readonly #maySpin: boolean;
  readonly #failed: (error: unknown) => void;
  readonly #rest: number = 0;
  readonly #aside: AsideEncoder;
  readonly #besideSender: BesideSender;
  readonly #annex: Annex | undefined;
  readonly #marks: Marks;
  /** Messages left beside the lane at the end. */
  #left = 0;
  #abandoned = false;

  constructor(
    { sink, notes, beside, leftOver, outbox, maySpin, failed, rest }: BacklogParts,
    aside: AsideEncoder,
    besideSender: BesideSender,
    annex?: Annex,
  ) {
    this.#sink = sink;
    this.#notes = notes;
    this.#beside = beside;
    this.#leftOver = leftOver;
    this.#outbox = outbox;
    this.#maySpin = maySpin;
    this.#failed = failed;
    this.#rest = rest ?? 0;
    this.#aside = aside;
    this.#besideSender = besideSender;
    this.#annex = annex;
    this.#marks = new Marks(sink);
  }

  get length(): number {
    return this.#outbox.length;
  }
  /** Messages before the first one that still waits: they are in the lane, or were dropped. */
  get moved(): number {
    return this.#outbox.next?.number ?? this.accepted;
  }
  /** Messages accepted that never came to stand in the lane: they wait, or were left beside it. */
  get unsent(): number {
    return this.#outbox.length + this.#left;
  }
  mark(): Mark {
    return this.#marks.add(this.accepted, this.moved);
  }

  /**
   * @param held what goes beside the lane, in the place of bytes
   * @param moved bytes that are in the lane already
   */
  add(kind: number, { bytes, home }: Aside, held?: HeldValue, moved = 0): void {
    const weight = OUTBOX_ITEM_BYTES + (held === undefined ? bytes.length : weightOf(held));
    const dropped = this.#outbox.push({ kind, bytes, home, held, weight, number: this.accepted, moved });
    this.accepted++;
    this.count();
    if (dropped.length === 0) return;
    for (const each of dropped) {
      this.#aside.giveBack(each);
      if (each.held !== undefined) this.#letGo(each.held);
    }
    // A mark may have waited for them.
    this.#marks.place(this.moved);
  }
  /** Hands over what waits: nothing goes out here any more. Bytes are copied if their memory would be used again. */
  leave(): Waiting[] {
    this.#abandoned = true;
    return this.#outbox.takeAll().flatMap(({ kind, bytes, home, held, moved }) => {
      try {
        const goesOn = held && this.#beside.movesOn(held.value, held.transfer);
        return [{ kind, bytes: home === undefined ? bytes : bytes.slice(), held: goesOn, moved }];
      } catch (error) {
        // Of somebody who had the end before, and keeps nothing else from going.
        this.failures++;
        this.#failed(error);
        return [];
      }
    });
  }
  /** Goes on with what waited elsewhere. @throws LayoutError for what no `leave` has made */
  resume({ kind, bytes, held, moved }: Waiting): void {
    const sound =
      bytes instanceof Uint8Array &&
      Number.isInteger(kind) &&
      Number.isInteger(moved) &&
      moved >= 0 &&
      moved <= bytes.length &&
      (held === undefined || Array.isArray(held?.transfer));
    if (!sound) throw new LayoutError('Cannot go on with what waited: it makes no sense');
    this.add(kind, { bytes, home: undefined }, held, moved);
  }
  count(): void {
    this.#notes.outbox(this.#outbox.drops, this.#outbox.peak);
  }

  /**
   * Moves what waits into the lane as far as it fits; whether nothing waits now. Not inside itself: a medium may call back in the middle
   * of a write, and whoever is told of something then may post or close. @throws LayoutError
   */
  pump(): boolean {
    const outbox = this.#outbox;
    if (this.#abandoned) return outbox.length === 0;
    if (outbox.moving) return false;
    try {
      for (let entry = outbox.next; entry !== undefined && !this.#abandoned; entry = outbox.next) {
        outbox.moving = true;
        if (!this.#moveIn(entry)) return false;
        outbox.done();
        this.#aside.giveBack(entry);
        this.#marks.place(this.moved);
      }
      return outbox.length === 0;
    } finally {
      outbox.moving = false;
    }
  }
  /** This is a call in the middle of that. */
  get pumping(): boolean {
    return this.#outbox.moving;
  }

  /**
   * Keeps pace with a reader that is taking a message of so many bytes in: to come back for each of its parts through the
   * event loop takes longer than the parts themselves. Ends when the reader pauses, or has taken longer than the native clone
   * would have kept this thread anyway.
   */
  pumpAlong(bytes: number): void {
    if (!this.#maySpin || bytes <= this.#sink.capacity) return;
    const start = performance.now();
    const end = start + Math.min(PACE_MS_MAX, bytes / PACE_BYTES_PER_MS);
    let progress = start;
    for (let now = start; now < end && now - progress < PACE_PATIENCE_MS; now = performance.now()) {
      if (!this.#sink.headMoved) continue;
      progress = now;
      if (this.pump()) return;
    }
  }

  /** Leaves what waits beside the lane, where the other side finds it; returns the frames left. */
  spill(): number {
    const frames: SpilledFrame[] = [];
    for (const { kind, bytes, home, held, moved } of this.#outbox.takeAll()) {
      if (held === undefined) frames.push([kind, moved === 0 && home === undefined ? bytes : bytes.slice(moved)]);
      else {
        try {
          const number = this.#again(held, ({ value, transfer }) => this.#beside.post(value, transfer));
          frames.push([kind, markerOf(number, this.#beside.postedWhere)]);
        } catch (error) {
          this.#giveUp(held, error);
        }
      }
    }
    this.#left = frames.length;
    if (frames.length > 0) this.#leftOver?.leave(frames);
    return frames.length;
  }

  /** Nothing goes out any more. What waits goes on waiting, and the other ends of what is in it are told. */
  abandon(): void {
    if (this.#abandoned) return;
    this.#abandoned = true;
    for (const { held } of this.#outbox.entries()) if (held !== undefined) this.#letGo(held);
  }

  /** Moves one waiting message, or its next parts, into the lane; whether it need not wait any more. */
  #moveIn(entry: OutboxEntry): boolean {
    const { bytes, kind, held } = entry;
    if (held !== undefined) return this.#moveHeld(held);
    // It was accepted before it was known how much the reader takes.
    if (bytes.length > this.#aside.messageMax) {
      this.failures++;
      this.#failed(tooLong(bytes.length, this.#aside.messageMax));
      return true;
    }
    if (entry.moved === 0 && this.#annex?.takes(bytes.length)) {
      if (!this.#annex.put(kind, bytes)) return false;
    } else if (bytes.length <= this.#sink.maxPayload && entry.moved === 0) {
      if (!this.#copyIn(kind, bytes)) return false;
    } else {
      entry.moved = writeParts(this.#sink, kind, bytes, entry.moved, kind | this.#rest);
      if (entry.moved < bytes.length) return false;
    }
    this.#notes.sent();
    return true;
  }

  /** The same for a value that was cloned. It is cloned once more, and what moves with it may have closed meanwhile. */
  #moveHeld(held: HeldValue): boolean {
    try {
      if (!this.#again(held, ({ value, transfer }) => this.#besideSender.trySend(value, transfer))) return false;
      this.#notes.sent();
    } catch (error) {
      if (error instanceof LayoutError) throw error;
      this.#giveUp(held, error);
    }
    return true;
  }

  /** Sends what has waited. What moves with it may have closed meanwhile, and is refused then, until something closed takes its place. */
  #again<T>(held: HeldValue, send: (held: HeldValue) => T): T {
    try {
      return send(held);
    } catch (error) {
      if (!(error instanceof DataCloneError) || held.transfer.length === 0) throw error;
    }
    const again = this.#beside.movesOn(held.value, held.transfer);
    try {
      return send(again);
    } catch (error) {
      if (again.value !== held.value) this.#letGo(again);
      throw error;
    }
  }

  /** A message that was accepted can't be sent. It stands in the way of no other, and this side is told. */
  #giveUp(held: HeldValue, error: unknown): void {
    this.failures++;
    this.#letGo(held);
    this.#failed(error);
  }

  #letGo({ value, transfer }: HeldValue): void {
    this.#beside.letGo(value, transfer);
  }

  #copyIn(kind: number, bytes: Uint8Array): boolean {
    const offset = this.#sink.tryClaim(bytes.length);
    if (offset === FULL) return false;
    this.#sink.views.blocks.copyIn(bytes, offset);
    this.#sink.commit(bytes.length, kind);
    return true;
  }
}

function tooLong(length: number, limit: number): UsageError {
  const message = `Cannot send: the message takes ${length} bytes, and the other side takes ${limit} at the most`;
  return new UsageError('ERR_TOO_LARGE', message, { length, limit });
}

/** What stands in the lane, or in its stead in the left-over, in place of the value with this number. */
export function markerOf(number: number, where: number): Uint8Array {
  const bytes = new Uint8Array(MARKER_BYTES);
  new Int32Array(bytes.buffer).set([number, where]);
  return bytes;
}
