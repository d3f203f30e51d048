// The writing end. Commits gather and are published at a high-water mark, at the end of the tick, or by hand.
import { platform } from '#platform';
import { ClosedError, TimeoutError, UnsupportedError, UsageError } from '../../errors.ts';
import { SPIN_US_DEFAULT } from '../../limits.ts';
import { FULL, Producer } from '../../ring/index.ts';
import { endWithThread, forgetThreadEnd } from '../../transport/thread-end.ts';
import { BlockingWait } from '../../wait/block.ts';
import { SharedPlace } from '../../wait/park-place.ts';
import { DATA, SPACE, Waker } from '../../wait/signal.ts';
import { Spin } from '../../wait/spin.ts';
import { atEndOfTurn, endTurn, type PutOff } from '../end-of-turn.ts';
import { arrive, declareGone, isGone, leave } from '../life.ts';
import { watchPeer } from '../peer-watch.ts';
import {
  type BufferRegion,
  createRegion,
  openBuffers,
  READER_LIFE,
  READER_PARK,
  type SharedBuffers,
  WRITER_LIFE,
  WRITER_PARK,
  WRITER_SLEEPS,
} from './buffers.ts';

/** Milliseconds between looks at a peer that cannot be looked at: this door has no native port of its own. */
const NEVER: number = Number.POSITIVE_INFINITY;
/** Bytes that gather before they are published: rare enough to cost nothing, small enough to stay in a core's cache. */
const HIGH_WATER_BYTES: number = 16 * 1024;
/** Documented: milliseconds that `writeSync` waits for room unless told otherwise. */
const WRITE_TIMEOUT_MS = 60_000;
/** Milliseconds between two calls of `yield`, if the reader does not wake us first. */
const YIELD_SLICE_MS = 1;

export interface WriterOptions {
  yield?: () => void;
  logger?: {
    warn(obj: object, msg: string): void;
  };
}

export interface Writer {
  tryWrite(len: number, fn: (data: BufferRegion) => number): boolean;
  tryWrite<U>(len: number, fn: (data: BufferRegion, opaque: U) => number, opaque: U): boolean;
  writeSync(len: number, fn: (data: BufferRegion) => number): void;
  writeSync<U>(len: number, fn: (data: BufferRegion, opaque: U) => number, opaque: U): void;
  cork<T>(callback: () => T): T;
  cork(): void;
  uncork(): void;
  flushSync(): void;
}

/** What `writer` really returns: it can also close, and learns that the reader is gone. */
export interface LiveWriter extends Writer, Disposable {
  /** With the time limit that the original's README puts third and its types leave out: fourth, or third (see below). */
  writeSync<U>(len: number, fn: (data: BufferRegion, opaque: U) => number, opaque?: U, timeoutMs?: number): void;
  /** The reader closed or its thread ended. */
  readonly abandoned: boolean;
  /** Publishes what was written and ends; the reader sees the end after the last record. Idempotent. */
  close(): void;
}

export interface LiveWriterOptions extends WriterOptions {
  /** The Worker or MessagePort behind which the reader is; when it ends, the reader counts as closed. */
  peer?: object;
  /** Close by itself when this thread ends (not when it is killed). */
  liveness?: boolean;
  /** Milliseconds that `writeSync` waits for room, 60,000 unless given. */
  timeoutMs?: number;
}

type Fill<U> = (data: BufferRegion, opaque: U) => number;

class RingWriter implements LiveWriter, PutOff {
  readonly #producer: Producer;
  readonly #region: BufferRegion;
  readonly #state: Int32Array;
  readonly #yield: (() => void) | undefined;
  readonly #logger: WriterOptions['logger'];
  readonly #timeoutMs: number;
  readonly #blocking: BlockingWait;
  readonly #highWater: number;
  readonly #unwatch: () => void;
  readonly #life: number;
  #corks = 0;
  #scheduled = false;
  #closed = false;
  /** The callback of a write runs: a claim is open. */
  #filling = false;

  constructor(buffers: SharedBuffers, options: LiveWriterOptions) {
    const { lane, state } = openBuffers(buffers);
    this.#state = state;
    this.#producer = new Producer(lane, new Waker(new SharedPlace(state, READER_PARK), DATA, () => {}));
    this.#region = createRegion(buffers.sharedBuffer);
    this.#yield = options.yield;
    this.#logger = options.logger;
    this.#timeoutMs = options.timeoutMs ?? WRITE_TIMEOUT_MS;
    const spin = new Spin(SPIN_US_DEFAULT);
    this.#blocking = new BlockingWait(
      new SharedPlace(state, WRITER_PARK),
      WRITER_SLEEPS,
      spin,
      () => NEVER,
      () => {},
    );
    this.#highWater = Math.min(HIGH_WATER_BYTES, lane.capacity >>> 2);
    this.#producer.gather(this.#highWater);
    // A writer that takes over from a closed one opens the ring again.
    this.#life = arrive(state, WRITER_LIFE);
    if (options.liveness === true) endWithThread(this);
    this.#unwatch = watchPeer(options.peer, () => declareGone(state, READER_LIFE));
  }

  tryWrite<U>(len: number, fn: Fill<U>, opaque?: U): boolean {
    const offset = this.#claim(len);
    if (offset === FULL) {
      this.#checkOpen();
      // The reader cannot make room by reading what it does not see.
      this.#producer.publish();
      return false;
    }
    this.#fill(offset, len, fn, opaque as U);
    return true;
  }

  writeSync<U>(len: number, fn: Fill<U>, opaque?: U, timeoutMs?: number): void {
    let offset = this.#claim(len);
    if (offset === FULL) {
      // The types put `opaque` third, the README the time limit. A callback that declares no second parameter has no
      // use for an opaque value, so a number given to it is the time limit.
      const limitMs = timeoutMs ?? (fn.length < 2 && typeof opaque === 'number' ? opaque : this.#timeoutMs);
      offset = this.#claimWaiting(len, limitMs);
    }
    this.#fill(offset, len, fn, opaque as U);
  }

  #claim(len: number): number {
    // Of a write that ran out of stack.
    if (!this.#filling && this.#producer.claimed >= 0) this.#producer.abort();
    return this.#producer.tryClaim(len);
  }

  #fill<U>(offset: number, len: number, fn: Fill<U>, opaque: U): void {
    if (this.#closed) this.#abort();
    const region = this.#region;
    region.offset = offset;
    region.byteOffset = offset;
    region.length = len;
    region.byteLength = len;
    const producer = this.#producer;
    this.#filling = true;
    try {
      const written = fn(region, opaque) - offset;
      if (!(written >= 0 && written <= len)) throw badEnd(written, offset, len);
      producer.commit(written);
    } finally {
      this.#filling = false;
      // Also when the callback throws: the claim must not stay open.
      if (producer.claimed >= 0) producer.abort();
    }
    if (!this.#scheduled && this.#corks === 0) {
      atEndOfTurn(this);
      this.#scheduled = true;
    }
  }
  /** Called when this turn ends, or the thread is about to block. */
  endTurn(): void {
    this.#scheduled = false;
    if (this.#corks === 0) this.#producer.publish();
  }

  #claimWaiting(len: number, timeoutMs: number): number {
    this.#checkOpen();
    if (!platform.canBlock) throw new UnsupportedError('Cannot wait for room: this thread may not block; use tryWrite');
    this.#producer.publish();
    endTurn();
    this.#logger?.warn({ length: len, timeoutMs, capacity: this.#producer.capacity }, 'writer waits for the reader');
    let offset = FULL;
    // Asked again after it was true, so it must not claim twice.
    const look = (): boolean => {
      if (offset === FULL) offset = this.#producer.tryClaim(len);
      return offset !== FULL || this.abandoned;
    };
    const start = performance.now();
    for (;;) {
      this.#yield?.();
      const left = timeoutMs - (performance.now() - start);
      this.#blocking.wait(SPACE, look, this.#yield === undefined ? left : Math.min(left, YIELD_SLICE_MS));
      if (offset !== FULL) return offset;
      this.#checkOpen();
      if (performance.now() - start >= timeoutMs) {
        throw new TimeoutError(`Cannot write ${len} bytes: the reader made no room within ${timeoutMs} ms`, {
          length: len,
          limit: timeoutMs,
        });
      }
    }
  }

  cork<T>(callback: () => T): T;
  cork(): void;
  cork<T>(callback?: () => T): T | undefined {
    this.#producer.gather(Number.POSITIVE_INFINITY);
    // Not before: where the stack has ended there is no cork, and what is written goes out when the tick ends.
    this.#corks++;
    if (callback === undefined) return undefined;
    try {
      return callback();
    } finally {
      this.uncork();
    }
  }
  uncork(): void {
    if (this.#corks === 0 || --this.#corks !== 0) return;
    this.#producer.gather(this.#highWater);
    this.#producer.publish();
  }
  flushSync(): void {
    this.#producer.publish();
  }

  get abandoned(): boolean {
    return isGone(this.#state, READER_LIFE);
  }
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    forgetThreadEnd(this);
    this.#unwatch();
    this.#producer.publish();
    // After the last publication; RingReader.ended looks.
    if (leave(this.#state, WRITER_LIFE, this.#life))
      new Waker(new SharedPlace(this.#state, READER_PARK), DATA, () => {}).ring();
  }
  /** Called when this thread ends, with `liveness`. */
  endThread(): void {
    this.close();
  }
  [Symbol.dispose](): void {
    this.close();
  }

  #checkOpen(): void {
    if (this.#closed) throw new ClosedError('Cannot write: this writer was closed', 'closed');
    if (this.abandoned) throw new ClosedError('Cannot write: the reader is gone', 'closed');
  }
  #abort(): void {
    this.#producer.abort();
    this.#checkOpen();
  }
}

function badEnd(written: number, offset: number, len: number): UsageError {
  return new UsageError(
    'ERR_OPTION',
    `Cannot write: the callback returned ${String(offset + written)}, which is no end position from ${offset} to ${offset + len}`,
    { length: written, limit: len },
  );
}

/**
 * Takes the writer's role on a ring. One per ring.
 *
 * `tryWrite(len, fn, opaque?)` never waits: `false` when full. `writeSync(len, fn, opaque?, timeoutMs?)` blocks until
 * there is room. `fn(region, opaque)` writes at most `len` bytes from `region.offset` and returns the end position.
 * What was written is published at a high-water mark, when the tick ends, by `flushSync`, or when the cork ends.
 * @throws TimeoutError from `writeSync` after `timeoutMs` (60,000)
 */
export function writer(buffers: SharedBuffers, options: LiveWriterOptions = {}): LiveWriter {
  return new RingWriter(buffers, options);
}
