// An encoder and a decoder of the packed codec, and memory between them.
import assert from 'node:assert/strict';
import { PackedDecoder, PackedEncoder } from '../../src/codec/packed.ts';
import { type Views, viewsOf } from '../../src/memory/region.ts';

export const memory: Views = viewsOf(new SharedArrayBuffer(1 << 20));
/** Where payloads lie in it. */
export const OFFSET = 64;

export class PackedPair {
  readonly encoder: PackedEncoder = new PackedEncoder({ exactArrays: true });
  readonly decoder: PackedDecoder = new PackedDecoder();
  length = 0;

  /** Encodes and decodes; `length` says in how many bytes. */
  send<T>(value: T, learn = true): T {
    this.length = this.encoder.encodeInto(value, memory, OFFSET, memory.bytes.length - OFFSET, learn);
    assert.ok(this.length > 0, `encodeInto gave ${this.length}`);
    return this.decoder.decode(memory, OFFSET, this.length) as T;
  }
}
