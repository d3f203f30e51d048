// The codecs a channel knows, by name.
import { CodecError, DataCloneError } from '../errors.ts';
import { KIND_JSON } from '../frame/header.ts';
import { type Codec, type Memory, NO_ROOM, REFUSED } from './codec.ts';

const json: Codec = {
  name: 'json',
  kind: KIND_JSON,
  createEncoder: () => ({
    encodeInto(value: unknown, memory: Memory, offset: number, limit: number): number {
      let text: string | undefined;
      try {
        text = JSON.stringify(value);
      } catch (cause) {
        throw new DataCloneError(`Cannot write the value as JSON: ${(cause as Error).message}`, '$', cause);
      }
      text ??= 'null';
      if (text.length * 3 > limit && Buffer.byteLength(text) > limit) return NO_ROOM;
      return memory.text.utf8Write(text, offset, limit);
    },
  }),
  createDecoder: () => ({
    decode(memory: Memory, offset: number, length: number): unknown {
      try {
        return JSON.parse(memory.text.utf8Slice(offset, offset + length));
      } catch (cause) {
        throw new CodecError('ERR_DECODE', `Cannot read JSON: ${(cause as Error).message}`, { cause });
      }
    },
  }),
};

// Until the packed codec lands: what JSON carries exactly goes as JSON, everything else the native way.
const packed: Codec = {
  ...json,
  createEncoder: () => {
    const inner = json.createEncoder();
    return {
      encodeInto(value: unknown, memory: Memory, offset: number, limit: number, learn: boolean): number {
        const plain = typeof value === 'string' ? value.isWellFormed() : value === null || typeof value === 'boolean';
        return plain ? inner.encodeInto(value, memory, offset, limit, learn) : REFUSED;
      },
    };
  },
};

export const codecs: readonly Codec[] = [json];

export function codecNamed(name: 'packed' | 'json'): Codec {
  return name === 'json' ? json : packed;
}
