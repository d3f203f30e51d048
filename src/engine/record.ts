// A value on its way through a server, by itself: who says it, its number, and the value. Two forms: packed, and JSON for who reads it in another language; a
// reader takes both.
//
// Packed: u8 version (1), u8 outcome (0 done, 1 failed, 2 busy), u16 part, u32 number, u16 parts, 6 bytes of nothing, 16 bytes of who says it; then the value, or a part of it. All
// little-endian. JSON: {"v": 1, "from": "<32 hex digits>", "n": number, "value": ... }, or "error" with a name and a message
// in its place; who is busy is called `Busy`.
import { type Codec, NO_ROOM, REFUSED } from '../codec/codec.ts';
import { json } from '../codec/json.ts';
import { packed } from '../codec/packed.ts';
import { CodecError, DataCloneError, UsageError } from '../errors.ts';
import { ENGINE_PARTS_MAX, SCRATCH_BYTES_MIN } from '../limits.ts';
import { type Views, viewsOf } from '../memory/region.ts';
import { isId } from './names.ts';

export type Form = 'packed' | 'json';
export const FORMS: readonly Form[] = ['packed', 'json'];

export const RECORD_BYTES = 32;
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
  /** Of a packed one: the value, or a part of it. */
  readonly bytes: Uint8Array;
  /** Of one in JSON. */
  readonly text: { readonly value: unknown } | undefined;
}

const CODECS: Readonly<{ [F in Form]: Codec }> = { packed, json };

/** Encodes values, each by itself. */
export class RecordWriter {
  readonly #from: string;
  readonly #form: Form;
  readonly #mostBytes: number;
  readonly #encoder;
  #memory: Views = viewsOf(new ArrayBuffer(SCRATCH_BYTES_MIN));

  /** @param mostBytes of a message */
  constructor(from: string, form: Form, mostBytes: number) {
    this.#from = from;
    this.#form = form;
    this.#mostBytes = mostBytes;
    this.#encoder = CODECS[form].createEncoder({ knownTexts: 0 });
  }

  /**
   * @param most messages that it may take
   * @throws DataCloneError; UsageError ERR_TOO_LARGE
   */
  write(value: unknown, number: number, most: number, outcome: Outcome = 'done'): Uint8Array[] {
    return this.#form === 'json' ? [this.#text(value, number, outcome)] : this.#parts(value, number, most, outcome);
  }
  #text(value: unknown, number: number, outcome: Outcome): Uint8Array {
    const failed = outcome !== 'done';
    const said = failed ? { error: errorText(value, outcome) } : { value };
    let text: string | undefined;
    try {
      text =
        failed || JSON.stringify(value) !== undefined
          ? JSON.stringify({ v: VERSION, from: this.#from, n: number, ...said })
          : undefined;
    } catch (error) {
      throw new DataCloneError(`Cannot write $ as JSON: ${(error as Error).message}`, '$', error);
    }
    if (text === undefined) throw new DataCloneError('Cannot write $ as JSON: it has no text for it', '$');
    const bytes = new TextEncoder().encode(text);
    if (bytes.length > this.#mostBytes) throw tooLarge(bytes.length, this.#mostBytes);
    return bytes as Uint8Array;
  }
  #parts(value: unknown, number: number, most: number, outcome: Outcome): Uint8Array[] {
    const room = this.#mostBytes - RECORD_BYTES;
    const length = this.#encode(value, room * most);
    const parts = Math.max(1, Math.ceil(length / room));
    const messages: Uint8Array[] = [];
    for (let part = 0; part < parts; part++) {
      const bytes = this.#memory.bytes.subarray(part * room, Math.min(length, (part + 1) * room));
      const whole = new Uint8Array(RECORD_BYTES + bytes.length);
      const view = new DataView(whole.buffer);
      view.setUint8(0, VERSION);
      view.setUint8(1, OUTCOMES.indexOf(outcome));
      view.setUint16(2, part, true);
      view.setUint32(4, number, true);
      view.setUint16(8, parts, true);
      for (let i = 0; i < 16; i++) whole[16 + i] = Number.parseInt(this.#from.slice(2 * i, 2 * i + 2), 16);
      whole.set(bytes, RECORD_BYTES);
      messages.push(whole);
    }
    if (this.#memory.bytes.length > SCRATCH_BYTES_MIN) this.#memory = viewsOf(new ArrayBuffer(SCRATCH_BYTES_MIN));
    return messages;
  }
  #encode(value: unknown, mostBytes: number): number {
    for (;;) {
      const limit = Math.min(this.#memory.bytes.length, mostBytes) & ~7;
      const length = this.#encoder.encodeInto(value, this.#memory, 0, limit, false);
      if (length === REFUSED) throw new DataCloneError('Cannot send $: it cannot be copied', '$');
      if (length !== NO_ROOM) return length;
      if (this.#memory.bytes.length >= mostBytes) throw tooLarge(undefined, mostBytes);
      this.#memory = viewsOf(new ArrayBuffer(2 * this.#memory.bytes.length));
    }
  }
}
function tooLarge(bytes: number | undefined, most: number): UsageError {
  const text = `Cannot send a value of ${bytes ?? 'more than that'} bytes: ${most} are the most; larger ones go over a port (engine.connect)`;
  return new UsageError('ERR_TOO_LARGE', text, { limit: most });
}
const BUSY = 'Busy';
function errorText(error: unknown, outcome: Outcome): { name: string; message: string } {
  if (outcome === 'busy') return { name: BUSY, message: '' };
  return error instanceof Error
    ? { name: error.name, message: error.message }
    : { name: 'Error', message: String(error) };
}

/** Reads a message: what it says of itself, or `undefined` where it is none. */
export function readRecord(message: Uint8Array): Record | undefined {
  if (message[0] === BRACE) return readText(message);
  if (message.length < RECORD_BYTES || message[0] !== VERSION) return undefined;
  const view = new DataView(message.buffer, message.byteOffset, message.length);
  const [part, parts] = [view.getUint16(2, true), view.getUint16(8, true)];
  if (parts === 0 || parts > ENGINE_PARTS_MAX || part >= parts) return undefined;
  const from = [...message.subarray(16, RECORD_BYTES)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  const outcome = OUTCOMES[view.getUint8(1)];
  if (outcome === undefined) return undefined;
  return {
    from,
    number: view.getUint32(4, true),
    outcome,
    part,
    parts,
    bytes: message.subarray(RECORD_BYTES),
    text: undefined,
  };
}
function readText(message: Uint8Array): Record | undefined {
  let said: {
    v?: unknown;
    from?: unknown;
    n?: unknown;
    value?: unknown;
    error?: { name?: unknown; message?: unknown };
  };
  try {
    said = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(message));
  } catch {
    return undefined;
  }
  const { v, from, n, error } = said;
  if (v !== VERSION || typeof from !== 'string' || !isId(from) || !(Number.isInteger(n) && (n as number) >= 0))
    return undefined;
  const outcome = error === undefined ? 'done' : error?.name === BUSY ? 'busy' : 'failed';
  const value =
    outcome !== 'done' ? Object.assign(new Error(String(error?.message)), { name: String(error?.name) }) : said.value;
  return { from, number: (n as number) >>> 0, outcome, part: 0, parts: 1, bytes: message, text: { value } };
}

/** Decodes what records carry, each by itself. */
export class RecordReader {
  readonly #decoder = packed.createDecoder({ knownTexts: 0 });

  /**
   * @param pieces of one value, in order
   * @throws CodecError ERR_DECODE
   */
  value(record: Record, pieces: readonly Uint8Array[]): unknown {
    if (record.text !== undefined) return record.text.value;
    let length = 0;
    for (const { length: bytes } of pieces) length += bytes;
    const views = viewsOf(new ArrayBuffer((length + 7) & ~7));
    let at = 0;
    for (const piece of pieces) {
      views.bytes.set(piece, at);
      at += piece.length;
    }
    try {
      return this.#decoder.decode(views, 0, length);
    } catch (error) {
      if (error instanceof CodecError) throw error;
      throw new CodecError('ERR_DECODE', `Cannot decode a message of ${length} bytes: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }
}
