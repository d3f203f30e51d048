// The reading end. Reading itself is the original's; waiting, closing and liveness are options of ours.
import { platform } from '#platform';
import { ClosedError, UnsupportedError } from '../../errors.ts';
import { SPIN_US_DEFAULT, TIMEOUT_MS_MAX } from '../../limits.ts';
import { Consumer } from '../../ring/index.ts';
import { endWithThread, forgetThreadEnd } from '../../transport/thread/thread-end.ts';
import { AsyncWait } from '../../wait/async.ts';
import { BlockingWait } from '../../wait/block.ts';
import { DATA, SPACE, Waker } from '../../wait/signal.ts';
import { Spin } from '../../wait/spin.ts';
import { KeepAlive } from '../keep-alive.ts';
import { watchPeer } from '../peer-watch.ts';
import {
  type BufferRegion,
  createRegion,
  openBuffers,
  READER_CLOSED,
  READER_PARK,
  READER_SLEEPS,
  type SharedBuffers,
  WRITER_CLOSED,
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
  readonly #consumer: Consumer;
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
    this.#consumer = new Consumer(lane, new Waker(state, WRITER_PARK, SPACE, () => {}));
    this.#region = createRegion(buffers.sharedBuffer);
    this.#look = () => this.#consumer.ready || this.#writerClosed();
    const spin = new Spin(SPIN_US_DEFAULT);
    this.#blocking = new BlockingWait(state, READER_PARK, READER_SLEEPS, spin, NEVER, () => {});
    // A reader that takes over from a closed one opens the ring again.
    Atomics.store(state, READER_CLOSED, 0);
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
    } finally {
      // Only now, so that what earlier callbacks of this call kept is still in place for the later ones.
      consumer.release();
    }
    return count;
  }

  waitReadable(timeoutMs: number = Number.POSITIVE_INFINITY): boolean {
    if (this.#closed) return false;
    if (this.#consumer.ready) return true;
    if (!platform.canBlock && timeoutMs > 0) {
      throw new UnsupportedError('Cannot block: this thread may not; use waitReadableAsync');
    }
    this.#blocking.wait(DATA, this.#look, timeoutMs);
    return this.#consumer.ready;
  }

  waitReadableAsync(timeoutMs: number = Number.POSITIVE_INFINITY): Promise<boolean> {
    if (this.#settle !== null) throw new Error('Cannot wait twice: the last waitReadableAsync is still pending');
    if (this.#closed) return Promise.resolve(false);
    if (this.#look()) return Promise.resolve(this.#consumer.ready);
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
      this.#parking ??= new AsyncWait(this.#state, READER_PARK, READER_SLEEPS, () => this.#woken());
      this.#woken();
    });
  }
  #woken(): void {
    if (this.#settle === null) return;
    if (!this.#parking!.park(DATA, this.#look)) this.#settle(this.#consumer.ready);
  }

  get ended(): boolean {
    // In this order: what the writer published before it closed must be seen.
    return this.#writerClosed() && !this.#consumer.ready;
  }
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    forgetThreadEnd(this);
    this.#unwatch();
    // SYNC reader-closed: nothing is read any more; pairs with RingWriter.abandoned.
    Atomics.store(this.#state, READER_CLOSED, 1);
    new Waker(this.#state, WRITER_PARK, SPACE, () => {}).ring();
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
    // SYNC writer-closed: everything written before is published; pairs with RingWriter.close.
    return Atomics.load(this.#state, WRITER_CLOSED) !== 0;
  }
  #peerEnded(): void {
    Atomics.store(this.#state, WRITER_CLOSED, 1);
    this.#settle?.(this.#consumer.ready);
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
