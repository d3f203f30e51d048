// The seam between values and payloads. A codec has never heard of rings: it is handed memory and a place in it.
import type { Views } from '../memory/region.ts';

/** Views over one piece of memory, shared or not; codecs write and read through all four. */
export type Memory = Views;

/** `encodeInto` found less room than the value needs. The codec's state is as before the call. */
export const NO_ROOM = -1;
/** `encodeInto` met something this codec does not carry (another may). The codec's state is as before the call. */
export const REFUSED = -2;

/**
 * Writes values. One encoder belongs to one direction of one channel and its calls are made in the order in which
 * the receiver will decode, because it may remember shapes, keys and strings that it has sent.
 */
export interface Encoder {
  /**
   * Writes `value` at `offset` (a multiple of 8) using at most `limit` bytes; returns the bytes written, `NO_ROOM`
   * or `REFUSED`. Whatever the outcome but success, nothing was learned and `memory` past `offset` is scratch.
   * @param learn false: the payload may use what the receiver already knows but must teach nothing new, because it
   *   may yet be dropped before it is delivered.
   * @throws DataCloneError with the path of the part that no codec can carry
   */
  encodeInto(value: unknown, memory: Memory, offset: number, limit: number, learn: boolean): number;
  /**
   * The payload that `encodeInto` just wrote will not be delivered after all: what it taught is not learned. May be
   * called until the next `encodeInto`, so that a sender can look at the length first. Absent where nothing is learned.
   */
  discard?(): void;
  /**
   * The receiver could not decode a payload, and may know less than it was taught: from now on payloads use nothing that
   * those before them taught. Payloads encoded before still go first. Absent where nothing is learned.
   */
  forget?(): void;
  /**
   * What an encoder must be made with that goes on in the place of this one, in another thread: it has taught nothing yet, and
   * takes nothing for new that this one taught. Structured clone carries it. Absent where nothing is learned.
   */
  successor?(): unknown;
}

/** Reads payloads, in the order in which they were encoded. */
export interface Decoder {
  /**
   * Returns the value at `offset` (a multiple of 8), `length` bytes long. Must not keep views of `memory`; must check
   * everything it reads: the bytes may be hostile and may change while it looks.
   * @throws CodecError ERR_DECODE: the payload taught nothing. Later ones that need what it taught throw in their turn,
   *   until the encoder was told to `forget`; none of them gives another value for it.
   */
  decode(memory: Memory, offset: number, length: number): unknown;
  /**
   * What this decoder was taught: one that is made with it goes on in its place, in another thread. Structured clone carries
   * it. Absent where nothing is learned.
   */
  taught?(): unknown;
}

/** Finds the decoder of a kind of payload. */
export interface DecoderTable {
  get(kind: number): Decoder | undefined;
  /** What they were taught, by kind. Structured clone carries it. */
  taught?(): ReadonlyMap<number, unknown>;
}

/** What may differ from channel to channel. Both ends of a direction must be given the same. */
export interface CodecOptions {
  /** Large texts that each side remembers, 0..256, so that a repeated one travels as a number. Default 16; 0: none. */
  readonly knownTexts?: number;
  /** Bytes of them. Default 16 MiB. */
  readonly knownTextBytes?: number;
  /**
   * Look for named properties on every array (encoder only), at up to 65 ns an element. Default false: on those alone that
   * have an `index` or `groups`, as the results of `exec` and `match` and their `indices` do.
   */
  readonly exactArrays?: boolean;
  /**
   * Refuse objects of nothing but primitives in which a text of so many characters is new (encoder only): the runtime's own
   * clone carries them faster. Default: none.
   */
  readonly besideTextMin?: number;
  /** Refuse such objects, and texts that are the value itself, if the text is not ASCII (encoder only). Default: none. */
  readonly besideWideTextMin?: number;
  /** Characters in all texts of such an object at the most; default: any number. */
  readonly besideTextMax?: number;
}

/** A named pair of makers; `kind` is the number (1..63) that stands in the frame header. */
export interface Codec {
  readonly name: string;
  readonly kind: number;
  /** @param successor as `Encoder.successor` gave it */
  createEncoder(options?: CodecOptions, successor?: unknown): Encoder;
  /** @param taught as `Decoder.taught` gave it. @throws CodecError if it makes no sense */
  createDecoder(options?: CodecOptions, taught?: unknown): Decoder;
}
