// One side of a pipe, or of a port made of two: how it sleeps, how it is woken, and how it ends. A port's two pipes
// share one end, because a thread can sleep on one word only.
//
// E1. Disposed is what one of the two sides said; it is for ever. That the other thread has ended is less: another one
//     may take its place. What would wait for ever is rejected then; what has a time limit waits for as long, and a
//     handler stays.
// E2. What the other thread wrote before it ended is read first.
// E3. Nothing that is met while messages are taken in stops the pump: it rejects the read that met it, or goes to whoever
//     hears what the handler cannot be given.
import { platform } from '#platform';
import { UnsupportedError } from '../../errors.ts';
import { LIVENESS_SLICE_SPAWNED_MS, SPIN_US_DEFAULT, TIMEOUT_MS_MAX } from '../../limits.ts';
import { EMPTY } from '../../outcome.ts';
import { Pump } from '../../port/pump.ts';
import type { Bell } from '../../ring/producer.ts';
import { endWithThread, forgetThreadEnd } from '../../transport/thread/thread-end.ts';
import { AsyncWait } from '../../wait/async.ts';
import { BlockingWait } from '../../wait/block.ts';
import { SharedPlace } from '../../wait/park-place.ts';
import { ANYTHING, DATA, SPACE, Waker } from '../../wait/signal.ts';
import { Spin } from '../../wait/spin.ts';
import { endTurn } from '../end-of-turn.ts';
import { KeepAlive } from '../keep-alive.ts';
import { arrive, declareGone, expectNext, FIRST, isGone, leave, numberOf } from '../life.ts';
import { moveBacklogs } from './backlogs.ts';
import type { EndPlaces } from './end-places.ts';
import { LostMessage } from './long-message.ts';
import { disposedError, emptyAnswer, ReadLine } from './read-line.ts';
import type { Receiver } from './receiver.ts';
import type { Sender, SenderOwner } from './sender.ts';
import { TickBell } from './tick-bell.ts';

const ACTIVE = 0;
const DISPOSED = -1;

/** Milliseconds of sleep while something that no one rings for waits to go out. */
const ELSEWHERE_SLICE_MS = 1;

export class End implements SenderOwner {
  readonly #words: Int32Array;
  readonly #places: EndPlaces;
  /** What this end leaves with, in step with `life`. */
  readonly #lives: readonly number[];
  readonly #pump: Pump;
  readonly #spin = new Spin(SPIN_US_DEFAULT);
  #blocking: BlockingWait;
  readonly #keepAlive = new KeepAlive();
  readonly #readable: () => boolean;
  #sender: Sender | null = null;
  #receiver: Receiver | null = null;
  readonly #readers = new ReadLine();
  #handler: ((message: unknown) => void) | null = null;
  /** Whether the end of the pipe, by either side, was dealt with. */
  #settled = false;
  /** Whether the other thread had ended when that was last looked at. */
  #aloneSeen = false;
  /** The same, when this thread was last blocked: the pump may look in between. */
  #aloneBefore = false;
  /** The number that stood for this side then: another one means that another thread has taken the place. */
  #lifeBefore = 0;
  /** Moves along what this thread sends by other ways; false while some of it waits. */
  elsewhere: () => boolean = () => true;
  /** Is given what the handler cannot be; false if nobody listens. */
  failed: (error: unknown) => boolean = () => false;

  constructor(words: Int32Array, places: EndPlaces) {
    this.#words = words;
    this.#places = places;
    const spin = this.#spin;
    this.#readable = () => this.#receiver!.ready || this.#newsSince(this.#aloneBefore) || this.#replaced;
    this.#blocking = this.#blockingWait(Number.POSITIVE_INFINITY, () => {});
    const parking = new AsyncWait(new SharedPlace(words, places.park), places.sleeps, () => this.#pump.woken());
    const self = this;
    this.#pump = new Pump(
      {
        get ended() {
          return self.disposed ? ('closed' as const) : undefined;
        },
        loop: {
          spin,
          stirs: (data: boolean, space: boolean): boolean => this.#stirs(data, space),
          park: (data: boolean, space: boolean): boolean =>
            parking.park((data ? DATA : 0) | (space ? SPACE : 0), () => this.#stirs(data, space)),
          unpark: () => parking.unpark(),
        },
      },
      {
        wantsData: () => this.#wantsData,
        wantsSpace: () => this.#sender?.backlog === true && !this.disposed,
        deliver: () => this.#deliver(),
        settle: () => this.#settle(),
      },
    );
    this.#lives = places.life.map((word) => arrive(words, word));
    // Whoever waits there has somebody to wait for again, and one that is blocked here no longer has to.
    this.#ringPeer();
    new Waker(new SharedPlace(words, places.park), ANYTHING, () => {}).ring();
    endWithThread(this);
  }

  #stirs(data: boolean, space: boolean): boolean {
    return this.#news || (data && this.#receiver!.ready) || (space && this.#sender!.headMoved);
  }
  #blockingWait(sliceMs: number, slice: () => void): BlockingWait {
    const { park, sleeps } = this.#places;
    return new BlockingWait(new SharedPlace(this.#words, park), sleeps, this.#spin, sliceMs, slice);
  }
  /** While this thread is blocked, asks now and then whether the other one is gone; `gone` says so once. */
  askForPeer(gone: () => boolean): void {
    this.#blocking = this.#blockingWait(LIVENESS_SLICE_SPAWNED_MS, () => {
      if (gone()) this.peerLost();
    });
  }
  #ringPeer(): void {
    new Waker(new SharedPlace(this.#words, this.#places.peerPark), ANYTHING, () => {}).ring();
  }

  /** The bell of this end's producer. */
  dataBell(): Bell {
    return new TickBell(new Waker(new SharedPlace(this.#words, this.#places.peerPark), DATA, () => {}));
  }
  /** The bell of this end's consumer. */
  spaceBell(): Bell {
    return new Waker(new SharedPlace(this.#words, this.#places.peerPark), SPACE, () => {});
  }
  /** Whether somebody was here before. */
  get tookOver(): boolean {
    return this.#lives.some((life) => life !== FIRST);
  }
  serve(sender: Sender | null, receiver: Receiver | null): void {
    this.#sender ??= sender;
    this.#receiver ??= receiver;
  }

  get sender(): Sender | null {
    return this.#sender;
  }
  get receiver(): Receiver | null {
    return this.#receiver;
  }

  get handler(): ((message: unknown) => void) | null {
    return this.#handler;
  }
  set handler(handler: ((message: unknown) => void) | null) {
    this.#handler = handler;
    this.kick();
  }

  /** Disposed by either side. */
  get disposed(): boolean {
    // SYNC pipe-disposed: whoever reads it stops; pairs with dispose.
    return this.#places.statuses.some((status) => Atomics.load(this.#words, status) !== ACTIVE);
  }
  /** Whether the other thread has ended, and none has taken its place. */
  get alone(): boolean {
    return this.#places.peerLife.some((word) => isGone(this.#words, word));
  }
  /** Disposed, or the other thread has ended and nothing of it is left to read: who waits without a limit waits for ever. */
  get #hopeless(): boolean {
    if (this.disposed) return true;
    // In this order: what it wrote before it ended must be seen (E2).
    return this.alone && this.#receiver?.ready !== true;
  }
  /** Whether somebody has ended or come since that was last looked at. */
  get #news(): boolean {
    return this.#newsSince(this.#aloneSeen);
  }
  #newsSince(alone: boolean): boolean {
    return this.disposed || this.alone !== alone;
  }

  /** Whether another thread has taken this side while this thread was blocked. Deno's `terminate` leaves such threads. */
  get #replaced(): boolean {
    return this.#number !== this.#lifeBefore;
  }
  get #number(): number {
    return numberOf(this.#words, this.#places.life[0] as number);
  }

  // ---- reading --------------------------------------------------------------------------------------------------

  /** What is there now: one message or `EMPTY`, or for any `max` but 1 an array. */
  #answer(max: number): unknown {
    const receiver = this.#receiver as Receiver;
    return max === 1 ? receiver.take() : receiver.takeMany(max);
  }
  tryRead(max: number): unknown {
    this.#sendOn();
    const found = this.#answer(max);
    return found === EMPTY ? null : found;
  }

  /** What this thread sends goes on although it does not come to the end of its turn. */
  #sendOn(): void {
    this.#moveQueue();
    endTurn();
  }
  #moveQueue(): void {
    const sender = this.#sender;
    if (sender === null) return;
    try {
      sender.pump();
      if (!sender.waiting || !this.alone) return;
      // What does not fit the ring has no reader; what fits it has the next one.
      sender.dispose(disposedError);
      sender.pump();
    } catch (error) {
      sender.dispose(() => error as Error);
    }
  }
  moveOn(): boolean {
    this.#moveQueue();
    return this.#sender?.waiting === true;
  }

  /** Blocks until there is a message. The time limit covers only the wait for a message's first part. */
  read(timeoutMs: number, max: number): unknown {
    const start = performance.now();
    if (max < 1) return [];
    this.#lifeBefore = this.#number;
    for (;;) {
      if (this.#replaced) throw disposedError();
      this.#sendOn();
      const found = this.#answer(max);
      if (max === 1 ? found !== EMPTY : (found as unknown[]).length > 0) return found;
      const hopeless = this.#look();
      this.#aloneBefore = this.#aloneSeen;
      if (this.disposed || (hopeless && timeoutMs > TIMEOUT_MS_MAX)) throw disposedError();
      const left = this.#receiver!.midway ? Number.POSITIVE_INFINITY : timeoutMs - (performance.now() - start);
      if (!(left > 0)) return emptyAnswer(max);
      if (!platform.canBlock)
        throw new UnsupportedError('Cannot block: this thread may not; use asyncRead or onmessage');
      const others = moveBacklogs(this) || !this.elsewhere();
      endTurn();
      this.#wait(others ? Math.min(left, ELSEWHERE_SLICE_MS) : left);
    }
  }
  #wait(timeoutMs: number): void {
    if (this.#sender?.backlog !== true) {
      this.#blocking.wait(DATA, this.#readable, timeoutMs);
    } else {
      // What waits in the queue goes on while this thread is blocked.
      const look = (): boolean => {
        if (this.#sender!.headMoved) this.#sendOn();
        return this.#readable() || this.#sender?.backlog !== true;
      };
      this.#blocking.wait(ANYTHING, look, timeoutMs);
    }
    this.#pump.rearm();
  }

  /** A promise of the next message. Several may be pending; they are served in order. */
  readAsync(timeoutMs: number, max: number): Promise<unknown> {
    if (this.#readers.length === 0 && this.#receiver!.peek() !== EMPTY) return Promise.resolve(this.#answer(max));
    if (timeoutMs > TIMEOUT_MS_MAX && this.#hopeless) return Promise.reject(disposedError());
    if (timeoutMs <= 0) return Promise.resolve(emptyAnswer(max));
    const answer = this.#readers.add(timeoutMs, max, () => this.kick());
    this.kick();
    return answer;
  }

  // ---- the event loop -------------------------------------------------------------------------------------------

  get #wantsData(): boolean {
    // A handler is still given what was there when the other side closed.
    if (this.#settled) return this.#handler !== null && this.#receiver!.ready;
    return this.#readers.length > 0 || this.#handler !== null;
  }

  /** Something changed here: look soon, but not inside the caller. */
  kick(): void {
    this.rehold();
    this.#pump.kick();
  }

  #deliver(): boolean {
    const receiver = this.#receiver as Receiver;
    if (this.#readers.length === 0) {
      try {
        const message = receiver.take();
        if (message === EMPTY) return false;
        this.#handler?.(message);
      } catch (error) {
        // One that went with an earlier reader is that reader's loss; who wants to hear of it can.
        if (!this.failed(error) && !(error instanceof LostMessage)) platform.reportError(error);
      }
      return true;
    }
    try {
      if (receiver.peek() === EMPTY) return false;
    } catch (error) {
      this.#readers.next().reject(error);
      return true;
    }
    const reader = this.#readers.next();
    reader.resolve(this.#answer(reader.max));
    return true;
  }

  #settle(): void {
    this.#moveQueue();
    const hopeless = this.#look();
    if (this.disposed) this.#settleDisposed();
    else {
      if (hopeless) this.#readers.reject(disposedError, true);
      if (this.#receiver?.ready === false) this.#readers.expire(this.#receiver.midway);
    }
    this.rehold();
  }
  /** Takes note of what has become of the other thread; returns whether waiting without a limit is hopeless. */
  #look(): boolean {
    this.#aloneSeen = this.alone;
    const hopeless = this.#hopeless;
    if (hopeless) this.#receiver?.breakOff();
    return hopeless;
  }
  #settleDisposed(): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#sender?.dispose(disposedError);
    this.#readers.reject(disposedError, false);
    forgetThreadEnd(this);
    this.#keepAlive.close();
  }

  // ---- life -----------------------------------------------------------------------------------------------------

  /** Keeps the process alive exactly while something here is waited for. */
  rehold(): void {
    this.#keepAlive.want(!this.#hopeless && (this.#wantsData || this.#sender?.waiting === true));
  }
  reference(referenced: boolean): void {
    this.#keepAlive.reference(referenced);
  }
  get held(): boolean {
    return this.#keepAlive.held;
  }

  /** Disposes the pipes of this end for both sides. */
  dispose(): void {
    this.#handler = null;
    // SYNC pipe-disposed: pairs with disposed, there and here.
    for (const status of this.#places.statuses) Atomics.store(this.#words, status, DISPOSED);
    this.#ringPeer();
    this.#settle();
    this.#keepAlive.close();
  }

  /** This thread ends by itself: what was written can still be read. */
  endThread(): void {
    this.#sendOn();
    this.#places.life.forEach((word, i) => {
      leave(this.#words, word, this.#lives[i] as number);
    });
    this.#ringPeer();
  }

  /** Somebody saw the other thread end without a word. */
  peerLost(): void {
    for (const word of this.#places.peerLife) declareGone(this.#words, word);
    this.#pump.woken();
    this.kick();
  }
  /** Another thread is to take the place of the one that is or was there. */
  expectPeer(): void {
    for (const word of this.#places.peerLife) expectNext(this.#words, word);
    // The former one may be blocked still.
    this.#ringPeer();
    this.kick();
  }
}
