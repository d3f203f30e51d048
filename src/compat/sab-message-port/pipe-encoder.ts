// What a message becomes in a pipe. JSON decides what arrives. A value that comes out of JSON as it went in travels packed,
// which takes about half the time; every other value travels as its JSON text. Of one that goes another way only its number
// stands in the pipe, in its place.
import { type Encoder, type Memory, NO_ROOM, REFUSED } from '../../codec/codec.ts';
import { writeJson } from '../../codec/json.ts';
import { HEADER_RESET, HEADER_TRAILER } from '../../codec/packed/format.ts';
import type { PackedEncoder } from '../../codec/packed.ts';
import { KIND_JSON, KIND_PACKED, KIND_SIDE, MARKER_BYTES } from '../../frame/header.ts';
import { createJsonEncoder } from './json-writer.ts';
import type { PipeMemory } from './layout.ts';
import { ShapeLog } from './shape-log.ts';

/** Bytes of a packed message that waits; a longer one waits as text. */
const WAITING_BYTES_MAX = 64 * 1024;

export class PipeEncoder implements Encoder {
  /** Of the payload written last. */
  kind: number = KIND_PACKED;
  /** What stands in the ring is written there at once; all other memory holds what waits. */
  readonly #ring: Memory;
  readonly #packed: PackedEncoder = createJsonEncoder({ knownTexts: 0 });
  readonly #log: ShapeLog;
  /** A message is being read, whose getters may post another: that one is written as text, and waits. */
  busy = false;
  /** The next value is not encoded by itself, or was already: `done` ends that. */
  special = false;
  /** What was packed last may have taught what is not in the log: a call that ran out of stack came no further. */
  #unlogged = false;
  /** What JSON made of the message at hand: its getters and `toJSON` are not asked again. */
  #text: string | null = null;
  /** What is written in the place of the next value. */
  #number: number | null = null;

  constructor({ views, log }: PipeMemory) {
    this.#ring = views;
    this.#log = new ShapeLog(views, log);
  }

  /** The next value goes another way: its number, by which the reader finds it, keeps its place. */
  keepPlace(number: number): void {
    this.#number = number;
    this.special = true;
  }
  /** The message at hand is written, or given up. */
  done(): void {
    this.special = false;
    this.#text = null;
    this.#number = null;
  }

  encodeInto(value: unknown, memory: Memory, offset: number, limit: number): number {
    if (!this.special && !this.busy) {
      const length = this.#pack(value, memory, offset, limit);
      if (length > 0) this.kind = KIND_PACKED;
      if (length > 0 || (length === NO_ROOM && memory === this.#ring)) return length;
    }
    if (this.#number !== null) return this.#writePlace(this.#number, memory, offset);
    this.#text ??= this.#toJson(value);
    this.special = true;
    this.kind = KIND_JSON;
    return writeJson(this.#text, memory, offset, limit);
  }

  #pack(value: unknown, memory: Memory, offset: number, limit: number): number {
    const room = memory === this.#ring ? limit : Math.min(limit, WAITING_BYTES_MAX);
    const log = this.#log;
    if (this.#unlogged) this.#packed.discard();
    this.#unlogged = true;
    this.busy = true;
    try {
      const length = this.#packed.encodeInto(value, memory, offset, room, log.open);
      if (length <= 0) return length;
      const header = memory.words[offset >>> 2] as number;
      if ((header & HEADER_TRAILER) === 0) return length;
      // It brings keys that are new. Every reader to come must find them in the log.
      if (log.open && (header & HEADER_RESET) === 0) {
        if (log.append(memory.bytes.subarray(offset, offset + length))) {
          this.#unlogged = false;
          return length;
        }
      }
      log.open = false;
      this.#packed.discard();
      return REFUSED;
    } finally {
      this.busy = false;
    }
  }

  /** What has no JSON of its own (undefined, functions, symbols) travels as null, as in an array. */
  #toJson(value: unknown): string {
    const before = this.busy;
    this.busy = true;
    try {
      return JSON.stringify(value) ?? 'null';
    } finally {
      this.busy = before;
    }
  }

  /** Any room that is offered is enough. */
  #writePlace(number: number, memory: Memory, offset: number): number {
    memory.words[offset >>> 2] = number;
    memory.words[(offset >>> 2) + 1] = 0;
    this.kind = KIND_SIDE;
    return MARKER_BYTES;
  }
}
