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
import { ENGINE_PARTS_MAX, SCRATCH_BYTES_MIN } from '../limits.ts';
import { type Views, viewsOf } from '../memory/region.ts';
import { isId } from './names.ts';
import { messageOf, nameOf } from './thrown.ts';

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

export interface Record {
  readonly from: string;
  readonly number: number;
  readonly outcome: Outcome;
  readonly part: number;
  readonly parts: number;
  /** Values that come after one another; 0: one, or a part of one. */
  readonly count: number;
  /** Of a packed one: what lies behind its head. */
  readonly bytes: Uint8Array;
  /** Of one in JSON. */
  readonly text: { readonly value: unknown } | undefined;
}

const CODECS: Readonly<{ [F in Form]: Codec }> = { packed, json };

/** Encodes values, each by itself. */
export class RecordWriter {
  readonly #from: string;
  readonly #fromBytes: Uint8Array;
  readonly #form: Form;
  readonly #most: () => number;
  readonly #encoder;
  #memory: Views = viewsOf(new ArrayBuffer(SCRATCH_BYTES_MIN));
  /** A message of several values, as far as it is: encoded where they lie. */
  #gathered: Views | undefined;
  #gatheredBytes = 0;
  #count = 0;
  #first = 0;
  /** A value in JSON is being read, which may run code. */
  #writing = false;

  /** @param most bytes of a message */
  constructor(from: string, form: Form, most: () => number) {
    this.#from = from;
    this.#fromBytes = Uint8Array.from(from.match(/../g) ?? [], (hex) => Number.parseInt(hex, 16));
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
    return this.#parts(this.#encode(value, room * most), number, outcome);
  }

  /**
   * Puts a value behind those that are gathered, and gives what has to go before it, and at once. In JSON each goes by itself.
   * @param number one more than that of the one before
   * @throws as write; nothing was gathered
   */
  gather(value: unknown, number: number): Uint8Array[] {
    if (this.#form === 'json') return [this.#text(value, number, 'done')];
    if (this.#put(value, number)) return [];
    // First, for whoever cannot be encoded leaves what is gathered.
    const room = this.#mostBytes - RECORD_BYTES;
    const length = this.#encode(value, room * ENGINE_PARTS_MAX);
    const before = this.gathered();
    if (COUNTED_BYTES + up8(length) > room) return [...before, ...this.#parts(length, number, 'done')];
    const at = RECORD_BYTES + COUNTED_BYTES;
    if (this.#gathered === undefined || this.#gathered.bytes.length < at + up8(length))
      this.#gathered = viewsOf(new ArrayBuffer(Math.max(SCRATCH_BYTES_MIN, at + up8(length))));
    this.#gathered.bytes.set(this.#memory.bytes.subarray(0, length), at);
    this.#add(this.#gathered, at, length, number);
    this.#keepSmall();
    return before;
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
    let into = (this.#gathered ??= viewsOf(new ArrayBuffer(SCRATCH_BYTES_MIN)));
    let length = NO_ROOM;
    for (;;) {
      const { bytes } = into;
      if (from < bytes.length)
        length = this.#encoder.encodeInto(value, into, from, Math.min(bytes.length, most) - from, false);
      if (length !== NO_ROOM) break;
      if (bytes.length >= most) return false;
      into = viewsOf(new ArrayBuffer(2 * bytes.length));
      into.bytes.set(bytes.subarray(0, at));
      this.#gathered = into;
    }
    if (length === REFUSED) throw refused();
    // A getter has had what was gathered sent.
    if (at !== this.#end) return this.#put(value, number);
    this.#add(into, from, length, number);
    return true;
  }
  /** A value that lies there is one more of those that are gathered. */
  #add(into: Views, from: number, length: number, number: number): void {
    into.words[(from - COUNTED_BYTES) >>> 2] = length;
    into.words[(from - COUNTED_BYTES + 4) >>> 2] = 0;
    const end = from + up8(length);
    // What was there before is nobody's to read.
    if (from + length < end) into.bytes.fill(0, from + length, end);
    if (this.#count === 0) this.#first = number;
    this.#gatheredBytes = end;
    this.#count++;
  }
  /** Values that are gathered. */
  get waiting(): number {
    return this.#count;
  }
  /** What is gathered, if anything is. */
  gathered(): Uint8Array[] {
    if (this.#count === 0) return [];
    const { bytes } = this.#gathered as Views;
    const whole = bytes.slice(0, this.#gatheredBytes);
    this.#head(whole, 0, this.#first, 1, this.#count, 'done');
    this.#count = 0;
    this.#keepGatheredSmall();
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
  #parts(length: number, number: number, outcome: Outcome): Uint8Array[] {
    const room = this.#mostBytes - RECORD_BYTES;
    const parts = Math.max(1, Math.ceil(length / room));
    const messages: Uint8Array[] = [];
    for (let part = 0; part < parts; part++) {
      const bytes = this.#memory.bytes.subarray(part * room, Math.min(length, (part + 1) * room));
      const whole = new Uint8Array(RECORD_BYTES + bytes.length);
      this.#head(whole, part, number, parts, 0, outcome);
      whole.set(bytes, RECORD_BYTES);
      messages.push(whole);
    }
    this.#keepSmall();
    return messages;
  }
  #head(message: Uint8Array, part: number, number: number, parts: number, count: number, outcome: Outcome): void {
    const view = new DataView(message.buffer);
    view.setUint8(0, VERSION);
    view.setUint8(1, OUTCOMES.indexOf(outcome));
    view.setUint16(2, part, true);
    view.setUint32(4, number, true);
    view.setUint16(8, parts, true);
    view.setUint16(10, count, true);
    message.set(this.#fromBytes, FROM_AT);
  }
  #keepSmall(): void {
    if (this.#memory.bytes.length > SCRATCH_BYTES_MIN) this.#memory = viewsOf(new ArrayBuffer(SCRATCH_BYTES_MIN));
    this.#keepGatheredSmall();
  }
  #keepGatheredSmall(): void {
    const bytes = this.#gathered?.bytes.length ?? 0;
    if (this.#count === 0 && bytes > SCRATCH_BYTES_MIN) this.#gathered = undefined;
  }
  #encode(value: unknown, mostBytes: number): number {
    for (;;) {
      const limit = Math.min(this.#memory.bytes.length, mostBytes) & ~7;
      const length = this.#encoder.encodeInto(value, this.#memory, 0, limit, false);
      if (length === REFUSED) throw refused();
      if (length !== NO_ROOM) return length;
      if (this.#memory.bytes.length >= mostBytes) throw tooLarge(undefined, mostBytes);
      this.#memory = viewsOf(new ArrayBuffer(2 * this.#memory.bytes.length));
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
    const view = new DataView(message.buffer, message.byteOffset, message.length);
    const [part, parts] = [view.getUint16(2, true), view.getUint16(8, true)];
    const outcome = OUTCOMES[view.getUint8(1)];
    const count = view.getUint16(10, true);
    if (outcome === undefined || parts === 0 || parts > ENGINE_PARTS_MAX || part >= parts) return undefined;
    if (count > 0 && parts > 1) return undefined;
    return {
      from: this.#whose(message),
      number: view.getUint32(4, true),
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
    this.#from = Array.from(known, (byte) => byte.toString(16).padStart(2, '0')).join('');
    return this.#from;
  }

  /** Where each of several values lies: its first byte and its length, one behind the other; `undefined` where they make no sense. */
  several({ count, bytes }: Record): number[] | undefined {
    const places: number[] = [];
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    let at = 0;
    for (let i = 0; i < count; i++) {
      if (at + COUNTED_BYTES > bytes.length) return undefined;
      const from = at + COUNTED_BYTES;
      const length = view.getUint32(at, true);
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
