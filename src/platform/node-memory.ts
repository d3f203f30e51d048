// Memory on Node, and what bun.ts and deno.ts vary of it.
import { bufferClass } from './builtins.ts';
import type { BlockMemory, MemoryPlatform, TextMemory, TextPlatform } from './contract.ts';

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

const Buffer = /* @__PURE__ */ bufferClass();
const bufferCopy = Buffer.prototype.copy as (this: Uint8Array, target: ArrayBufferView, at: number) => number;

// Buffer.copy believes what `length` says, and writes as much: a view is handed to it that nobody gave properties of its own.
const typedArray: object = /* @__PURE__ */ Object.getPrototypeOf(Uint8Array.prototype);
const accessor = (name: string): unknown => Object.getOwnPropertyDescriptor(typedArray, name)?.get;
const lengthOf = /* @__PURE__ */ accessor('length') as (this: Uint8Array) => number;
const offsetOf = /* @__PURE__ */ accessor('byteOffset') as (this: Uint8Array) => number;
const bufferOf = /* @__PURE__ */ accessor('buffer') as (this: Uint8Array) => ArrayBuffer;

/** Whether Buffer.copy takes a target that is no Uint8Array. Node 20's refuses. */
function copiesToAnyView(): boolean {
  try {
    return bufferCopy.call(new Uint8Array(1), new Int8Array(1), 0) === 1;
  } catch {
    return false;
  }
}

/** Bytes from which on a copy into shared memory goes through Buffer.copy, where that can be had. */
const BUFFER_COPY_MIN: number = /* @__PURE__ */ copiesToAnyView() ? 1024 : Number.POSITIVE_INFINITY;

/**
 * TypedArray.set copies into shared memory word by word. Buffer.copy calls it too, but into a view of another type than
 * the source's, and out of shared memory, it is a plain memcpy: in, set against copy, 1 KiB 103 and 52 ns on Node 24,
 * 60 and 66 on 22, 39 and 44 on 26; 64 KiB 5.5 and 2.4 us, 5.5 and 2.9, 2.7 and 2.2; below 1 KiB set is quicker. Out,
 * 64 KiB 5.4 and 1.2 us on Node 24. Both are as good as any other way on Node 20 and Bun.
 * @param copyMin bytes from which on `copyIn` calls Buffer.copy
 */
export class BufferBlockMemory implements BlockMemory {
  readonly #buffer: InstanceType<typeof Buffer>;
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
let poolBytes: number | undefined;

export const nodeText: TextPlatform = (memory) => new BufferTextMemory(memory);

export const nodeMemory: MemoryPlatform = {
  // V8 asks the system for memory that may grow, and gets it page by page, zeroed when it is touched; other memory comes
  // from calloc, which writes zeroes over what was used before. 513 KiB on Node 24: 7 us instead of 50 to 500.
  sharedMemory(bytes: number): SharedArrayBuffer {
    return new SharedArrayBuffer(bytes, { maxByteLength: bytes });
  },

  blockMemory(memory: SharedArrayBuffer | ArrayBuffer): BlockMemory {
    return new BufferBlockMemory(memory, BUFFER_COPY_MIN);
  },

  byteView(memory: SharedArrayBuffer | ArrayBuffer): Uint8Array {
    return Buffer.from(memory as ArrayBuffer, 0, memory.byteLength);
  },

  isPooled(view: ArrayBufferView, bytes: number, bufferBytes: number): boolean {
    poolBytes ??= Buffer.allocUnsafe(1).buffer.byteLength;
    return bufferBytes === poolBytes && bufferBytes > 1 && bytes < bufferBytes >>> 1 && Buffer.isBuffer(view);
  },
};
