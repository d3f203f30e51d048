// A stand-in, not the package: our own code for the documented design of sab-message-port 1.0.4, SABPipe.
// It is here because the package itself may not be reachable where the benchmark runs. It follows the README (one
// slot of memory, JSON text, TextEncoder and TextDecoder, one batch in flight, Atomics.wait and waitAsync) and does
// each of these things as well as that design allows. Where the original can be had, the benchmark uses it instead.
//
//     word  name        meaning
//     0     STATUS      0 active, -1 disposed
//     1     RW_SIGNAL   0 the writer may write, 1 the reader may read
//     2     W_DATA_LEN  bytes in the data section
//     3     NUM_PARTS   parts of this batch
//     4     PART_INDEX  which of them this is
//     5-7   reserved
//     8-    data        from byte 32

const STATUS = 0;
const RW_SIGNAL = 1;
const W_DATA_LEN = 2;
const NUM_PARTS = 3;
const PART_INDEX = 4;
const DATA_OFFSET = 32;
const DISPOSED = -1;
const CAN_WRITE = 0;
const CAN_READ = 1;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export type MessageHandler = ((event: { data: unknown }) => void) | null;
type Batch = { promise: Promise<void>; resolve: () => void };
type WaitAsyncResult = { async: false; value: string } | { async: true; value: Promise<string> };
type WaitAsync = (words: Int32Array, index: number, value: number, timeout?: number) => WaitAsyncResult;
const waitAsync: WaitAsync = (Atomics as unknown as { waitAsync: WaitAsync }).waitAsync;

function createBatch(): Batch {
  let resolve!: () => void;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

export class StandInPipe {
  readonly buffer: SharedArrayBuffer;
  readonly maxChunk: number;
  readonly #words: Int32Array;
  readonly #bytes: Uint8Array;
  readonly #writes: boolean;
  // Writer: values not yet written, the batch whose promise they share, and whether a flush is under way.
  #outgoing: unknown[] = [];
  #batch: Batch | null = null;
  #flushing = false;
  // Reader: values of the last batch in reverse, so that the oldest is popped.
  #incoming: unknown[] = [];
  #handler: MessageHandler = null;
  #looping = false;

  constructor(role: 'w' | 'r', sabOrSize: SharedArrayBuffer | number = 131072, byteOffset = 0, sectionSize?: number) {
    if (role !== 'w' && role !== 'r') throw new Error("Invalid role parameter: must be 'r' or 'w'");
    this.buffer = typeof sabOrSize === 'number' ? new SharedArrayBuffer(sabOrSize) : sabOrSize;
    const size = sectionSize ?? this.buffer.byteLength - byteOffset;
    this.maxChunk = size - DATA_OFFSET;
    this.#words = new Int32Array(this.buffer, byteOffset, DATA_OFFSET / 4);
    this.#bytes = new Uint8Array(this.buffer, byteOffset + DATA_OFFSET, this.maxChunk);
    this.#writes = role === 'w';
  }

  isDisposed(): boolean {
    return Atomics.load(this.#words, STATUS) === DISPOSED;
  }
  close(): void {
    Atomics.store(this.#words, STATUS, DISPOSED);
    Atomics.notify(this.#words, RW_SIGNAL);
  }

  // --- writer ---

  postMessage(message: unknown): Promise<void> {
    if (!this.#writes) throw new Error('Only writer can write');
    if (this.isDisposed()) throw new Error('SABPipe disposed');
    this.#outgoing.push(message);
    this.#batch ??= createBatch();
    const { promise } = this.#batch;
    if (!this.#flushing) {
      this.#flushing = true;
      queueMicrotask(() => void this.#flush());
    }
    return promise;
  }
  /**
   * Writes what is queued without the event loop, for a thread that never returns to it. Only if the slot is free and
   * one part is enough, unless `blocking`: then it waits for the reader between the parts.
   */
  flushSync(blocking: boolean): void {
    if (this.#outgoing.length === 0 || (!blocking && Atomics.load(this.#words, RW_SIGNAL) !== CAN_WRITE)) return;
    const bytes = encoder.encode(JSON.stringify(this.#outgoing));
    const parts = Math.max(1, Math.ceil(bytes.length / this.maxChunk));
    if (parts > 1 && !blocking) return;
    const batch = this.#takeBatch();
    for (let part = 0; part < parts; part++) {
      while (Atomics.load(this.#words, RW_SIGNAL) !== CAN_WRITE) {
        Atomics.wait(this.#words, RW_SIGNAL, CAN_READ);
        if (this.isDisposed()) throw new Error('SABPipe disposed');
      }
      const from = part * this.maxChunk;
      this.#writePart(parts === 1 ? bytes : bytes.subarray(from, from + this.maxChunk), part, parts);
    }
    batch.resolve();
  }
  #takeBatch(): Batch {
    const batch = this.#batch!;
    this.#batch = null;
    this.#outgoing = [];
    return batch;
  }
  async #flush(): Promise<void> {
    while (this.#outgoing.length > 0) {
      // Everything posted while the slot was taken goes into the next batch together.
      if (Atomics.load(this.#words, RW_SIGNAL) !== CAN_WRITE) {
        await this.#whileSignal(CAN_READ);
        if (this.isDisposed()) break;
        continue;
      }
      const bytes = encoder.encode(JSON.stringify(this.#outgoing));
      const batch = this.#takeBatch();
      const parts = Math.max(1, Math.ceil(bytes.length / this.maxChunk));
      for (let part = 0; part < parts; part++) {
        while (Atomics.load(this.#words, RW_SIGNAL) !== CAN_WRITE) {
          await this.#whileSignal(CAN_READ);
          if (this.isDisposed()) return;
        }
        const from = part * this.maxChunk;
        this.#writePart(parts === 1 ? bytes : bytes.subarray(from, from + this.maxChunk), part, parts);
      }
      batch.resolve();
    }
    this.#flushing = false;
  }
  #writePart(bytes: Uint8Array, part: number, parts: number): void {
    const words = this.#words;
    this.#bytes.set(bytes);
    words[W_DATA_LEN] = bytes.length;
    words[NUM_PARTS] = parts;
    words[PART_INDEX] = part;
    Atomics.store(words, RW_SIGNAL, CAN_READ);
    Atomics.notify(words, RW_SIGNAL);
  }
  async #whileSignal(seen: number, timeoutMs: number = Infinity): Promise<boolean> {
    const result = waitAsync(this.#words, RW_SIGNAL, seen, timeoutMs);
    if (!result.async) return result.value !== 'timed-out';
    return (await result.value) !== 'timed-out';
  }

  // --- reader ---

  /** Copies one part out and hands the slot back at once, so that the writer fills it while we parse. */
  #takePart(): { bytes: Uint8Array; last: boolean } {
    const words = this.#words;
    const bytes = this.#bytes.slice(0, words[W_DATA_LEN]);
    const last = words[PART_INDEX] === words[NUM_PARTS]! - 1;
    Atomics.store(words, RW_SIGNAL, CAN_WRITE);
    Atomics.notify(words, RW_SIGNAL);
    return { bytes, last };
  }
  #accept(parts: Uint8Array[]): void {
    let bytes = parts[0]!;
    if (parts.length > 1) {
      bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
      let offset = 0;
      for (const part of parts) {
        bytes.set(part, offset);
        offset += part.length;
      }
    }
    const values = JSON.parse(decoder.decode(bytes)) as unknown[];
    this.#incoming = values.reverse();
  }
  #answer(max: number): unknown {
    if (max === 1) return this.#incoming.length === 0 ? null : this.#incoming.pop();
    const count = Math.min(max, this.#incoming.length);
    return count === 0 ? [] : this.#incoming.splice(this.#incoming.length - count, count);
  }
  #checkReader(name: string): void {
    if (this.#writes) throw new Error('Only reader can read');
    if (this.#handler !== null) throw new Error(`Cannot call ${name} while onmessage is active`);
    if (this.isDisposed()) throw new Error('SABPipe disposed');
  }

  read(timeout: number = Infinity, blocking = true, max = 1): unknown {
    this.#checkReader('read');
    if (this.#incoming.length > 0) return this.#answer(max);
    const words = this.#words;
    // A loop: the writer stores, then notifies. If we take that part and wait again in between, its notify wakes us
    // with nothing there.
    while (Atomics.load(words, RW_SIGNAL) !== CAN_READ) {
      if (!blocking || Atomics.wait(words, RW_SIGNAL, CAN_WRITE, timeout) === 'timed-out') return this.#answer(max);
      if (this.isDisposed()) throw new Error('SABPipe disposed');
    }
    const parts: Uint8Array[] = [];
    for (;;) {
      const { bytes, last } = this.#takePart();
      parts.push(bytes);
      if (last) break;
      while (Atomics.load(words, RW_SIGNAL) !== CAN_READ) {
        Atomics.wait(words, RW_SIGNAL, CAN_WRITE);
        if (this.isDisposed()) throw new Error('SABPipe disposed');
      }
    }
    this.#accept(parts);
    return this.#answer(max);
  }
  tryRead(max = 1): unknown {
    return this.read(0, false, max);
  }
  async asyncRead(timeout: number = Infinity, max = 1): Promise<unknown> {
    this.#checkReader('asyncRead');
    await this.#fill(timeout);
    return this.#answer(max);
  }
  async #fill(timeout: number): Promise<void> {
    if (this.#incoming.length > 0) return;
    const words = this.#words;
    // A loop: Bun 1.4 sometimes resolves a waitAsync whose word has not changed.
    while (Atomics.load(words, RW_SIGNAL) !== CAN_READ) {
      if (!(await this.#whileSignal(CAN_WRITE, timeout))) return;
      if (this.isDisposed()) throw new Error('SABPipe disposed');
    }
    const parts: Uint8Array[] = [];
    for (;;) {
      const { bytes, last } = this.#takePart();
      parts.push(bytes);
      if (last) break;
      while (Atomics.load(words, RW_SIGNAL) !== CAN_READ) {
        await this.#whileSignal(CAN_WRITE);
        if (this.isDisposed()) throw new Error('SABPipe disposed');
      }
    }
    this.#accept(parts);
  }

  get onmessage(): MessageHandler {
    return this.#handler;
  }
  set onmessage(handler: MessageHandler) {
    if (this.#writes) throw new Error('Only reader can set onmessage');
    this.#handler = handler ?? null;
    if (this.#handler !== null && !this.#looping) void this.#loop();
  }
  async #loop(): Promise<void> {
    this.#looping = true;
    try {
      while (this.#handler !== null && !this.isDisposed()) {
        await this.#fill(Infinity);
        while (this.#handler !== null && this.#incoming.length > 0) {
          try {
            this.#handler({ data: this.#incoming.pop() });
          } catch {
            // Documented: a handler that throws does not stop the loop.
          }
        }
      }
    } catch {
      // Disposed while waiting.
    } finally {
      this.#looping = false;
    }
  }
}
