// Texts as they are. The payload is one byte for the form, then the characters in it.
import { CodecError } from '../errors.ts';
import { KIND_TEXT } from '../frame/header.ts';
import { type Codec, type Decoder, type Encoder, type Memory, NO_ROOM, REFUSED } from './codec.ts';

const LATIN1 = 1;
const UTF16 = 2;
/** The characters start here, so that UTF-16 is aligned. */
const START = 2;
const WIDE = /[^\0-\xff]/;

class TextEncoder implements Encoder {
  encodeInto(value: unknown, memory: Memory, offset: number, limit: number): number {
    if (typeof value !== 'string') return REFUSED;
    const { length } = value;
    const { bytes, text } = memory;
    const start = offset + START;
    if (length + START > limit) return NO_ROOM;
    bytes[offset + 1] = 0;
    // See packed-write-text.ts: UTF-8 that has as many bytes as there are characters is ASCII.
    if (length + START + 4 <= limit && text.utf8Write(value, start, length + 4) === length) {
      bytes[offset] = LATIN1;
      return START + length;
    }
    if (!WIDE.test(value)) {
      text.latin1Write(value, start, length);
      bytes[offset] = LATIN1;
      return START + length;
    }
    if (length * 2 + START > limit) return NO_ROOM;
    text.utf16Write(value, start, length * 2);
    bytes[offset] = UTF16;
    return START + length * 2;
  }
}

class TextDecoder implements Decoder {
  decode(memory: Memory, offset: number, length: number): string {
    const end = offset + length;
    if (length < START || end > memory.bytes.length) {
      throw new CodecError('ERR_DECODE', `Cannot decode: there is no text of ${length} bytes at ${offset}`);
    }
    const form = memory.bytes[offset];
    if (form === LATIN1) return memory.text.latin1Slice(offset + START, end);
    if (form === UTF16 && length % 2 === 0) return memory.text.utf16Slice(offset + START, end);
    throw new CodecError('ERR_DECODE', `Cannot decode: there is no text form ${form}`);
  }
}

export const text: Codec = {
  name: 'text',
  kind: KIND_TEXT,
  createEncoder: (): Encoder => new TextEncoder(),
  createDecoder: (): Decoder => new TextDecoder(),
};
