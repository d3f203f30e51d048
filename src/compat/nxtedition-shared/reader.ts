// The reading end. Reading itself is the original's; waiting, closing and liveness are options of ours.
import { platform } from '#platform';
import { ClosedError, LayoutError, UnsupportedError } from '../../errors.ts';
import { SPIN_US_DEFAULT, TIMEOUT_MS_MAX } from '../../limits.ts';
import { HEAD, TAIL } from '../../memory/layout.ts';
import type { LaneMemory } from '../../memory/region.ts';
import { KeepAlive } from '../../platform/keep-alive.ts';
import { Consumer } from '../../ring/index.ts';
import { endWithThread, forgetThreadEnd } from '../../transport/thread-end.ts';
import { AsyncWait } from '../../wait/async.ts';
import { BlockingWait } from '../../wait/block.ts';
import { SharedPlace } from '../../wait/park-place.ts';
import { DATA, SPACE, Waker } from '../../wait/signal.ts';
import { Spin } from '../../wait/spin.ts';
import { endTurn } from '../end-of-turn.ts';
import { arrive, declareGone, isGone, leave } from '../life.ts';
import { watchPeer } from '../peer-watch.ts';
import {
  type BufferRegion,
  createRegion,
  openBuffers,
  READER_LIFE,
  READER_PARK,
  READER_SLEEPS,
  type SharedBuffers,
  WRITER_LIFE,
  WRITER_PARK,
} from './buffers.ts';

/** Milliseconds between looks at a peer that cannot be looked at: this door has no native port of its own. */
const NEVER: number = Number.POSITIVE_INFINITY;
/** Documented: records in one `readSome`. */
const BATCH_RECORDS = 1024;
/** Documented: bytes of payload after which one `readSome` ends. */
const BATCH_BYTES: number = 256 * 1024;

export interface Reader {
  // biome-ignore lint/suspicious/noConfusingVoidType: the seed's own signature, which the type test holds equal
  readSome<U>(next: (data: BufferRegion, opaque: U) => void | boolean, opaque: U): number;
  // biome-ignore lint/suspicious/noConfusingVoidType: the seed's own signature, which the type test holds equal
  readSome(next: (data: BufferRegion) => void | boolean): number;
}

/** What `reader` really returns: it can also sleep, close, and learn that the writer is gone. */
export interface LiveReader extends Reader, Disposable {
  /** Blocks until there is something to read (true), or until `timeoutMs` passed or the writer is gone (false). */
  waitReadable(timeoutMs?: number): boolean;
  /** The same without blocking. Keeps the process alive while it is pending. One at a time. */
  waitReadableAsync(timeoutMs?: number): Promise<boolean>;
  /** The writer closed or its thread ended, and everything it published has been read. */
  readonly ended: boolean;
  /** Ends reading; a writer that waits for room throws ClosedError. Idempotent. */
  close(): void;
}

export interface ReaderOptions {
  /** The Worker or MessagePort behind which the writer is; when it ends, the writer counts as closed. */
  peer?: object;
  /** Close by itself when this thread ends (not when it is killed). */
  liveness?: boolean;
}

type Next<U> = (data: BufferRegion, opaque: U) => unknown;

class RingReader implements LiveReader {
  readonly #lane: LaneMemory;
  /** What the reader of a ring rings when it has made room. */
  readonly #bell: Waker;
  readonly #life: number;
  #consumer: Consumer;
  readonly #region: BufferRegion;
  readonly #state: Int32Array;
  readonly #look: () => boolean;
  readonly #blocking: BlockingWait;
  readonly #keepAlive: KeepAlive = new KeepAlive();
  #parking: AsyncWait | null = null;
  #settle: ((readable: boolean) => void) | null = null;
  readonly #unwatch: () => void;
  #closed = false;

  constructor(buffers: SharedBuffers, options: ReaderOptions) {
    const { lane, state } = openBuffers(buffers);
    this.#state = state;
    this.#lane = lane;
    this.#bell = new Waker(new SharedPlace(state, WRITER_PARK), SPACE, () => {});
    this.#consumer = new Consumer(lane, this.#bell);
    this.#region = createRegion(buffers.sharedBuffer);
    this.#look = () => this.#readable || this.#writerClosed();
    const spin = new Spin(SPIN_US_DEFAULT);
    this.#blocking = new BlockingWait(
      new SharedPlace(state, READER_PARK),
      READER_SLEEPS,
      spin,
      () => NEVER,
      () => {},
    );
    // A reader that takes over from a closed one opens the ring again.
    this.#life = arrive(state, READER_LIFE);
    if (options.liveness === true) endWithThread(this);
    this.#unwatch = watchPeer(options.peer, () => this.#peerEnded());
  }

  readSome<U>(next: Next<U>, opaque?: U): number {
    if (this.#closed) throw new ClosedError('Cannot read: this reader was closed', 'closed');
    const consumer = this.#consumer;
    const region = this.#region;
    let count = 0;
    let bytes = 0;
    try {
      while (count < BATCH_RECORDS && bytes < BATCH_BYTES) {
        const offset = consumer.tryNext();
        if (offset < 0) break;
        const length = consumer.length;
        region.offset = offset;
        region.byteOffset = offset;
        region.length = length;
        region.byteLength = length;
        count++;
        bytes += length;
        if (next(region, opaque as U) === false) break;
      }
    } catch (error) {
      if (error instanceof LayoutError) this.#skip();
      throw error;
    } finally {
      // Only now, so that what earlier callbacks of this call kept is still in place for the later ones.
      if (consumer === this.#consumer) consumer.release();
    }
    return count;
  }

  /** Whether there is something to read, or damage for `readSome` to find. Never throws. */
  get #readable(): boolean {
    try {
      return this.#consumer.ready;
    } catch {
      return true;
    }
  }

  /**
   * Where records end cannot be known behind a damaged one, so reading goes on with what is published from now on. If it
   * is TAIL that makes no sense, the writer's next publication mends it.
   */
  #skip(): void {
    const { words, block, capacity } = this.#lane;
    const tail = Atomics.load(words, block + TAIL);
    if ((tail & 7) !== 0 || (tail - Atomics.load(words, block + HEAD)) >>> 0 > capacity) return;
    // SYNC room-visible: nothing before TAIL is read any more; pairs with Producer.tryClaim.
    Atomics.store(words, block + HEAD, tail);
    this.#consumer = new Consumer(this.#lane, this.#bell);
    this.#bell.ring();
  }

  waitReadable(timeoutMs: number = Number.POSITIVE_INFINITY): boolean {
    if (this.#closed) return false;
    if (this.#readable) return true;
    if (!platform.canBlock && timeoutMs > 0) {
      throw new UnsupportedError('Cannot block: this thread may not; use waitReadableAsync');
    }
    // What this thread's own writers have gathered would wait for the end of a turn that does not come.
    endTurn();
    this.#blocking.wait(DATA, this.#look, timeoutMs);
    return this.#readable;
  }

  waitReadableAsync(timeoutMs: number = Number.POSITIVE_INFINITY): Promise<boolean> {
    if (this.#settle !== null) throw new Error('Cannot wait twice: the last waitReadableAsync is still pending');
    if (this.#closed) return Promise.resolve(false);
    if (this.#look()) return Promise.resolve(this.#readable);
    return new Promise((resolve) => {
      let timer: ReturnType<typeof setTimeout> | undefined;
      if (timeoutMs <= TIMEOUT_MS_MAX) timer = setTimeout(() => this.#settle?.(false), timeoutMs);
      this.#settle = (readable) => {
        this.#settle = null;
        clearTimeout(timer);
        this.#parking!.unpark();
        this.#keepAlive.want(false);
        resolve(readable);
      };
      this.#keepAlive.want(true);
      this.#parking ??= new AsyncWait(new SharedPlace(this.#state, READER_PARK), READER_SLEEPS, () => this.#woken());
      this.#woken();
    });
  }
  #woken(): void {
    if (this.#settle === null) return;
    if (!this.#parking!.park(DATA, this.#look)) this.#settle(this.#readable);
  }

  get ended(): boolean {
    // In this order: what the writer published before it closed must be seen.
    return this.#writerClosed() && !this.#readable;
  }
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    forgetThreadEnd(this);
    this.#unwatch();
    // Nothing is read any more; RingWriter.abandoned looks.
    if (leave(this.#state, READER_LIFE, this.#life)) this.#bell.ring();
    this.#settle?.(false);
    this.#keepAlive.close();
  }
  /** Called when this thread ends, with `liveness`. */
  endThread(): void {
    this.close();
  }
  [Symbol.dispose](): void {
    this.close();
  }

  #writerClosed(): boolean {
    return isGone(this.#state, WRITER_LIFE);
  }
  #peerEnded(): void {
    declareGone(this.#state, WRITER_LIFE);
    this.#settle?.(this.#readable);
  }
}

/**
 * Takes the reader's role on a ring. One per ring.
 *
 * `readSome(next, opaque?)` calls `next(region, opaque)` for each record, at most 1,024 of them or 256 KiB, and returns
 * how many; `false` from `next` stops after the record at hand. The region is one object, used again for every call,
 * and its bytes stay in place until `readSome` returns. Never blocks, never copies.
 */
export function reader(buffers: SharedBuffers, options: ReaderOptions = {}): LiveReader {
  return new RingReader(buffers, options);
}
