// SABPipe: one way, one end writes and the other reads. Names, defaults, checks and error texts of the original; the
// work is done by Sender, Receiver and End.
import { type Beside, NOTHING_BESIDE } from '../../lane/beside.ts';
import { checkSharedMemory, type Views, viewsOf } from '../../memory/region.ts';
import { EMPTY } from '../../outcome.ts';
import { End } from './end.ts';
import { pipePlaces } from './end-places.ts';
import { layOut, type PipeMemory } from './layout.ts';
import type { OverflowCallback, Received } from './live-queue.ts';
import { disposedError, emptyAnswer } from './read-line.ts';
import { Receiver } from './receiver.ts';
import { Sender } from './sender.ts';

/** Bytes of a pipe that is not told its size. */
const PIPE_BYTES_DEFAULT = 131072;
/** Documented: bytes at the start of a section that hold no data. What `maxChunk` is computed from. */
const CONTROL_BYTES = 32;
/** Bytes of the memory that stands in for a section too small to be a pipe. */
const STAND_IN_BYTES = 1024;

export type MessageEventLike = { data: Received };
export type MessageHandler = ((event: MessageEventLike) => unknown) | null;

/** What a port hands its two pipes, so that they share views and one end. */
export interface SharedEnd {
  readonly views: Views;
  readonly memory: PipeMemory | null;
  readonly end: End;
  /** Where values are found that did not come through the pipe. */
  readonly beside?: Beside;
}

/**
 * One end of a one-way channel over shared memory.
 * @param role `'w'` writes, `'r'` reads; both ends are given the same memory, offset and size
 * @param sabOrSize bytes of a new buffer, or an existing one
 * @param byteOffset where the section starts, a multiple of 4
 * @param sectionSize bytes of the section; by default the rest of the buffer
 * @param queueLimit messages that may wait on this end; the oldest go first
 */
export class SABPipe {
  static readonly STATUS = 0;
  static readonly RW_SIGNAL = 1;
  static readonly W_DATA_LEN = 2;
  static readonly NUM_PARTS = 3;
  static readonly PART_INDEX = 4;
  static readonly RESERVED_1 = 5;
  static readonly RESERVED_2 = 6;
  static readonly RESERVED_3 = 7;
  static readonly CONTROL_TOP = 8;
  static readonly DATA_OFFSET: number = CONTROL_BYTES;
  static readonly STATUS_ACTIVE = 0;
  static readonly STATUS_DISPOSED: number = -1;
  static readonly RW_CAN_WRITE = 0;
  static readonly RW_CAN_READ = 1;

  readonly isWriter: boolean;
  readonly isReader: boolean;
  readonly maxChunk: number;
  /** The whole section, as words and as bytes; only word STATUS means what it did. `null` after `destroy`. */
  i32: Int32Array | null;
  u8: Uint8Array | null;
  readonly #buffer: SharedArrayBuffer;
  readonly #end: End;
  readonly #sender: Sender | null = null;
  readonly #receiver: Receiver | null = null;
  #handler: MessageHandler = null;
  #errorHandler: MessageHandler = null;
  #destroyed = false;

  constructor(
    role: 'w' | 'r',
    sabOrSize: SharedArrayBuffer | number = PIPE_BYTES_DEFAULT,
    byteOffset = 0,
    sectionSize: number | null = null,
    queueLimit: number | null = null,
    shared?: SharedEnd,
  ) {
    if (role !== 'w' && role !== 'r') throw new Error("Invalid role parameter: must be 'r' or 'w'");
    this.isWriter = role === 'w';
    this.isReader = role === 'r';
    checkSharedMemory('make a SABPipe');
    this.#buffer = typeof sabOrSize === 'number' ? new SharedArrayBuffer(sabOrSize) : sabOrSize;
    const size = sectionSize ?? this.#buffer.byteLength - byteOffset;
    this.maxChunk = size - CONTROL_BYTES;
    this.i32 = new Int32Array(this.#buffer, byteOffset, size >>> 2);
    this.u8 = new Uint8Array(this.#buffer, byteOffset, size);
    const views = shared?.views ?? viewsOf(this.#buffer);
    // A section too small to carry anything was accepted by the original too, and was as mute.
    const memory = shared?.memory ?? layOut(views, byteOffset, size) ?? standIn();
    this.#end = shared?.end ?? new End(memory.views.words, pipePlaces(role, memory));
    if (role === 'w') {
      this.#sender = new Sender(memory, this.#end.side.dataBell(), queueLimit, this.#end);
      this.#end.sender = this.#sender;
      if (this.#end.side.tookOver) this.#sender.takeOver();
    } else {
      this.#receiver = new Receiver(memory, this.#end.side.spaceBell(), queueLimit, shared?.beside ?? NOTHING_BESIDE);
      this.#end.receiver = this.#receiver;
      this.#end.failed = (error) => this.#handError(error);
    }
  }

  get buffer(): SharedArrayBuffer {
    return this.#buffer;
  }

  /** Sends a JSON-serializable message. Never blocks; resolves when it has been written. Rejects for itself alone. */
  postMessage(msg: unknown): Promise<void> {
    if (this.#sender === null) throw new Error('Only writer can write');
    if (this.#end.side.disposed) throw disposedError();
    return this.#sender.post(msg);
  }

  /** Blocks until there is a message, `timeout` ms have passed (`null`, or `[]` for `maxMessages` above 1). */
  read(timeout: number = Number.POSITIVE_INFINITY, blocking = true, maxMessages = 1): Received {
    this.#checkRead('Only reader can read', 'read');
    return blocking ? this.#end.read(limitOf(timeout), maxMessages) : this.#end.tryRead(maxMessages);
  }

  /** `read` without blocking. */
  tryRead(maxMessages = 1): Received {
    return this.read(0, false, maxMessages);
  }

  /** The next message, which stays, or null. Never waits. */
  tryPeek(): Received {
    this.#checkRead('Only reader can peek', 'tryPeek');
    const message = this.#receiver!.peek();
    return message === EMPTY ? null : message;
  }

  /** `read` as a promise; several may be pending and are served in order. */
  asyncRead(timeout: number = Number.POSITIVE_INFINITY, maxMessages = 1): Promise<Received> {
    try {
      this.#checkRead('Only reader can read', 'asyncRead');
      if (maxMessages < 1) return Promise.resolve(emptyAnswer(maxMessages));
      return this.#end.readAsync(limitOf(timeout), maxMessages);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  get onmessage(): MessageHandler {
    return this.#handler;
  }
  set onmessage(handler: MessageHandler) {
    if (this.#receiver === null) throw new Error('Only reader can set onmessage');
    this.#handler = handler ?? null;
    this.#end.handler = this.#handler === null ? null : (message) => this.#hand(message);
  }

  /** Beyond the original: is given what cannot be read (`{ data: error }`), which is thrown otherwise. */
  get onmessageerror(): MessageHandler {
    return this.#errorHandler;
  }
  set onmessageerror(handler: MessageHandler) {
    this.#errorHandler = handler ?? null;
  }

  get queueLimit(): number | null {
    return (this.#sender ?? this.#receiver)!.queueLimit;
  }
  set queueLimit(limit: number | null) {
    (this.#sender ?? this.#receiver)!.queueLimit = limit;
  }
  get onQueueOverflow(): OverflowCallback {
    return (this.#sender ?? this.#receiver)!.onQueueOverflow;
  }
  set onQueueOverflow(callback: OverflowCallback) {
    (this.#sender ?? this.#receiver)!.onQueueOverflow = callback;
  }

  /** Disposed by either side. A thread that has ended is no disposed pipe: another one may take its place. */
  isDisposed(): boolean {
    return this.#destroyed || this.#end.side.disposed;
  }
  close(): void {
    this.destroy();
  }
  /** Ends the pipe for both sides. Whoever waits is settled. Idempotent. */
  destroy(): void {
    if (this.#destroyed) return;
    this.#destroyed = true;
    this.#end.dispose();
    this.i32 = null;
    this.u8 = null;
  }

  // ---- beyond the original ------------------------------------------------------------------------------------

  /** Whether a listener or something pending keeps the process alive; `unref` says that it shall not. */
  hasRef(): boolean {
    return this.#end.held;
  }
  ref(): this {
    this.#end.reference(true);
    return this;
  }
  unref(): this {
    this.#end.reference(false);
    return this;
  }

  /** In this order, as in the original: role, onmessage, disposed. */
  #checkRead(roleText: string, name: string): void {
    if (this.#receiver === null) throw new Error(roleText);
    if (this.#handler !== null) throw new Error(`Cannot call ${name} while onmessage is active`);
    if (this.#destroyed || this.#end.side.disposed) throw disposedError();
  }

  #hand(message: unknown): void {
    handTo(this.#handler, message);
  }
  #handError(error: unknown): boolean {
    handTo(this.#errorHandler, error);
    return this.#errorHandler !== null;
  }
}

function handTo(handler: MessageHandler, data: unknown): void {
  if (typeof handler !== 'function') return;
  try {
    handler({ data });
  } catch {
    // Documented: "If the handler throws, the error is silently caught and the message loop continues."
  }
}

function limitOf(timeout: number): number {
  const limitMs = Number(timeout);
  return Number.isNaN(limitMs) ? Number.POSITIVE_INFINITY : limitMs;
}

function standIn(): PipeMemory {
  return layOut(viewsOf(new SharedArrayBuffer(STAND_IN_BYTES)), 0, STAND_IN_BYTES) as PipeMemory;
}
