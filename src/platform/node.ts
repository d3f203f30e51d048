// Node, and the shape that bun.ts and deno.ts vary: both runtimes offer node:worker_threads.
import { Buffer } from 'node:buffer';
import { errorMonitor } from 'node:events';
import process from 'node:process';
import * as workerThreads from 'node:worker_threads';
import { type BootData, NODE_BOOTSTRAP, START_KEY } from './bootstrap.ts';
import type {
  BlockMemory,
  NativePort,
  Platform,
  Start,
  TetherHandlers,
  TextMemory,
  ThreadEnd,
  ThreadEnded,
} from './contract.ts';
import { type StartInbox, startMessage, TakingInbox } from './start-inbox.ts';

type Port = workerThreads.MessagePort;
interface BufferText {
  latin1Write(text: string, offset: number, length: number): number;
  latin1Slice(start: number, end: number): string;
  utf8Write(text: string, offset: number, length: number): number;
  utf8Slice(start: number, end: number): string;
  ucs2Write(text: string, offset: number, length: number): number;
  ucs2Slice(start: number, end: number): string;
}

export class BufferTextMemory implements TextMemory {
  // 60 characters on Node 24: utf8Write 43 to 78 ns, latin1Write 24, the look before it 12, whatever the length.
  readonly latin1First: boolean = true;
  readonly loopMax: number = 24;
  readonly #buffer: BufferText;
  constructor(memory: SharedArrayBuffer | ArrayBuffer) {
    this.#buffer = Buffer.from(memory as ArrayBuffer, 0, memory.byteLength) as unknown as BufferText;
  }
  latin1Write(text: string, offset: number, maxLength: number): number {
    return this.#buffer.latin1Write(text, offset, maxLength);
  }
  latin1Slice(start: number, end: number): string {
    return this.#buffer.latin1Slice(start, end);
  }
  // Deno 2.9 takes a length of 0 for no limit, and an odd length for the byte that it is.
  utf8Write(text: string, offset: number, maxLength: number): number {
    return maxLength === 0 ? 0 : this.#buffer.utf8Write(text, offset, maxLength);
  }
  utf8Slice(start: number, end: number): string {
    return this.#buffer.utf8Slice(start, end);
  }
  utf16Write(text: string, offset: number, maxLength: number): number {
    return maxLength < 2 ? 0 : this.#buffer.ucs2Write(text, offset, maxLength & -2);
  }
  utf16Slice(start: number, end: number): string {
    return this.#buffer.ucs2Slice(start, end);
  }
}

const bufferCopy = Buffer.prototype.copy as (this: Uint8Array, target: ArrayBufferView, at: number) => number;

// Buffer.copy believes what `length` says, and writes as much: a view is handed to it that nobody gave properties of its own.
const typedArray: object = Object.getPrototypeOf(Uint8Array.prototype);
const accessor = (name: string): unknown => Object.getOwnPropertyDescriptor(typedArray, name)?.get;
const lengthOf = accessor('length') as (this: Uint8Array) => number;
const offsetOf = accessor('byteOffset') as (this: Uint8Array) => number;
const bufferOf = accessor('buffer') as (this: Uint8Array) => ArrayBuffer;

/** Whether Buffer.copy takes a target that is no Uint8Array. Node 20's refuses. */
function copiesToAnyView(): boolean {
  try {
    return bufferCopy.call(new Uint8Array(1), new Int8Array(1), 0) === 1;
  } catch {
    return false;
  }
}

/** Bytes from which on a copy into shared memory goes through Buffer.copy, where that can be had. */
const BUFFER_COPY_MIN: number = copiesToAnyView() ? 1024 : Number.POSITIVE_INFINITY;

/**
 * TypedArray.set copies into shared memory word by word. Buffer.copy calls it too, but into a view of another type than
 * the source's, and out of shared memory, it is a plain memcpy: in, set against copy, 1 KiB 103 and 52 ns on Node 24,
 * 60 and 66 on 22, 39 and 44 on 26; 64 KiB 5.5 and 2.4 us, 5.5 and 2.9, 2.7 and 2.2; below 1 KiB set is quicker. Out,
 * 64 KiB 5.4 and 1.2 us on Node 24. Both are as good as any other way on Node 20 and Bun.
 * @param copyMin bytes from which on `copyIn` calls Buffer.copy
 */
export class BufferBlockMemory implements BlockMemory {
  readonly #buffer: Buffer;
  readonly #bytes: Uint8Array;
  readonly #signed: Int8Array;
  readonly #copyMin: number = 0;
  constructor(memory: SharedArrayBuffer | ArrayBuffer, copyMin: number) {
    this.#copyMin = copyMin;
    this.#buffer = Buffer.from(memory as ArrayBuffer, 0, memory.byteLength);
    this.#bytes = new Uint8Array(memory, 0, memory.byteLength);
    this.#signed = new Int8Array(memory, 0, memory.byteLength);
  }
  copyIn(source: Uint8Array, offset: number): void {
    const length = lengthOf.call(source);
    if (length < this.#copyMin) this.#bytes.set(source, offset);
    else bufferCopy.call(new Uint8Array(bufferOf.call(source), offsetOf.call(source), length), this.#signed, offset);
  }
  copyOut(target: Uint8Array, start: number, length: number, at = 0): void {
    this.#buffer.copy(target, at, start, start + length);
  }
}

/** Bytes that small Buffers are cut from: 8 or 64 KiB and a little, or no more than asked for where there is no pool. */
const POOL_BYTES = Buffer.allocUnsafe(1).buffer.byteLength;

/** Starts `source`, one of bootstrap.ts, in a new thread. What the caller's options hold goes on to the user's module. */
export function startWorker(
  source: string | URL,
  url: URL,
  start: Start,
  options: workerThreads.WorkerOptions,
): workerThreads.Worker {
  const boot: BootData = { url: url.href, start: start.data, end: start.end, workerData: options.workerData };
  return new workerThreads.Worker(source, {
    ...options,
    eval: typeof source === 'string',
    workerData: boot,
    transferList: [...(options.transferList ?? []), ...start.transfer] as workerThreads.Transferable[],
  });
}

/** Tells how the thread of this Worker ended. `errors` is the event to listen to. */
export function watchWorker(worker: workerThreads.Worker, errors: string | symbol, ended: ThreadEnded): void {
  let failed: { readonly error: unknown } | undefined;
  worker.on(errors as 'error', (error: unknown) => {
    failed ??= { error };
  });
  // 1 is what a terminated one ends with, on Bun and Deno too; it may also have chosen that itself.
  worker.on('exit', (code) => ended(failed ? 'crash' : code === 1 ? undefined : 'exit', failed?.error));
}

/** Thrown by a getter to stop a clone before it has moved anything. */
const STOP: Error = new Error('stop');

/**
 * Whether a port is closed here. Taking from a port whose other side is gone closes it here and now, and the transfer of
 * a closed port is refused before the value is looked at (Node 20 to 26). A getter stops the clone of a port that could
 * move. It takes 5 to 30 us and leaves no message with a peer that may not look for hours, as posting one would.
 */
function isClosed(port: NativePort): boolean {
  let movable = false;
  const trap = {
    get stop(): never {
      movable = true;
      throw STOP;
    },
  };
  try {
    structuredClone(trap, { transfer: [port as unknown as Port] });
  } catch {
    // Which of the two threw, `movable` says.
  }
  return !movable;
}

let probes: boolean | undefined;

/** Whether `isClosed` is right here. A Node on which it is not must not end healthy channels: it learns of no end so. */
function probesWork(): boolean {
  const { port1, port2 } = new workerThreads.MessageChannel();
  const [open, closed] = [port1, port2] as unknown as readonly [NativePort, NativePort];
  nodePlatform.listen(open, { message: () => {}, closed: () => {} });
  const tellsOpen = !isClosed(open) && !isClosed(closed) && !isClosed(open);
  open.close();
  const tellsClosed = isClosed(open);
  closed.close();
  return tellsOpen && tellsClosed;
}

/** Carries ports from this thread to itself. structuredClone would do, but on Deno it gives ports of the web's class. */
let ferry: workerThreads.MessageChannel | undefined;

/** Hands its start data to a Worker of node:worker_threads that somebody made. */
export function adoptWorker(
  worker: unknown,
  data: unknown,
  transfer: readonly unknown[],
  errors: string | symbol,
  ended: ThreadEnded,
): void {
  const made = worker as workerThreads.Worker;
  watchWorker(made, errors, ended);
  made.postMessage(startMessage(data), transfer as workerThreads.Transferable[]);
  // It had ended before: no event will tell. Deno gives no sign of it.
  if (made.threadId === -1) ended(undefined, undefined);
}

export const nodePlatform: Platform = {
  name: 'node',
  canBlock: true,
  canTake: true,
  closeDropsPosted: false,
  walksMessages: false,
  asyncPark: 'doorbell',
  nativeTextMin: Number.POSITIVE_INFINITY,
  spawnData: (process as { [START_KEY]?: unknown })[START_KEY],

  // V8 asks the system for memory that may grow, and gets it page by page, zeroed when it is touched; other memory comes
  // from calloc, which writes zeroes over what was used before. 513 KiB on Node 24: 7 us instead of 50 to 500.
  sharedMemory(bytes: number): SharedArrayBuffer {
    return new SharedArrayBuffer(bytes, { maxByteLength: bytes });
  },

  textMemory(memory: SharedArrayBuffer | ArrayBuffer): TextMemory {
    return new BufferTextMemory(memory);
  },

  blockMemory(memory: SharedArrayBuffer | ArrayBuffer): BlockMemory {
    return new BufferBlockMemory(memory, BUFFER_COPY_MIN);
  },

  byteView(memory: SharedArrayBuffer | ArrayBuffer): Uint8Array {
    return Buffer.from(memory as ArrayBuffer, 0, memory.byteLength);
  },

  isPooled(view: ArrayBufferView, bytes: number, bufferBytes: number): boolean {
    return bufferBytes === POOL_BYTES && bufferBytes > 1 && bytes < bufferBytes >>> 1 && Buffer.isBuffer(view);
  },

  messageChannel(): readonly [NativePort, NativePort] {
    const { port1, port2 } = new workerThreads.MessageChannel();
    return [port1 as unknown as NativePort, port2 as unknown as NativePort];
  },

  isNativePort(value: unknown): boolean {
    return value instanceof workerThreads.MessagePort;
  },

  moveHere(ports: readonly NativePort[]): readonly NativePort[] | undefined {
    ferry ??= new workerThreads.MessageChannel();
    try {
      ferry.port1.postMessage(ports, ports as unknown as Port[]);
    } catch {
      return undefined;
    }
    return nodePlatform.takeMessage(ferry.port2 as unknown as NativePort)?.message as NativePort[];
  },

  isWorker(value: unknown): boolean {
    return value instanceof workerThreads.Worker;
  },

  listen(port: NativePort, handlers: TetherHandlers): void {
    const native = port as unknown as Port;
    native.on('message', handlers.message);
    native.on('close', handlers.closed);
    native.start();
    native.unref();
  },

  takeMessage(port: NativePort): { readonly message: unknown } | undefined {
    return workerThreads.receiveMessageOnPort(port as unknown as Port) as { message: unknown } | undefined;
  },

  canProbe(): boolean {
    probes ??= probesWork();
    return probes;
  },

  probeGone(port: NativePort): boolean {
    return nodePlatform.canProbe() && isClosed(port);
  },

  hold(port: NativePort, held: boolean): void {
    const native = port as unknown as Port;
    if (held) native.ref();
    else native.unref();
  },

  turn(task: () => void): void {
    setImmediate(task);
  },

  reportError(error: unknown): void {
    process.nextTick(() => {
      throw error;
    });
  },

  onThreadEnd(task: (how: ThreadEnd) => void): void {
    let how: ThreadEnd = 'exit';
    nodePlatform.onCrash(() => {
      how = 'crash';
    });
    // An exception that an uncaughtException listener took is no crash; the exit code of a later end says so.
    process.on('exit', (code) => task(code === 0 ? 'exit' : how));
  },

  onCrash(task: (error: unknown) => void): void {
    process.on('uncaughtExceptionMonitor', (error: unknown) => {
      // Somebody who handles it keeps the thread going.
      if (process.listenerCount('uncaughtException') === 0) task(error);
    });
  },

  spawn(url: URL, start: Start, options: object, ended: ThreadEnded): unknown {
    const worker = startWorker(NODE_BOOTSTRAP, url, start, options);
    // Listens without taking: an error that nobody handles stays uncaught.
    watchWorker(worker, errorMonitor, ended);
    return worker;
  },

  tellsEnd(worker: unknown): boolean | undefined {
    return worker instanceof workerThreads.Worker || undefined;
  },

  adopt(worker: unknown, data: unknown, transfer: readonly unknown[], ended: ThreadEnded): void {
    adoptWorker(worker, data, transfer, errorMonitor, ended);
  },

  openStartInbox(): StartInbox | undefined {
    const { parentPort: port } = workerThreads;
    if (port === null) return undefined;
    return new TakingInbox({
      port,
      take: workerThreads.receiveMessageOnPort,
      redeliver: (port, message) => port.emit('message', message),
    });
  },
};
