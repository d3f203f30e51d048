// The declarations of @nxtedition/shared 3.0.2 as its document prints them, held against ours. Compiled, never run.
import type * as ours from '../../src/compat/nxtedition-shared.ts';
import type { Assignable, Equal, Expect } from './expect.ts';

interface SharedBuffers {
  sharedState: SharedArrayBuffer;
  sharedBuffer: SharedArrayBuffer;
}
interface BufferRegion {
  buffer: Buffer;
  view: DataView;
  offset: number;
  length: number;
  byteOffset: number;
  byteLength: number;
}
interface Reader {
  // biome-ignore lint/suspicious/noConfusingVoidType: quoted
  readSome<U>(next: (data: BufferRegion, opaque: U) => void | boolean, opaque: U): number;
  // biome-ignore lint/suspicious/noConfusingVoidType: quoted
  readSome(next: (data: BufferRegion) => void | boolean): number;
}
interface WriterOptions {
  yield?: () => void;
  logger?: {
    warn(obj: object, msg: string): void;
  };
}
interface Writer {
  tryWrite(len: number, fn: (data: BufferRegion) => number): boolean;
  tryWrite<U>(len: number, fn: (data: BufferRegion, opaque: U) => number, opaque: U): boolean;
  writeSync(len: number, fn: (data: BufferRegion) => number): void;
  writeSync<U>(len: number, fn: (data: BufferRegion, opaque: U) => number, opaque: U): void;
  cork<T>(callback: () => T): T;
  cork(): void;
  uncork(): void;
  flushSync(): void;
}
interface Seed {
  alloc(size: number): SharedBuffers;
  reader({ sharedState, sharedBuffer }: SharedBuffers): Reader;
  writer({ sharedState, sharedBuffer }: SharedBuffers, options?: WriterOptions): Writer;
}

export type _1 = Expect<Equal<ours.SharedBuffers, SharedBuffers>>;
export type _2 = Expect<Equal<ours.BufferRegion, BufferRegion>>;
export type _3 = Expect<Equal<ours.Reader, Reader>>;
export type _4 = Expect<Equal<ours.WriterOptions, WriterOptions>>;
export type _5 = Expect<Equal<ours.Writer, Writer>>;
export type _6 = Expect<Equal<typeof ours.alloc, Seed['alloc']>>;
// Ours take and return more than the seed's, never less.
export type _7 = Expect<Assignable<typeof ours.reader, Seed['reader']>>;
export type _8 = Expect<Assignable<typeof ours.writer, Seed['writer']>>;
export type _9 = Expect<Assignable<ours.LiveReader, Reader>>;
export type _10 = Expect<Assignable<ours.LiveWriter, Writer>>;
