// JSON: what it drops or bends is dropped or bent. The payload is the JSON text in UTF-8.
import { CodecError, DataCloneError } from '../errors.ts';
import { KIND_JSON } from '../frame/header.ts';
import { type Codec, type Decoder, type Encoder, type Memory, NO_ROOM, REFUSED } from './codec.ts';

class JsonEncoder implements Encoder {
  /** Refuses what JSON has no text for: undefined, functions and symbols. */
  encodeInto(value: unknown, memory: Memory, offset: number, limit: number): number {
    let json: string | undefined;
    try {
      json = JSON.stringify(value);
    } catch (error) {
      // What a getter throws is its own, but for what JSON itself throws, which may be a getter's as well.
      if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
      throw new DataCloneError(`Cannot write $ as JSON: ${(error as Error).message}`, '$', error);
    }
    if (json === undefined) return REFUSED;
    return writeJson(json, memory, offset, limit);
  }
}

/** Writes the text of a payload: its bytes, or `NO_ROOM` if they are more than `limit`. */
export function writeJson(json: string, memory: Memory, offset: number, limit: number): number {
  const { length } = json;
  if (length > limit) return NO_ROOM;
  // At most three bytes a character. A write that stopped early cannot be told from one that did not, unless there
  // was room for all of it.
  const written = memory.text.utf8Write(json, offset, Math.min(limit, length * 3));
  if (length * 3 > limit && written > limit - 4 && utf8Length(json) > limit) return NO_ROOM;
  return written;
}

function utf8Length(text: string): number {
  let bytes = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    // Two halves of a pair make four bytes together. JSON.stringify leaves no half alone.
    if (code < 0x80) bytes += 1;
    else if (code < 0x800 || (code & 0xf800) === 0xd800) bytes += 2;
    else bytes += 3;
  }
  return bytes;
}

class JsonDecoder implements Decoder {
  decode(memory: Memory, offset: number, length: number): unknown {
    if (length < 0 || offset + length > memory.bytes.length) {
      throw new CodecError('ERR_DECODE', `Cannot decode: there are no ${length} bytes at ${offset}`);
    }
    try {
      return JSON.parse(memory.text.utf8Slice(offset, offset + length));
    } catch (error) {
      throw new CodecError('ERR_DECODE', `Cannot decode: ${(error as Error).message}`, { cause: error });
    }
  }
}

export const json: Codec = {
  name: 'json',
  kind: KIND_JSON,
  createEncoder: (): Encoder => new JsonEncoder(),
  createDecoder: (): Decoder => new JsonDecoder(),
};
