// Sends a value beside the lane, by the medium's own way, and its place in the order through the lane: a marker.
import { isSameText } from '../codec/same-text.ts';
import { ClosedError } from '../errors.ts';
import { KIND_SIDE, MARKER_BYTES } from '../frame/header.ts';
import { SIDE_VALUES_MAX } from '../limits.ts';
import { FULL } from '../ring/producer.ts';
import type { Beside } from './beside.ts';
import type { OutboundNotes, RecordSink } from './records.ts';

export class BesideSender {
  readonly #sink: RecordSink;
  readonly #notes: OutboundNotes;
  readonly #beside: Beside;
  readonly #messageMax: number;
  /** The string that went natively last. */
  #lastNativeText = '';
  #wasFull = false;
  /** Values the reader had taken at the last look. */
  #takenSeen = 0;
  #shut = false;

  constructor(sink: RecordSink, notes: OutboundNotes, beside: Beside, messageMax: number) {
    this.#sink = sink;
    this.#notes = notes;
    this.#beside = beside;
    this.#messageMax = messageMax;
  }

  /**
   * Whether the medium's own way carries this string faster. One that comes again right away does not go natively:
   * then the codec teaches it to the receiver, and from there on its number travels.
   */
  isFasterFor(value: string): boolean {
    if (value.length < this.#beside.textMin || isSameText(value, this.#lastNativeText)) return false;
    if (value.length > this.#messageMax) return false;
    this.#lastNativeText = value;
    return true;
  }

  /**
   * False when there is no room; nothing was sent or moved then.
   * @throws DataCloneError, UsageError ERR_TRANSFER; nothing was sent or moved. ClosedError if a getter of the value
   *   closed the lane
   */
  trySend(value: unknown, transfer: readonly unknown[]): boolean {
    this.#wasFull = this.full;
    if (this.#wasFull) {
      // Inside cork the other side may see none of them yet: it would never take one.
      this.#sink.publish();
      return false;
    }
    const offset = this.#sink.tryClaim(MARKER_BYTES);
    if (offset === FULL) return false;
    // What waited before the end goes out behind it, where the medium still carries it.
    const before = this.#shut;
    let number: number;
    try {
      number = this.#beside.post(value, transfer);
    } catch (error) {
      this.#sink.abort();
      throw this.#shut && !before ? shutMeanwhile(error) : error;
    }
    if (this.#shut && !before) {
      this.#sink.abort();
      throw shutMeanwhile();
    }
    this.#sink.views.words[offset >>> 2] = number;
    this.#sink.views.words[(offset >>> 2) + 1] = this.#beside.postedWhere;
    this.#sink.commit(MARKER_BYTES, KIND_SIDE);
    return true;
  }

  /** Nothing is to follow. */
  shut(): void {
    this.#shut = true;
  }

  /** Values beside the lane lie outside the ring and may be of any size, so their number is bounded. */
  get full(): boolean {
    // What was given back up to here is of no more use: it must not look like progress.
    this.#sink.lookAtHead();
    this.#takenSeen = this.#notes.besideTaken;
    return ((this.#beside.posted - this.#takenSeen) | 0) >= SIDE_VALUES_MAX;
  }

  /**
   * Whether values were taken since it was too many of them that stood in the way. The other side moves TAKEN and HEAD, and
   * rings, after SIDE_TAKEN: who announces his sleep and finds this false will be woken.
   */
  get moved(): boolean {
    return this.#wasFull && this.#notes.besideTaken !== this.#takenSeen;
  }

  /** Whether it was the number of values on their way that stood in the way of the last one. */
  get wasFull(): boolean {
    return this.#wasFull;
  }
  /** Something else stood in the way of the last message, which was to go another way. */
  forgetFull(): void {
    this.#wasFull = false;
  }
}

/** The getter of a value closed the port that was to send it. */
export function shutMeanwhile(cause?: unknown): ClosedError {
  return new ClosedError('Cannot send: a getter of the value closed the port that was sending it', 'closed', cause);
}
