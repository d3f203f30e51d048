// A stand-in, not the package: our own code for the documented design of @nxtedition/shared 3.0.2. It is here because
// the package itself may not be reachable where the benchmark runs. From its README and types: two SharedArrayBuffers,
// read and write positions on their own cache lines, records in line behind a 32-bit length that need not be aligned,
// one region object reused for every callback, the write position published at a high-water mark or at the end of the
// tick, reads in batches of at most 1,024 records or 256 KiB.
import { Buffer } from 'node:buffer';

const WRITE = 0;
const READ = 32; // Int32 words: 128 bytes further on, so that the two never share a (pair of) cache lines.
const STATE_BYTES = 256;
const HEADER_BYTES = 4;
const WRAP = -1;
const HIGH_WATER_BYTES = 256 * 1024;
const BATCH_RECORDS = 1024;
const BATCH_BYTES = 256 * 1024;

export interface StandInBuffers {
  sharedState: SharedArrayBuffer;
  sharedBuffer: SharedArrayBuffer;
}
export interface StandInRegion {
  buffer: Buffer;
  view: DataView;
  offset: number;
  length: number;
  byteOffset: number;
  byteLength: number;
}

export function alloc(size: number): StandInBuffers {
  if (!Number.isInteger(size) || size <= 0 || size > 2 ** 31 - 1) throw new RangeError('invalid size');
  return { sharedState: new SharedArrayBuffer(STATE_BYTES), sharedBuffer: new SharedArrayBuffer(size) };
}

function createRegion(memory: SharedArrayBuffer): StandInRegion {
  const buffer = Buffer.from(memory as unknown as ArrayBuffer);
  return { buffer, view: new DataView(memory), offset: 0, length: 0, byteOffset: 0, byteLength: 0 };
}

export class StandInReader {
  readonly #state: Int32Array;
  readonly #size: number;
  readonly #region: StandInRegion;
  #position: number;

  constructor({ sharedState, sharedBuffer }: StandInBuffers) {
    this.#state = new Int32Array(sharedState);
    this.#size = sharedBuffer.byteLength;
    this.#region = createRegion(sharedBuffer);
    this.#position = Atomics.load(this.#state, READ);
  }
  readSome<U>(next: (data: StandInRegion, opaque: U) => unknown, opaque?: U): number {
    const region = this.#region;
    const view = region.view;
    const start = this.#position;
    const write = Atomics.load(this.#state, WRITE);
    let position = start;
    let count = 0;
    let bytes = 0;
    while (position !== write && count < BATCH_RECORDS && bytes < BATCH_BYTES) {
      // Too little room for a length at the end of the ring also means: go on at the start.
      const length = position + HEADER_BYTES > this.#size ? WRAP : view.getInt32(position, true);
      if (length === WRAP) {
        position = 0;
        continue;
      }
      const offset = position + HEADER_BYTES;
      region.offset = offset;
      region.byteOffset = offset;
      region.length = length;
      region.byteLength = length;
      position = offset + length;
      bytes += HEADER_BYTES + length;
      count++;
      if (next(region, opaque as U) === false) break;
    }
    if (position !== start) {
      this.#position = position;
      Atomics.store(this.#state, READ, position);
      Atomics.notify(this.#state, READ);
    }
    return count;
  }
}

type Fill<U> = (data: StandInRegion, opaque: U) => number;

export class StandInWriter {
  readonly #state: Int32Array;
  readonly #size: number;
  readonly #region: StandInRegion;
  readonly #highWater: number;
  readonly #onYield: (() => void) | undefined;
  #read: number;
  #position: number;
  #pendingBytes = 0;
  #corked = 0;
  #scheduled = false;
  readonly #flushLater = (): void => {
    this.#scheduled = false;
    if (this.#corked === 0) this.flushSync();
  };

  constructor({ sharedState, sharedBuffer }: StandInBuffers, options: { yield?: () => void } = {}) {
    this.#state = new Int32Array(sharedState);
    this.#size = sharedBuffer.byteLength;
    this.#region = createRegion(sharedBuffer);
    this.#highWater = Math.min(HIGH_WATER_BYTES, this.#size >>> 3);
    this.#onYield = options.yield;
    this.#read = Atomics.load(this.#state, READ);
    this.#position = Atomics.load(this.#state, WRITE);
  }
  flushSync(): void {
    if (this.#pendingBytes === 0) return;
    this.#pendingBytes = 0;
    Atomics.store(this.#state, WRITE, this.#position);
  }
  /** Makes the position point at `need` free bytes in one piece; false when the reader has not made room yet. */
  #acquire(need: number): boolean {
    if (this.#fits(need)) return true;
    this.#read = Atomics.load(this.#state, READ);
    return this.#fits(need);
  }
  #fits(need: number): boolean {
    const position = this.#position;
    const read = this.#read;
    if (position >= read) {
      // The write position may not catch up with the read position, for equal means empty.
      if (position + need < this.#size || (position + need === this.#size && read > 0)) return true;
      if (need >= read) return false;
      if (position + HEADER_BYTES <= this.#size) this.#region.view.setInt32(position, WRAP, true);
      this.#pendingBytes += this.#size - position;
      this.#position = 0;
      return true;
    }
    return position + need < read;
  }
  #write<U>(length: number, fill: Fill<U>, opaque: U): void {
    const region = this.#region;
    const offset = this.#position + HEADER_BYTES;
    region.offset = offset;
    region.byteOffset = offset;
    region.length = length;
    region.byteLength = length;
    const written = fill(region, opaque) - offset;
    if (written < 0 || written > length) throw new RangeError('invalid end position');
    region.view.setInt32(this.#position, written, true);
    const end = offset + written;
    this.#pendingBytes += HEADER_BYTES + written;
    this.#position = end === this.#size ? 0 : end;
    if (this.#pendingBytes >= this.#highWater && this.#corked === 0) this.flushSync();
    else if (!this.#scheduled) {
      this.#scheduled = true;
      setImmediate(this.#flushLater);
    }
  }
  tryWrite<U>(length: number, fill: Fill<U>, opaque?: U): boolean {
    if (!this.#acquire(HEADER_BYTES + length)) {
      this.flushSync();
      return false;
    }
    this.#write(length, fill, opaque as U);
    return true;
  }
  writeSync<U>(length: number, fill: Fill<U>, opaque?: U, timeoutMs = 60_000): void {
    if (!this.#acquire(HEADER_BYTES + length)) this.#waitForRoom(HEADER_BYTES + length, timeoutMs);
    this.#write(length, fill, opaque as U);
  }
  #waitForRoom(need: number, timeoutMs: number): void {
    if (need > this.#size) throw new RangeError('record larger than the ring');
    this.flushSync();
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const seen = this.#read;
      if (this.#acquire(need)) return;
      if (performance.now() > deadline) throw new Error('timeout');
      if (this.#onYield === undefined) Atomics.wait(this.#state, READ, seen, timeoutMs);
      else {
        this.#onYield();
        Atomics.wait(this.#state, READ, seen, 1);
      }
    }
  }
  cork<T>(callback: () => T): T {
    this.#corked++;
    try {
      return callback();
    } finally {
      this.uncork();
    }
  }
  uncork(): void {
    if (--this.#corked === 0) this.flushSync();
  }
}

export function reader(buffers: StandInBuffers): StandInReader {
  return new StandInReader(buffers);
}
export function writer(buffers: StandInBuffers, options: { yield?: () => void } = {}): StandInWriter {
  return new StandInWriter(buffers, options);
}
