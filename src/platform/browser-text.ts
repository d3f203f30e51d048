// Texts in browsers: the web has no Buffer, and its encoder and decoders take no shared memory (WebKit's do). So what they read and write
// lies in scratch memory of the thread's, and is copied from and to where it belongs.
import { CHAR_CODES_MAX, TEXT_DECODED_MIN, TEXT_SCRATCH_BYTES } from '../limits.ts';
import type { TextMemory, TextPlatform } from './contract.ts';

/** Made with the first text that needs it, so that this is loaded also where there are no decoders. */
class Scratch {
  readonly bytes: Uint8Array = new Uint8Array(TEXT_SCRATCH_BYTES);
  readonly units: Uint16Array = new Uint16Array(this.bytes.buffer);
  readonly words: Int32Array = new Int32Array(this.bytes.buffer);
  readonly encoder: TextEncoder = new TextEncoder();
  readonly utf8: TextDecoder = new TextDecoder('utf-8', { ignoreBOM: true });
  readonly utf16: TextDecoder = new TextDecoder('utf-16le', { ignoreBOM: true });
}
let made: Scratch | undefined;
const scratch = (): Scratch => (made ??= new Scratch());

const REPLACEMENT = '\ufffd';

const isHighSurrogate = (unit: number): boolean => (unit & 0xfc00) === 0xd800;

class BrowserTextMemory implements TextMemory {
  readonly latin1First = false;
  readonly loopMax = 96;
  readonly #bytes: Uint8Array;
  readonly #units: Uint16Array;

  constructor(memory: SharedArrayBuffer | ArrayBuffer) {
    this.#bytes = new Uint8Array(memory, 0, memory.byteLength);
    this.#units = new Uint16Array(memory, 0, memory.byteLength >>> 1);
  }

  latin1Write(text: string, offset: number, maxLength: number): number {
    const length = Math.min(text.length, maxLength, this.#bytes.length - offset);
    for (let i = 0; i < length; i++) this.#bytes[offset + i] = text.charCodeAt(i);
    return length;
  }

  latin1Slice(start: number, end: number): string {
    if (end - start < TEXT_DECODED_MIN) return fromUnits(this.#bytes.subarray(start, end));
    let text = '';
    for (let at = start; at < end; at += TEXT_SCRATCH_BYTES) {
      text += fromLatin1(this.#part(at, Math.min(end, at + TEXT_SCRATCH_BYTES)));
    }
    return text;
  }

  utf8Write(text: string, offset: number, maxLength: number): number {
    const { bytes, encoder } = scratch();
    const stop = offset + Math.min(maxLength, this.#bytes.length - offset);
    let to = offset;
    for (let from = 0; from < text.length && to < stop; ) {
      const room = Math.min(stop - to, TEXT_SCRATCH_BYTES);
      const target = bytes.subarray(0, room);
      const { read, written } = encoder.encodeInto(pieceOf(text, from), target);
      this.#bytes.set(target.subarray(0, written), to);
      from += read;
      to += written;
      // It stops before a code point that does not fit, as we must.
      if (written < room && from < text.length && room < TEXT_SCRATCH_BYTES) break;
    }
    return to - offset;
  }

  utf8Slice(start: number, end: number): string {
    let text = '';
    for (let at = start; at < end; at += TEXT_SCRATCH_BYTES) {
      const stream = end - at > TEXT_SCRATCH_BYTES;
      text += scratch().utf8.decode(this.#part(at, stream ? at + TEXT_SCRATCH_BYTES : end), { stream });
    }
    return text;
  }

  utf16Write(text: string, offset: number, maxLength: number): number {
    const length = Math.min(text.length, maxLength >>> 1, (this.#bytes.length - offset) >>> 1);
    const units = this.#units;
    const to = offset >>> 1;
    for (let i = 0; i < length; i++) units[to + i] = text.charCodeAt(i);
    return 2 * length;
  }

  utf16Slice(start: number, end: number): string {
    const stop = end >>> 1;
    let text = '';
    for (let at = start >>> 1, next = at; at < stop; at = next) {
      next = Math.min(stop, at + TEXT_SCRATCH_BYTES / 2);
      // A pair that were cut in two would look like two lone halves.
      if (next < stop && isHighSurrogate(this.#units[next - 1]!)) next--;
      text += fromUtf16(this.#part(2 * at, 2 * next));
    }
    return text;
  }

  /** At most TEXT_SCRATCH_BYTES, at the start of the scratch memory. */
  #part(start: number, end: number): Uint8Array {
    const part = scratch().bytes.subarray(0, end - start);
    part.set(this.#bytes.subarray(start, end));
    return part;
  }
}

/**
 * What is encoded of `text` at a time. Where that cuts a pair in two, the encoder leaves its first half to the next piece: as a replacement, of
 * three bytes, it does not fit behind as many other units.
 */
function pieceOf(text: string, from: number): string {
  return text.substring(from, from + TEXT_SCRATCH_BYTES);
}

function fromLatin1(part: Uint8Array): string {
  // windows-1252 is Latin-1 but for 27 bytes, and its decoder quick. But what it makes of others than ASCII took Chromium and Firefox up to twice as long
  // to send on and to compare.
  return isAscii(part) ? scratch().utf8.decode(part) : fromUnits(part);
}

/** @param part of the scratch memory, from its start on */
function isAscii(part: Uint8Array): boolean {
  const { words } = scratch();
  const whole = part.length >>> 2;
  for (let i = 0; i < whole; i++) if ((words[i]! & 0x8080_8080) !== 0) return false;
  for (let i = whole * 4; i < part.length; i++) if (part[i]! >= 0x80) return false;
  return true;
}

function fromUtf16(part: Uint8Array): string {
  const { units, utf16 } = scratch();
  const text = utf16.decode(part);
  // It may stand for a lone surrogate, which a string may hold and no decoder lets through.
  return text.includes(REPLACEMENT) ? fromUnits(units.subarray(0, part.length >>> 1)) : text;
}

function fromUnits(units: Uint8Array | Uint16Array): string {
  let text = '';
  for (let i = 0; i < units.length; i += CHAR_CODES_MAX) {
    text += String.fromCharCode.apply(null, units.subarray(i, i + CHAR_CODES_MAX) as unknown as number[]);
  }
  return text;
}

export const browserText: TextPlatform = (memory) => new BrowserTextMemory(memory);
