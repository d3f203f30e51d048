// Sends a value beside the ring, by the runtime's own clone, and its place in the order through the ring: a marker.
import { platform } from '#platform';
import { ClosedError } from '../errors.ts';
import { KIND_SIDE, MARKER_BYTES } from '../frame/header.ts';
import { SIDE_VALUES_MAX } from '../limits.ts';
import { SIDE_TAKEN } from '../memory/layout.ts';
import type { LaneMemory, Views } from '../memory/region.ts';
import { FULL, type Producer } from '../ring/producer.ts';
import type { SideChannel } from './side-channel.ts';

export class SideSender {
  readonly #views: Views;
  readonly #lane: LaneMemory;
  readonly #producer: Producer;
  readonly #side: SideChannel;
  readonly #messageMax: number;
  /** The string that went natively last. */
  #lastNativeText = '';
  #wasFull = false;
  /** SIDE_TAKEN at the last look. */
  #takenSeen = 0;
  #shut = false;

  constructor(views: Views, lane: LaneMemory, producer: Producer, side: SideChannel, messageMax: number) {
    this.#views = views;
    this.#lane = lane;
    this.#producer = producer;
    this.#side = side;
    this.#messageMax = messageMax;
  }

  /**
   * Whether the runtime's own port carries this string faster. One that comes again right away does not go natively:
   * then the codec teaches it to the receiver, and from there on its number travels.
   */
  isFasterFor(value: unknown): boolean {
    if (typeof value !== 'string' || value.length < platform.nativeTextMin || value === this.#lastNativeText)
      return false;
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
      this.#producer.publish();
      return false;
    }
    const offset = this.#producer.tryClaim(MARKER_BYTES);
    if (offset === FULL) return false;
    let number: number;
    try {
      number = this.#side.post(value, transfer);
    } catch (error) {
      this.#producer.abort();
      throw this.#shut ? shutMeanwhile(error) : error;
    }
    if (this.#shut) {
      this.#producer.abort();
      throw shutMeanwhile();
    }
    this.#views.words[offset >>> 2] = number;
    this.#views.words[(offset >>> 2) + 1] = 0;
    this.#producer.commit(MARKER_BYTES, KIND_SIDE);
    return true;
  }

  /** Nothing is to follow. */
  shut(): void {
    this.#shut = true;
  }

  /** Values in the side channel lie outside the ring and may be of any size, so their number is bounded. */
  get full(): boolean {
    // What was given back up to here is of no more use: it must not look like progress.
    this.#producer.lookAtHead();
    this.#takenSeen = this.#taken;
    return ((this.#side.posted - this.#takenSeen) | 0) >= SIDE_VALUES_MAX;
  }
  get #taken(): number {
    // SYNC side-taken: what the other side has taken no longer counts; pairs with RingInbound.#fromRing.
    return Atomics.load(this.#lane.words, this.#lane.block + SIDE_TAKEN);
  }

  /**
   * Whether values were taken since it was too many of them that stood in the way. The other side moves TAKEN and HEAD, and
   * rings, after SIDE_TAKEN: who announces his sleep and finds this false will be woken.
   */
  get moved(): boolean {
    return this.#wasFull && this.#taken !== this.#takenSeen;
  }

  /** Whether it was the number of values on their way that stood in the way of the last one. */
  get wasFull(): boolean {
    return this.#wasFull;
  }
  /** A message has gone another way since: what stood in the way of the last value is of no account any more. */
  forgetFull(): void {
    this.#wasFull = false;
  }
}

/** The getter of a value closed the port that was to send it. */
export function shutMeanwhile(cause?: unknown): ClosedError {
  return new ClosedError('Cannot send: a getter of the value closed the port that was sending it', 'closed', cause);
}

/** What stands in the ring, or in its stead in the left-over, in place of the value with this number. */
export function markerOf(number: number): Uint8Array {
  const bytes = new Uint8Array(MARKER_BYTES);
  new Int32Array(bytes.buffer)[0] = number;
  return bytes;
}
