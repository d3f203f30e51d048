// One side of a pipe, or of a port made of two: how it sleeps, how it is woken, and how it ends. A port's two pipes
// share one end, because a thread can sleep on one word only.
import { platform } from '#platform';
import { UnsupportedError } from '../../errors.ts';
import { LIVENESS_SLICE_SPAWNED_MS, SPIN_US_DEFAULT, TIMEOUT_MS_MAX } from '../../limits.ts';
import { Pump } from '../../port/pump.ts';
import type { Bell, Producer } from '../../ring/producer.ts';
import { endWithThread, forgetThreadEnd } from '../../transport/thread/thread-end.ts';
import { AsyncWait } from '../../wait/async.ts';
import { BlockingWait } from '../../wait/block.ts';
import { ANYTHING, DATA, SPACE, Waker } from '../../wait/signal.ts';
import { Spin } from '../../wait/spin.ts';
import { KeepAlive } from '../keep-alive.ts';
import type { PipeMemory } from './layout.ts';
import type { Lifeline } from './lifeline.ts';
import { NOTHING, type Receiver } from './receiver.ts';
import type { Sender } from './sender.ts';
import { TickBell } from './tick-bell.ts';

const ACTIVE = 0;
const DISPOSED = -1;

/** Milliseconds of sleep while something that no one rings for waits to go out. */
const ELSEWHERE_SLICE_MS = 1;

export const disposedError = (): Error => new Error('SABPipe disposed');

/** Word indices of what an end looks at. */
export interface EndPlaces {
  readonly park: number;
  readonly sleeps: number;
  readonly peerPark: number;
  /** STATUS of each pipe of this end. */
  readonly statuses: readonly number[];
  readonly ended: readonly number[];
  readonly peerEnded: readonly number[];
}

interface Reader {
  readonly max: number;
  readonly timer: ReturnType<typeof setTimeout> | undefined;
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

/** The places of one end of a pipe that stands alone. */
export function pipePlaces(role: 'w' | 'r', memory: PipeMemory): EndPlaces {
  const statuses = [memory.status];
  return role === 'w'
    ? {
        park: memory.writerPark,
        sleeps: memory.writerSleeps,
        peerPark: memory.readerPark,
        statuses,
        ended: [memory.writerEnded],
        peerEnded: [memory.readerEnded],
      }
    : {
        park: memory.readerPark,
        sleeps: memory.readerSleeps,
        peerPark: memory.writerPark,
        statuses,
        ended: [memory.readerEnded],
        peerEnded: [memory.writerEnded],
      };
}

/** What a read returns: one message or null, or for any other `max` an array. */
export function emptyAnswer(max: number): unknown {
  return max === 1 ? null : [];
}

export class End {
  readonly #words: Int32Array;
  readonly #places: EndPlaces;
  readonly #pump: Pump;
  readonly #spin = new Spin(SPIN_US_DEFAULT);
  #blocking: BlockingWait;
  readonly #keepAlive = new KeepAlive();
  readonly #readable: () => boolean;
  #dataBell: TickBell | null = null;
  #sender: Sender | null = null;
  #producer: Producer | null = null;
  #receiver: Receiver | null = null;
  #readers: Reader[] = [];
  #handler: ((message: unknown) => void) | null = null;
  #settled = false;
  /** Moves along what this thread sends by other ways; false while some of it waits. */
  elsewhere: () => boolean = () => true;

  constructor(words: Int32Array, places: EndPlaces) {
    this.#words = words;
    this.#places = places;
    const spin = this.#spin;
    this.#readable = () => this.#receiver!.ready || this.over;
    this.#blocking = this.#blockingWait(Number.POSITIVE_INFINITY, () => {});
    const parking = new AsyncWait(words, places.park, places.sleeps, () => this.#pump.woken());
    const self = this;
    this.#pump = new Pump(
      {
        spin,
        get ended() {
          return self.over ? ('closed' as const) : undefined;
        },
        get ready() {
          return self.#readable();
        },
        get progressed() {
          return self.over || self.#producer!.headMoved;
        },
        park(data: boolean, space: boolean): boolean {
          return parking.park((data ? DATA : 0) | (space ? SPACE : 0), () => {
            return self.over || (data && self.#readable()) || (space && self.#producer!.headMoved);
          });
        },
        unpark: () => parking.unpark(),
      },
      {
        wantsData: () => this.#wantsData,
        wantsSpace: () => this.#sender?.backlog === true && !this.over,
        deliver: () => this.#deliver(),
        settle: () => this.#settle(),
      },
    );
    for (const word of places.ended) Atomics.store(words, word, 0);
    endWithThread(this);
  }

  #blockingWait(sliceMs: number, slice: () => void): BlockingWait {
    const { park, sleeps } = this.#places;
    return new BlockingWait(this.#words, park, sleeps, this.#spin, sliceMs, slice);
  }
  /** While this thread is blocked, asks now and then whether the other one is gone. */
  askForPeer(lifeline: Lifeline): void {
    this.#blocking = this.#blockingWait(LIVENESS_SLICE_SPAWNED_MS, () => {
      if (lifeline.gone()) this.peerLost();
    });
  }

  /** The bell of this end's producer. */
  dataBell(): Bell {
    this.#dataBell ??= new TickBell(new Waker(this.#words, this.#places.peerPark, DATA, () => {}));
    return this.#dataBell;
  }
  /** The bell of this end's consumer. */
  spaceBell(): Bell {
    return new Waker(this.#words, this.#places.peerPark, SPACE, () => {});
  }
  serve(sender: Sender | null, producer: Producer | null, receiver: Receiver | null): void {
    this.#sender ??= sender;
    this.#producer ??= producer;
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
  /** Disposed, or the other thread has ended and nothing of it is left to read. */
  get over(): boolean {
    if (this.disposed) return true;
    return this.peerEnded && this.#receiver?.ready !== true;
  }
  get peerEnded(): boolean {
    // SYNC pipe-ended: what the peer wrote before it ended is visible after this load; pairs with endThread.
    return this.#places.peerEnded.some((word) => Atomics.load(this.#words, word) !== 0);
  }

  // ---- reading --------------------------------------------------------------------------------------------------

  /** What is there now: one message or `NOTHING`, or for any `max` but 1 an array. */
  answer(max: number): unknown {
    const receiver = this.#receiver as Receiver;
    return max === 1 ? receiver.take() : receiver.takeMany(max);
  }
  tryRead(max: number): unknown {
    this.#sendOn();
    const found = this.answer(max);
    if (found === NOTHING || (Array.isArray(found) && max !== 1 && found.length === 0)) {
      if (this.over) throw disposedError();
      return emptyAnswer(max);
    }
    return found;
  }

  /** What this thread sends goes on although it does not come to the end of its turn. */
  #sendOn(): void {
    this.#sender?.pump();
    this.#dataBell?.ringNow();
  }

  /** Blocks until there is a message. The time limit covers only the wait for a message's first part. */
  read(timeoutMs: number, max: number): unknown {
    const receiver = this.#receiver as Receiver;
    const start = performance.now();
    if (max < 1) return [];
    for (;;) {
      this.#sendOn();
      const found = this.answer(max);
      if (max === 1 ? found !== NOTHING : (found as unknown[]).length > 0) return found;
      if (this.over) throw disposedError();
      const left = receiver.midway ? Number.POSITIVE_INFINITY : timeoutMs - (performance.now() - start);
      if (!(left > 0)) return emptyAnswer(max);
      if (!platform.canBlock)
        throw new UnsupportedError('Cannot block: this thread may not; use asyncRead or onmessage');
      this.#wait(this.elsewhere() ? left : Math.min(left, ELSEWHERE_SLICE_MS));
    }
  }
  #wait(timeoutMs: number): void {
    if (this.#sender?.backlog !== true) {
      this.#blocking.wait(DATA, this.#readable, timeoutMs);
    } else {
      // What waits in the queue goes on while this thread is blocked.
      const look = (): boolean => {
        if (this.#producer!.headMoved) this.#sendOn();
        return this.#readable() || this.#sender?.backlog !== true;
      };
      this.#blocking.wait(ANYTHING, look, timeoutMs);
    }
    this.#pump.rearm();
  }

  /** A promise of the next message. Several may be pending; they are served in order. */
  readAsync(timeoutMs: number, max: number): Promise<unknown> {
    if (this.#readers.length === 0 && this.#receiver!.peek() !== NOTHING) return Promise.resolve(this.answer(max));
    if (this.over) return Promise.reject(disposedError());
    if (timeoutMs <= 0) return Promise.resolve(emptyAnswer(max));
    return new Promise((resolve, reject) => {
      const timer = timeoutMs <= TIMEOUT_MS_MAX ? setTimeout(() => this.#late(reader), timeoutMs) : undefined;
      const reader: Reader = { max, timer, resolve, reject };
      this.#readers.push(reader);
      this.kick();
    });
  }
  #late(reader: Reader): void {
    // Once a message has begun to arrive, its first reader waits for the rest of it.
    if (this.#receiver!.midway && reader === this.#readers[0]) return;
    this.#readers = this.#readers.filter((other) => other !== reader);
    reader.resolve(emptyAnswer(reader.max));
    this.rehold();
  }

  // ---- the event loop -------------------------------------------------------------------------------------------

  get #wantsData(): boolean {
    // A handler is still given what was there when the other side closed.
    if (this.#settled) return this.#handler !== null && this.#receiver!.ready;
    return this.#readers.length > 0 || this.#handler !== null;
  }

  /** Something changed here: look soon, but not inside the caller. */
  kick(): void {
    if (this.#settled && !this.over) {
      // A new thread has taken the place of one that ended.
      this.#settled = false;
      endWithThread(this);
    }
    this.rehold();
    this.#pump.kick();
  }

  #deliver(): boolean {
    const receiver = this.#receiver as Receiver;
    const reader = this.#readers[0];
    if (reader === undefined) {
      let message: unknown;
      try {
        message = receiver.take();
      } catch (error) {
        platform.reportError(error);
        return true;
      }
      if (message === NOTHING) return false;
      this.#handler?.(message);
      return true;
    }
    if (receiver.peek() === NOTHING) return false;
    this.#readers.shift();
    clearTimeout(reader.timer);
    reader.resolve(this.answer(reader.max));
    return true;
  }

  #settle(): void {
    this.#sender?.pump();
    if (this.over && !this.#settled) {
      this.#settled = true;
      this.#sender?.dispose(disposedError);
      for (const reader of this.#readers.splice(0)) {
        clearTimeout(reader.timer);
        reader.reject(disposedError());
      }
      forgetThreadEnd(this);
      this.#keepAlive.close();
    }
    this.rehold();
  }

  // ---- life -----------------------------------------------------------------------------------------------------

  /** Keeps the process alive exactly while something here is waited for. */
  rehold(): void {
    this.#keepAlive.want(!this.over && (this.#wantsData || this.#sender?.backlog === true));
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
    new Waker(this.#words, this.#places.peerPark, ANYTHING, () => {}).ring();
    this.#settle();
    this.#keepAlive.close();
  }

  /** This thread ends by itself: what was written can still be read. */
  endThread(): void {
    this.#sendOn();
    // SYNC pipe-ended: after the last publication; pairs with peerEnded.
    for (const word of this.#places.ended) Atomics.store(this.#words, word, 1);
    new Waker(this.#words, this.#places.peerPark, ANYTHING, () => {}).ring();
  }

  /** Somebody saw the other thread end without a word. */
  peerLost(): void {
    for (const word of this.#places.peerEnded) Atomics.store(this.#words, word, 1);
    this.#pump.woken();
    this.kick();
  }
}
