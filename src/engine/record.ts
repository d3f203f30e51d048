// A value on its way through a server, by itself: who says it, its number, and the value. Two forms: packed, and JSON for who reads it in another language; a
// reader takes both.
//
// Packed: u8 version (1), u8 outcome (0 done, 1 failed, 2 busy), u16 part, u32 number, u16 parts, u16 count, 4 bytes of nothing, 16 bytes of who says it; then the
// value, or a part of it. Where count is not 0, so many values, numbered one after the other, each behind a u32 of its bytes and 4 bytes of nothing, and up to
// a multiple of 8. All little-endian. JSON: {"v": 1, "from": "<32 hex digits>", "n": number, "value": ... }, or "error" with a name and a message in its place;
// who is busy is called `Busy`.
import { type Codec, NO_ROOM, REFUSED } from '../codec/codec.ts';
import { json } from '../codec/json.ts';
import { packed } from '../codec/packed.ts';
import { DataCloneError, UsageError } from '../errors.ts';
import { ENGINE_PARTS_MAX, RECORD_SPARES_MAX, SCRATCH_BYTES_MIN } from '../limits.ts';
import { pooled } from '../memory/pooled.ts';
import { type Views, viewsOf } from '../memory/region.ts';
import { scratch } from '../memory/scratch.ts';
import { bytesOfHex, hexOf } from './hex.ts';
import { isId } from './names.ts';
import { messageOf, nameOf } from './thrown.ts';
import { setUint32, uint32At } from './words.ts';

export type Form = 'packed' | 'json';
export const FORMS: readonly Form[] = ['packed', 'json'];

const FROM_AT = 16;
/** Of a packed one without its value. */
export const RECORD_BYTES = 32;
/** Before each of several values. */
const COUNTED_BYTES = 8;
const up8 = (bytes: number): number => (bytes + 7) & ~7;
const VERSION = 1;
/** What an answer is: a value; what was thrown; nothing, since who answers has enough. */
export type Outcome = 'done' | 'failed' | 'busy';
const OUTCOMES: readonly Outcome[] = ['done', 'failed', 'busy'];
const BRACE = 0x7b;
const NONE: readonly Uint8Array[] = [];

export interface Record {
  readonly from: string;
  readonly number: number;
  readonly outcome: Outcome;
  readonly part: number;
  readonly parts: number;
  /** Values that come after one another; 0: one, or a part of one. */
  readonly count: number;
  /** Of a packed one: what lies behind its head. Whoever keeps it makes it `own`. */
  bytes: Uint8Array;
  /** Of one in JSON. */
  readonly text: { readonly value: unknown } | undefined;
}

const CODECS: Readonly<{ [F in Form]: Codec }> = { packed, json };

/** Small memories of the thread's, which most values fit into: what is kept for large messages is not for these. */
const spare: Views[] = [];
function borrow(bytes: number): Views {
  if (bytes <= SCRATCH_BYTES_MIN) return spare.pop() ?? viewsOf(new ArrayBuffer(SCRATCH_BYTES_MIN));
  return scratch.take(bytes, 4 * bytes);
}
/** @param used bytes of it */
function giveBack(memory: Views, used: number): void {
  if (memory.bytes.length > SCRATCH_BYTES_MIN) scratch.give(memory, used);
  else if (spare.length < RECORD_SPARES_MAX) spare.push(memory);
}

/** Encodes values, each by itself. */
export class RecordWriter {
  readonly #from: string;
  readonly #fromBytes: Uint8Array;
  readonly #form: Form;
  readonly #most: () => number;
  readonly #encoder;
  /** A message of several values, as far as it is: encoded where they lie. Memory of the thread's, until they go. */
  #gathered: Views | undefined;
  /** Values that are being encoded: a getter may publish, and what it finds in use is not given back. */
  #encoding = 0;
  #gatheredBytes = 0;
  #count = 0;
  #first = 0;
  /** A value in JSON is being read, which may run code. */
  #writing = false;

  /** @param most bytes of a message */
  constructor(from: string, form: Form, most: () => number) {
    this.#from = from;
    this.#fromBytes = bytesOfHex(from);
    this.#form = form;
    this.#most = most;
    this.#encoder = CODECS[form].createEncoder({ knownTexts: 0 });
  }

  get #mostBytes(): number {
    return this.#most();
  }

  /**
   * A value by itself.
   * @param most messages that it may take
   * @throws DataCloneError; UsageError ERR_TOO_LARGE
   */
  write(value: unknown, number: number, most: number, outcome: Outcome = 'done'): Uint8Array[] {
    if (this.#form === 'json') return [this.#text(value, number, outcome)];
    const room = this.#mostBytes - RECORD_BYTES;
    const encoded = this.#encode(value, room * most);
    const messages = this.#parts(encoded.bytes, number, outcome);
    giveBack(encoded.memory, encoded.bytes.length);
    return messages;
  }

  /**
   * Puts a value behind those that are gathered, and gives what has to go before it, and at once. In JSON each goes by itself.
   * @param number one more than that of the one before
   * @throws as write; nothing was gathered
   */
  gather(value: unknown, number: number): readonly Uint8Array[] {
    if (this.#form === 'json') return [this.#text(value, number, 'done')];
    try {
      return this.#gather(value, number);
    } catch (error) {
      if (this.#count === 0) this.#letGo();
      throw error;
    }
  }
  #gather(value: unknown, number: number): readonly Uint8Array[] {
    if (this.#put(value, number)) return NONE;
    // First, for whoever cannot be encoded leaves what is gathered.
    const room = this.#mostBytes - RECORD_BYTES;
    const { memory, bytes } = this.#encode(value, room * ENGINE_PARTS_MAX);
    const { length } = bytes;
    const before = this.gathered();
    const at = RECORD_BYTES + COUNTED_BYTES;
    const alone = COUNTED_BYTES + up8(length) > room;
    const messages = alone ? [...before, ...this.#parts(bytes, number, 'done')] : before;
    if (!alone) {
      const into = this.#roomFor(at + up8(length), 0);
      into.bytes.set(bytes, at);
      this.#add(into, at, length, number);
    }
    giveBack(memory, length);
    if (alone) this.#letGo();
    return messages;
  }
  /** Memory of at least so many bytes, in which what is gathered stays. */
  #roomFor(bytes: number, used: number): Views {
    const before = this.#gathered;
    if (before !== undefined && before.bytes.length >= bytes) return before;
    const into = borrow(bytes);
    if (before !== undefined) {
      into.bytes.set(before.bytes.subarray(0, used));
      this.#giveBack(before, used);
    }
    this.#gathered = into;
    return into;
  }
  /** Of memory in which nothing is gathered. */
  #letGo(): void {
    const memory = this.#gathered;
    this.#gathered = undefined;
    if (memory !== undefined) this.#giveBack(memory, this.#gatheredBytes);
  }
  #giveBack(memory: Views, used: number): void {
    if (this.#encoding === 0) giveBack(memory, used);
  }
  get #end(): number {
    return this.#count === 0 ? RECORD_BYTES : this.#gatheredBytes;
  }
  /** Whether it had room behind the others. */
  #put(value: unknown, number: number): boolean {
    const most = this.#mostBytes & ~7;
    const at = this.#end;
    const from = at + COUNTED_BYTES;
    if (from >= most) return false;
    let into = this.#roomFor(SCRATCH_BYTES_MIN, at);
    let length = NO_ROOM;
    for (;;) {
      const { bytes } = into;
      if (from < bytes.length) length = this.#encodeInto(value, into, from, Math.min(bytes.length, most) - from);
      if (length !== NO_ROOM) break;
      if (bytes.length >= most) return false;
      into = this.#roomFor(2 * bytes.length, at);
    }
    if (length === REFUSED) throw refused();
    // A getter has had what was gathered sent, and may have published more.
    const isThere = this.#gathered === into || this.#count === 0;
    if (at !== this.#end || !isThere) return this.#put(value, number);
    this.#gathered = into;
    this.#add(into, from, length, number);
    return true;
  }
  /** A value that lies there is one more of those that are gathered. */
  #add(into: Views, from: number, length: number, number: number): void {
    into.words[(from - COUNTED_BYTES) >>> 2] = length;
    into.words[(from - COUNTED_BYTES + 4) >>> 2] = 0;
    const end = from + up8(length);
    // What was there before is nobody's to read.
    for (let i = from + length; i < end; i++) into.bytes[i] = 0;
    if (this.#count === 0) this.#first = number;
    this.#gatheredBytes = end;
    this.#count++;
  }
  /** Values that are gathered. */
  get waiting(): number {
    return this.#count;
  }
  /** What is gathered, if anything is. */
  gathered(): readonly Uint8Array[] {
    if (this.#count === 0) {
      this.#letGo();
      return NONE;
    }
    const gathered = this.#gathered as Views;
    const whole = gathered.bytes.slice(0, this.#gatheredBytes);
    this.#head(whole, 0, this.#first, 1, this.#count, 'done');
    this.#count = 0;
    this.#letGo();
    return [whole];
  }

  #text(value: unknown, number: number, outcome: Outcome): Uint8Array {
    if (this.#writing) throw new UsageError('ERR_BUSY', 'Cannot encode: a getter is being read for another value');
    this.#writing = true;
    let said: string | undefined;
    try {
      said = JSON.stringify(outcome === 'done' ? value : errorText(value, outcome));
    } catch (error) {
      throw new DataCloneError(`Cannot write $ as JSON: ${(error as Error).message}`, '$', error);
    } finally {
      this.#writing = false;
    }
    if (said === undefined) throw new DataCloneError('Cannot write $ as JSON: it has no text for it', '$');
    const member = outcome === 'done' ? 'value' : 'error';
    const head = JSON.stringify({ v: VERSION, from: this.#from, n: number });
    const text = `${head.slice(0, -1)},"${member}":${said}}`;
    const bytes = new TextEncoder().encode(text);
    if (bytes.length > this.#mostBytes) throw tooLarge(bytes.length, this.#mostBytes);
    return bytes as Uint8Array;
  }
  /** What was encoded, in messages of its own. */
  #parts(encoded: Uint8Array, number: number, outcome: Outcome): Uint8Array[] {
    const room = this.#mostBytes - RECORD_BYTES;
    const parts = Math.max(1, Math.ceil(encoded.length / room));
    const messages: Uint8Array[] = [];
    for (let part = 0; part < parts; part++) {
      const bytes = encoded.subarray(part * room, (part + 1) * room);
      const whole = pooled(RECORD_BYTES + bytes.length);
      this.#head(whole, part, number, parts, 0, outcome);
      whole.set(bytes, RECORD_BYTES);
      messages.push(whole);
    }
    return messages;
  }
  #head(message: Uint8Array, part: number, number: number, parts: number, count: number, outcome: Outcome): void {
    setUint32(message, 0, VERSION | (OUTCOMES.indexOf(outcome) << 8) | (part << 16));
    setUint32(message, 4, number);
    setUint32(message, 8, parts | (count << 16));
    setUint32(message, 12, 0);
    message.set(this.#fromBytes, FROM_AT);
  }
  /** Into memory of the thread's, which is the caller's to give back. */
  #encode(value: unknown, mostBytes: number): { readonly memory: Views; readonly bytes: Uint8Array } {
    let memory = borrow(SCRATCH_BYTES_MIN);
    for (;;) {
      const { bytes } = memory;
      const length = this.#encodeInto(value, memory, 0, Math.min(bytes.length, mostBytes) & ~7);
      if (length >= 0) return { memory, bytes: bytes.subarray(0, length) };
      giveBack(memory, bytes.length);
      if (length === REFUSED) throw refused();
      if (bytes.length >= mostBytes) throw tooLarge(undefined, mostBytes);
      memory = borrow(2 * bytes.length);
    }
  }
  #encodeInto(value: unknown, memory: Views, at: number, room: number): number {
    this.#encoding++;
    try {
      return this.#encoder.encodeInto(value, memory, at, room, false);
    } finally {
      this.#encoding--;
    }
  }
}
function refused(): DataCloneError {
  return new DataCloneError('Cannot send $: it cannot be copied', '$');
}
function tooLarge(bytes: number | undefined, most: number): UsageError {
  const text = `Cannot send a value of ${bytes ?? `more than ${most}`} bytes: ${most} are the most; larger ones go over a port (engine.connect)`;
  return new UsageError('ERR_TOO_LARGE', text, { limit: most });
}
const BUSY = 'Busy';
function errorText(error: unknown, outcome: Outcome): { name: string; message: string } {
  if (outcome === 'busy') return { name: BUSY, message: '' };
  return { name: nameOf(error), message: messageOf(error) };
}

/** Reads messages: what each says of itself, and the values in it. */
export class RecordReader {
  readonly #decoder = packed.createDecoder({ knownTexts: 0 });
  readonly #memory: Views = viewsOf(new ArrayBuffer(SCRATCH_BYTES_MIN));
  /** The one of several values that was read last, where its values are decoded. */
  #loaded: { readonly record: Record; readonly memory: Views } | undefined;
  /** Who said the last one: mostly it is the same. */
  readonly #fromBytes = new Uint8Array(RECORD_BYTES - FROM_AT);
  #from = '';

  /** `undefined` for what is none. */
  read(message: Uint8Array): Record | undefined {
    if (message[0] === BRACE) return readText(message);
    if (message.length < RECORD_BYTES || message[0] !== VERSION) return undefined;
    const part = uint32At(message, 0) >>> 16;
    const last = uint32At(message, 8);
    const [parts, count] = [last & 0xffff, last >>> 16];
    const outcome = OUTCOMES[message[1] as number];
    if (outcome === undefined || parts === 0 || parts > ENGINE_PARTS_MAX || part >= parts) return undefined;
    if (count > 0 && parts > 1) return undefined;
    return {
      from: this.#whose(message),
      number: uint32At(message, 4),
      outcome,
      part,
      parts,
      count,
      bytes: message.subarray(RECORD_BYTES),
      text: undefined,
    };
  }
  #whose(message: Uint8Array): string {
    const known = this.#fromBytes;
    let same = this.#from !== '';
    for (let i = 0; same && i < known.length; i++) same = known[i] === message[FROM_AT + i];
    if (same) return this.#from;
    known.set(message.subarray(FROM_AT, RECORD_BYTES));
    this.#from = hexOf(known);
    return this.#from;
  }

  /** Where each of several values lies: its first byte and its length, one behind the other; `undefined` where they make no sense. */
  several({ count, bytes }: Record): number[] | undefined {
    const places: number[] = [];
    let at = 0;
    for (let i = 0; i < count; i++) {
      if (at + COUNTED_BYTES > bytes.length) return undefined;
      const from = at + COUNTED_BYTES;
      const length = uint32At(bytes, at);
      if (from + length > bytes.length) return undefined;
      places.push(from, length);
      at = from + up8(length);
    }
    return places;
  }
  /**
   * One of several.
   * @throws CodecError ERR_DECODE
   */
  valueAt(record: Record, from: number, length: number): unknown {
    // All of them are copied at once, to where they can be decoded.
    if (this.#loaded?.record !== record)
      this.#loaded = { record, memory: this.#copied([record.bytes], record.bytes.length) };
    const { memory } = this.#loaded;
    // A large one is not kept behind its last.
    if (up8(from + length) >= record.bytes.length) this.#loaded = undefined;
    return this.#decoder.decode(memory, from, length);
  }

  /**
   * @param pieces of one value, in order
   * @throws CodecError ERR_DECODE
   */
  value(record: Record, pieces: readonly Uint8Array[]): unknown {
    if (record.text !== undefined) return record.text.value;
    let length = 0;
    for (const { length: bytes } of pieces) length += bytes;
    this.#loaded = undefined;
    return this.#decoder.decode(this.#copied(pieces, length), 0, length);
  }
  #copied(pieces: readonly Uint8Array[], length: number): Views {
    const memory = length > SCRATCH_BYTES_MIN ? viewsOf(new ArrayBuffer(up8(length))) : this.#memory;
    let at = 0;
    for (const piece of pieces) {
      memory.bytes.set(piece, at);
      at += piece.length;
    }
    return memory;
  }
}
function readText(message: Uint8Array): Record | undefined {
  let said: { v?: unknown; from?: unknown; n?: unknown; value?: unknown; error?: unknown } | null;
  try {
    said = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(message));
  } catch {
    return undefined;
  }
  const { v, from, n, error } = said ?? {};
  if (v !== VERSION || typeof from !== 'string' || !isId(from) || !(Number.isInteger(n) && (n as number) >= 0))
    return undefined;
  const { name, message: text } = Object(error) as { name?: unknown; message?: unknown };
  // A handler may throw one of that name, with a text.
  const outcome = error === undefined ? 'done' : name === BUSY && text === '' ? 'busy' : 'failed';
  // Whoever has sent it may have sent anything in their place.
  const asText = (part: unknown, otherwise: string): string => (typeof part === 'string' ? part : otherwise);
  const value =
    outcome !== 'done' ? Object.assign(new Error(asText(text, '')), { name: asText(name, 'Error') }) : said?.value;
  return { from, number: (n as number) >>> 0, outcome, part: 0, parts: 1, count: 0, bytes: message, text: { value } };
}
