// The documented types of @nxtedition/shared 3.0.2, as its public lib/index.d.ts states them. Code written against them
// must compile against `millrace/compat/nxtedition-shared`: test/types/nxtedition-shared.ts holds the two together.

export interface SharedBuffers {
  sharedState: SharedArrayBuffer;
  sharedBuffer: SharedArrayBuffer;
}
export interface BufferRegion {
  buffer: Buffer;
  view: DataView;
  offset: number;
  length: number;
  byteOffset: number;
  byteLength: number;
}
export interface Reader {
  readSome<U>(next: (data: BufferRegion, opaque: U) => void | boolean, opaque: U): number;
  readSome(next: (data: BufferRegion) => void | boolean): number;
}
export interface WriterOptions {
  yield?: () => void;
  logger?: { warn(obj: object, msg: string): void };
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
export interface Door {
  alloc(size: number): SharedBuffers;
  reader(buffers: SharedBuffers): Reader;
  writer(buffers: SharedBuffers, options?: WriterOptions): Writer;
}
