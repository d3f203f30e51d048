// Bytes as they are. The payload is the bytes and nothing else.
import { CodecError } from '../errors.ts';
import { KIND_BYTES } from '../frame/header.ts';
import { type Codec, type Decoder, type Encoder, type Memory, NO_ROOM, REFUSED } from './codec.ts';
import { lengthOfView } from './own-slots.ts';

class BytesEncoder implements Encoder {
  /** Takes any Uint8Array, a Buffer included; everything else is refused. */
  encodeInto(value: unknown, memory: Memory, offset: number, limit: number): number {
    if (!(value instanceof Uint8Array)) return REFUSED;
    const byteLength = lengthOfView(value, 'Uint8Array');
    if (byteLength > limit) return NO_ROOM;
    if (byteLength > 0) memory.blocks.copyIn(value, offset);
    return byteLength;
  }
}

class BytesDecoder implements Decoder {
  /** Returns a Uint8Array of its own. */
  decode(memory: Memory, offset: number, length: number): Uint8Array {
    if (length < 0 || offset + length > memory.bytes.length) {
      throw new CodecError('ERR_DECODE', `Cannot decode: there are no ${length} bytes at ${offset}`);
    }
    const copy = new Uint8Array(length);
    if (length > 0) memory.blocks.copyOut(copy, offset, length);
    return copy;
  }
}

export const bytes: Codec = {
  name: 'bytes',
  kind: KIND_BYTES,
  createEncoder: (): Encoder => new BytesEncoder(),
  createDecoder: (): Decoder => new BytesDecoder(),
};
