// One encoder and the decoder that follows it, with hostile surroundings: bytes outside the place that the encoder was
// given must stay as they are, the decoder gets its payload amid other bytes, and they change once it has returned.
import assert from 'node:assert/strict';
import type { Codec, CodecOptions, Decoder, Encoder, Memory } from '../../src/codec/codec.ts';
import { NO_ROOM, REFUSED } from '../../src/codec/codec.ts';
import { packed } from '../../src/codec/packed.ts';
import { viewsOf } from '../../src/memory/region.ts';
import type { Random } from '../kit/prng.ts';

/** The codec under test. */
export const codec: Codec = packed;

const CANARY = 0x5ca1ab1e | 0;
const CANARY_WORDS = 8;
const OFFSET_MAX = 512;
/** Room for the largest value that the suites draw. */
export const LIMIT: number = 1 << 24;

// All links take turns on the same memory: what the one before left there is one more thing that must not matter.
const outgoing: Memory = viewsOf(new SharedArrayBuffer(LIMIT + 2 * OFFSET_MAX));
const incoming: Memory = viewsOf(new SharedArrayBuffer(LIMIT + 2 * OFFSET_MAX));

export interface SendOptions {
  /** The most bytes that the encoder may use. */
  readonly limit?: number;
  readonly learn?: boolean;
}

export class Link {
  readonly encoder: Encoder;
  readonly decoder: Decoder;
  readonly #random: Random;
  /** Where the last payload is. */
  #offset = 0;
  #length = 0;

  /**
   * By default the encoder looks for named properties on match results alone; to compare every value with structured clone,
   * it must look at every array. docs/codec-battery.md has more on this.
   */
  constructor(random: Random, options: CodecOptions = { exactArrays: true }, receiver: CodecOptions = options) {
    this.#random = random;
    this.encoder = codec.createEncoder(options);
    this.decoder = codec.createDecoder(receiver);
  }

  /** Encodes; returns what encodeInto returned. The payload stays until the next call on any link. */
  encode(value: unknown, options: SendOptions = {}): number {
    const limit = options.limit ?? LIMIT;
    const offset = 64 + 8 * this.#random.int(0, OFFSET_MAX / 8 - 8 - CANARY_WORDS);
    const { words } = outgoing;
    const before = offset / 4 - CANARY_WORDS;
    const after = (offset + limit + 3) >>> 2;
    words.fill(CANARY, before, offset / 4);
    words.fill(CANARY, after, after + CANARY_WORDS);
    let length: number;
    try {
      length = this.encoder.encodeInto(value, outgoing, offset, limit, options.learn ?? true);
    } finally {
      for (let i = 0; i < CANARY_WORDS; i++) {
        assert.ok(words[before + i] === CANARY, `the encoder wrote ${(CANARY_WORDS - i) * 4} bytes before its place`);
        assert.ok(words[after + i] === CANARY, `the encoder wrote ${i * 4} bytes behind its place of ${limit} bytes`);
      }
    }
    assert.ok(Number.isInteger(length) && length <= limit, `encodeInto returned ${length} of ${limit} bytes`);
    assert.ok(length > 0 || length === NO_ROOM || length === REFUSED, `encodeInto returned ${length}`);
    this.#offset = offset;
    this.#length = length;
    return length;
  }

  /** The bytes of the last payload, a copy. */
  payload(): Uint8Array<ArrayBuffer> {
    return outgoing.bytes.slice(this.#offset, this.#offset + this.#length) as Uint8Array<ArrayBuffer>;
  }

  /** Decodes the last payload. */
  decode(): unknown {
    return this.decodeBytes(outgoing.bytes.subarray(this.#offset, this.#offset + this.#length));
  }

  /** Decodes any bytes: from the middle of a memory with random neighbours, or from the very end of one. */
  decodeBytes(payload: Uint8Array): unknown {
    const random = this.#random;
    if (random.chance(0.1)) {
      const start = 8 * random.int(0, 3);
      const exact = new (random.chance(0.5) ? SharedArrayBuffer : ArrayBuffer)(start + payload.length);
      return decodeAt(this.decoder, viewsOf(exact), start, payload);
    }
    const start = 64 + 8 * random.int(0, OFFSET_MAX / 8 - 16);
    const { words } = incoming;
    const end = (start + payload.length + 3) >>> 2;
    for (let i = 1; i <= CANARY_WORDS; i++) {
      words[start / 4 - i] = random.bits();
      words[end + i - 1] = random.bits();
    }
    return decodeAt(this.decoder, incoming, start, payload);
  }

  /** Encodes and decodes; the value must fit and must not be refused. */
  trip(value: unknown, options: SendOptions = {}): unknown {
    const length = this.encode(value, options);
    assert.ok(length >= 0, length === NO_ROOM ? 'no room for the value' : 'the codec refused the value');
    return this.decode();
  }
}

function decodeAt(decoder: Decoder, memory: Memory, start: number, payload: Uint8Array): unknown {
  memory.bytes.set(payload, start);
  try {
    return decoder.decode(memory, start, payload.length);
  } finally {
    // Whatever still looks into the memory is found out by the comparison that follows.
    memory.bytes.fill(0xa5, start, start + payload.length);
  }
}
