// One thread's side of a pipe, or of a port made of two, as shared memory knows it: how it sleeps and is woken, whether the
// other thread is there, how the pipe ends. A port's two pipes share one side, because a thread can sleep on one word only.
import { LIVENESS_SLICE_SPAWNED_MS, SPIN_US_DEFAULT } from '../../limits.ts';
import type { PumpMedium } from '../../port/pump.ts';
import type { Bell } from '../../ring/producer.ts';
import type { LoopWait } from '../../transport/transport.ts';
import { AsyncWait } from '../../wait/async.ts';
import { BlockingWait } from '../../wait/block.ts';
import { SharedPlace } from '../../wait/park-place.ts';
import { ANYTHING, DATA, SPACE, Waker } from '../../wait/signal.ts';
import { Spin } from '../../wait/spin.ts';
import { arrive, declareGone, expectNext, FIRST, isGone, leave, numberOf } from '../life.ts';
import type { EndPlaces } from './end-places.ts';
import { TickBell } from './tick-bell.ts';

const ACTIVE = 0;
const DISPOSED = -1;

/** What lanes there are on this side. None of it throws. */
export interface Traffic {
  /** Something is there to be read. */
  readonly arrived: boolean;
  /** The reader has made room since the last look that found too little. */
  readonly roomMade: boolean;
  /** The other side has done something: look. Called from the event loop. */
  woken(): void;
  /** The other thread was found to have ended without a word. */
  peerLost(): void;
}

export class PipeSide implements PumpMedium, LoopWait {
  readonly loop: LoopWait = this;
  readonly spin: Spin = new Spin(SPIN_US_DEFAULT);
  readonly #words: Int32Array;
  readonly #places: EndPlaces;
  readonly #traffic: Traffic;
  /** What this side leaves with, in step with `life`. */
  readonly #lives: readonly number[];
  readonly #here: SharedPlace;
  readonly #there: SharedPlace;
  readonly #parking: AsyncWait;
  #blocking: BlockingWait;
  readonly #stirred: () => boolean;
  /** Whether the other thread had ended when that was last looked at. */
  #aloneSeen = false;
  /** The same, when this thread was last blocked: the event loop may look in between. */
  #aloneBefore = false;
  /** The number that stood for this side then: another one means that another thread has taken the place. */
  #lifeBefore = 0;

  constructor(words: Int32Array, places: EndPlaces, traffic: Traffic) {
    this.#words = words;
    this.#places = places;
    this.#traffic = traffic;
    this.#here = new SharedPlace(words, places.park);
    this.#there = new SharedPlace(words, places.peerPark);
    this.#stirred = () => traffic.arrived || this.#newsSince(this.#aloneBefore) || this.replaced;
    this.#blocking = this.#blockingWait(Number.POSITIVE_INFINITY, () => {});
    this.#parking = new AsyncWait(this.#here, places.sleeps, () => traffic.woken());
    this.#lives = places.life.map((word) => arrive(words, word));
    // Whoever waits there has somebody to wait for again, and one that is blocked here no longer has to.
    this.#ringPeer();
    wakerAt(this.#here, ANYTHING).ring();
  }

  // ---- the other thread, and the end -----------------------------------------------------------------------------

  /** Whether somebody was here before. */
  get tookOver(): boolean {
    return this.#lives.some((life) => life !== FIRST);
  }
  /** Disposed by either side. */
  get disposed(): boolean {
    // SYNC pipe-disposed: whoever reads it stops; pairs with dispose.
    return this.#places.statuses.some((status) => Atomics.load(this.#words, status) !== ACTIVE);
  }
  /** The end is news like any other: nobody rings behind it, so the pump looks until whoever it is for was told, and wants no more. */
  get ended(): undefined {
    return undefined;
  }
  /** Whether the other thread has ended, and none has taken its place. */
  get alone(): boolean {
    return this.#places.peerLife.some((word) => isGone(this.#words, word));
  }
  /** Takes note of what has become of the other thread, which is no news any more. */
  look(): void {
    this.#aloneSeen = this.alone;
  }
  /** Whether somebody has ended or come since. */
  #newsSince(alone: boolean): boolean {
    return this.disposed || this.alone !== alone;
  }

  /** Whether another thread has taken this side since `arm`. Deno's `terminate` leaves such threads. */
  get replaced(): boolean {
    return this.#number !== this.#lifeBefore;
  }
  get #number(): number {
    return numberOf(this.#words, this.#places.life[0] as number);
  }

  /** Disposes the pipes of this side for both. */
  dispose(): void {
    // SYNC pipe-disposed: pairs with disposed, there and here.
    for (const status of this.#places.statuses) Atomics.store(this.#words, status, DISPOSED);
    this.#ringPeer();
  }
  /** This thread ends by itself: what was written can still be read. */
  leave(): void {
    this.#places.life.forEach((word, i) => {
      leave(this.#words, word, this.#lives[i] as number);
    });
    this.#ringPeer();
  }
  /** Somebody saw the other thread end without a word. */
  peerLost(): void {
    for (const word of this.#places.peerLife) declareGone(this.#words, word);
  }
  /** Another thread is to take the place of the one that is or was there. */
  expectPeer(): void {
    for (const word of this.#places.peerLife) expectNext(this.#words, word);
    // The former one may be blocked still.
    this.#ringPeer();
  }

  // ---- waking and sleeping ---------------------------------------------------------------------------------------

  #ringPeer(): void {
    wakerAt(this.#there, ANYTHING).ring();
  }
  /** The bell of this side's producer. */
  dataBell(): Bell {
    return new TickBell(wakerAt(this.#there, DATA));
  }
  /** The bell of this side's consumer. */
  spaceBell(): Bell {
    return wakerAt(this.#there, SPACE);
  }

  stirs(data: boolean, space: boolean): boolean {
    const traffic = this.#traffic;
    return this.#newsSince(this.#aloneSeen) || (data && traffic.arrived) || (space && traffic.roomMade);
  }
  park(data: boolean, space: boolean): boolean {
    return this.#parking.park((data ? DATA : 0) | (space ? SPACE : 0), () => this.stirs(data, space));
  }
  unpark(): void {
    this.#parking.unpark();
  }

  /** While this thread is blocked, asks now and then whether the other one is gone; `gone` says so once. */
  askForPeer(gone: () => boolean): void {
    this.#blocking = this.#blockingWait(LIVENESS_SLICE_SPAWNED_MS, () => {
      if (gone()) this.#traffic.peerLost();
    });
  }
  #blockingWait(sliceMs: number, slice: () => void): BlockingWait {
    return new BlockingWait(this.#here, this.#places.sleeps, this.spin, () => sliceMs, slice);
  }

  /** This thread is about to be blocked, perhaps several times: from now on it counts who takes its place. */
  arm(): void {
    this.#lifeBefore = this.#number;
  }
  /**
   * Blocks until something has arrived, something has become of either side since `look`, or the time is up.
   * @param move moves along what waits to go out, and says whether none of it does any more, which ends this, too
   */
  block(timeoutMs: number, move?: () => boolean): void {
    this.#aloneBefore = this.#aloneSeen;
    const stirred = this.#stirred;
    if (move === undefined) this.#blocking.wait(DATA, stirred, timeoutMs);
    else this.#blocking.wait(ANYTHING, () => move() || stirred(), timeoutMs);
  }
}

/** No event loop here sleeps for a native port. */
function wakerAt(place: SharedPlace, interest: number): Waker {
  return new Waker(place, interest, () => {});
}
