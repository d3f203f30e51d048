// One end of a pipe, or of a port made of two, as its user meets it: reads that block, wait or are served in line, a handler,
// and what each of them is told when the other thread ends.
//
// E1. Disposed is what one of the two sides said; it is for ever. That the other thread has ended is less: another one
//     may take its place. What would wait for ever is rejected then; what has a time limit waits for as long, and a
//     handler stays.
// E2. What the other thread wrote before it ended is read first.
// E3. Nothing that is met while messages are taken in stops the pump: it rejects the read that met it, or goes to whoever
//     hears what the handler cannot be given.
import { platform } from '#platform';
import { UnsupportedError } from '../../errors.ts';
import { TIMEOUT_MS_MAX } from '../../limits.ts';
import { EMPTY } from '../../outcome.ts';
import { KeepAlive } from '../../platform/keep-alive.ts';
import { Pump } from '../../port/pump.ts';
import { endWithThread, forgetThreadEnd } from '../../transport/thread-end.ts';
import { endTurn } from '../end-of-turn.ts';
import { moveBacklogs } from './backlogs.ts';
import type { EndPlaces } from './end-places.ts';
import { LostMessage } from './long-message.ts';
import { PipeSide, type Traffic } from './pipe-side.ts';
import { disposedError, emptyAnswer, ReadLine } from './read-line.ts';
import type { Receiver } from './receiver.ts';
import type { Sender, SenderOwner } from './sender.ts';

/** Milliseconds of sleep while something that no one rings for waits to go out. */
const ELSEWHERE_SLICE_MS = 1;

export class End implements SenderOwner, Traffic {
  readonly side: PipeSide;
  readonly #pump: Pump;
  readonly #keepAlive = new KeepAlive();
  /** Of a port both, of a pipe one. */
  sender: Sender | null = null;
  receiver: Receiver | null = null;
  readonly #readers = new ReadLine();
  #handler: ((message: unknown) => void) | null = null;
  /** Whether the end of the pipe, by either side, was dealt with. */
  #settled = false;
  /** Moves along what this thread sends by other ways; false while some of it waits. */
  elsewhere: () => boolean = () => true;
  /** Is given what the handler cannot be; false if nobody listens. */
  failed: (error: unknown) => boolean = () => false;

  constructor(words: Int32Array, places: EndPlaces) {
    this.side = new PipeSide(words, places, this);
    this.#pump = new Pump(this.side, {
      wantsData: () => this.#wantsData,
      wantsSpace: () => this.sender?.backlog === true && !this.side.disposed,
      deliver: () => this.#deliver(),
      settle: () => this.#settle(),
    });
    endWithThread(this);
  }

  get arrived(): boolean {
    return this.receiver?.ready === true;
  }
  get roomMade(): boolean {
    return this.sender?.headMoved === true;
  }
  woken(): void {
    this.#pump.woken();
  }

  get handler(): ((message: unknown) => void) | null {
    return this.#handler;
  }
  set handler(handler: ((message: unknown) => void) | null) {
    this.#handler = handler;
    this.kick();
  }

  /** Disposed, or the other thread has ended and nothing of it is left to read: who waits without a limit waits for ever. */
  get #hopeless(): boolean {
    if (this.side.disposed) return true;
    // In this order: what it wrote before it ended must be seen (E2).
    return this.side.alone && !this.arrived;
  }

  // ---- reading --------------------------------------------------------------------------------------------------

  /** What is there now: one message or `EMPTY`, or for any `max` but 1 an array. */
  #answer(max: number): unknown {
    const receiver = this.receiver as Receiver;
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
    const sender = this.sender;
    if (sender === null) return;
    try {
      sender.pump();
      if (!sender.waiting || !this.side.alone) return;
      // What does not fit the ring has no reader; what fits it has the next one.
      sender.dispose(disposedError);
      sender.pump();
    } catch (error) {
      sender.dispose(() => error as Error);
    }
  }
  moveOn(): boolean {
    this.#moveQueue();
    return this.sender?.waiting === true;
  }

  /** Blocks until there is a message. The time limit covers only the wait for a message's first part. */
  read(timeoutMs: number, max: number): unknown {
    const start = performance.now();
    if (max < 1) return [];
    const { side } = this;
    side.arm();
    for (;;) {
      if (side.replaced) throw disposedError();
      this.#sendOn();
      const found = this.#answer(max);
      if (max === 1 ? found !== EMPTY : (found as unknown[]).length > 0) return found;
      const hopeless = this.#look();
      if (side.disposed || (hopeless && timeoutMs > TIMEOUT_MS_MAX)) throw disposedError();
      const left = this.receiver!.midway ? Number.POSITIVE_INFINITY : timeoutMs - (performance.now() - start);
      if (!(left > 0)) return emptyAnswer(max);
      if (!platform.canBlock)
        throw new UnsupportedError('Cannot block: this thread may not; use asyncRead or onmessage');
      const others = moveBacklogs(this) || !this.elsewhere();
      endTurn();
      this.#wait(others ? Math.min(left, ELSEWHERE_SLICE_MS) : left);
    }
  }
  #wait(timeoutMs: number): void {
    const sender = this.sender;
    if (sender?.backlog !== true) this.side.block(timeoutMs);
    else {
      // What waits in the queue goes on while this thread is blocked.
      this.side.block(timeoutMs, () => {
        if (sender.headMoved) this.#sendOn();
        return !sender.backlog;
      });
    }
    this.#pump.rearm();
  }

  /** A promise of the next message. Several may be pending; they are served in order. */
  readAsync(timeoutMs: number, max: number): Promise<unknown> {
    if (this.#readers.length === 0 && this.receiver!.peek() !== EMPTY) return Promise.resolve(this.#answer(max));
    if (timeoutMs > TIMEOUT_MS_MAX && this.#hopeless) return Promise.reject(disposedError());
    if (timeoutMs <= 0) return Promise.resolve(emptyAnswer(max));
    const answer = this.#readers.add(timeoutMs, max, () => this.kick());
    this.kick();
    return answer;
  }

  // ---- the event loop -------------------------------------------------------------------------------------------

  get #wantsData(): boolean {
    // A handler is still given what was there when the other side closed.
    if (this.#settled) return this.#handler !== null && this.receiver!.ready;
    return this.#readers.length > 0 || this.#handler !== null;
  }

  /** Something changed here: look soon, but not inside the caller. */
  kick(): void {
    this.rehold();
    this.#pump.kick();
  }

  #deliver(): boolean {
    const receiver = this.receiver as Receiver;
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
    // What is written behind the end is looked for by nobody.
    if (!this.side.disposed) this.#moveQueue();
    const hopeless = this.#look();
    if (this.side.disposed) this.#settleDisposed();
    else {
      if (hopeless) this.#readers.reject(disposedError, true);
      if (this.receiver?.ready === false) this.#readers.expire(this.receiver.midway);
    }
    this.rehold();
  }
  /** Takes note of what has become of the other thread; returns whether waiting without a limit is hopeless. */
  #look(): boolean {
    this.side.look();
    const hopeless = this.#hopeless;
    // Also when it was closed: the rest of a message may lie there, and what was written behind it (E2).
    if (hopeless && !this.arrived) this.receiver?.breakOff();
    return hopeless;
  }
  #settleDisposed(): void {
    // Each time: a message may come in whose getter has closed the port.
    this.sender?.dispose(disposedError);
    if (this.#settled) return;
    this.#settled = true;
    this.#readers.reject(disposedError, false);
    forgetThreadEnd(this);
    this.#keepAlive.close();
  }

  // ---- life -----------------------------------------------------------------------------------------------------

  /** Keeps the process alive exactly while something here is waited for. */
  rehold(): void {
    this.#keepAlive.want(!this.#hopeless && (this.#wantsData || this.sender?.waiting === true));
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
    // Before it is said: the other side looks for nothing behind that (E2).
    if (!this.side.disposed) this.#moveQueue();
    this.side.dispose();
    this.#settle();
    this.#keepAlive.close();
  }

  /** This thread ends by itself: what was written can still be read. */
  endThread(): void {
    this.#sendOn();
    this.side.leave();
  }

  /** Somebody saw the other thread end without a word. */
  peerLost(): void {
    this.side.peerLost();
    this.#pump.woken();
    this.kick();
  }
  /** Another thread is to take the place of the one that is or was there. */
  expectPeer(): void {
    this.side.expectPeer();
    this.kick();
  }
}
