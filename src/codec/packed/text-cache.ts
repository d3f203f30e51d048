// Short texts repeat: method names, states, ids within a burst. Making one again costs several times as much as finding
// the one made before, so a decoder keeps the latest few hundred and compares the words it read with theirs.
import * as limits from '../../limits.ts';

// Copies: see format.ts.
const { CACHED_TEXTS } = limits;
const SLOT_SHIFT: number = Math.clz32(CACHED_TEXTS) + 1;

const fromCharCode: (...codes: number[]) => string = String.fromCharCode;

/** Texts of up to four words, one byte a character, unused bytes zero. */
export class TextCache {
  readonly #texts: string[] = new Array<string>(CACHED_TEXTS).fill('');
  /** Five words each: the length, then the characters. A slot with length 0 matches no text of one character or more. */
  readonly #words: Int32Array = new Int32Array(CACHED_TEXTS * 5);

  text(length: number, a: number, b: number, c: number, d: number): string {
    // Of the product its top: the last characters are the high bits of their words, and reach no lower one.
    const mixed = (a ^ (b << 4) ^ (b >>> 28)) + (c ^ (d << 9) ^ (d >>> 23));
    const slot = Math.imul(mixed, 0x846ca68b) >>> SLOT_SHIFT;
    const words = this.#words;
    const at = slot * 5;
    if (
      words[at + 1] === a &&
      words[at] === length &&
      words[at + 2] === b &&
      words[at + 3] === c &&
      words[at + 4] === d
    ) {
      return this.#texts[slot]!;
    }
    const text = make(length, a, b, c, d);
    words[at] = length;
    words[at + 1] = a;
    words[at + 2] = b;
    words[at + 3] = c;
    words[at + 4] = d;
    this.#texts[slot] = text;
    return text;
  }
}

function four(a: number): string {
  return fromCharCode(a & 255, (a >>> 8) & 255, (a >>> 16) & 255, a >>> 24);
}

/** The first `length` (1..4) characters of one word. */
function some(length: number, a: number): string {
  switch (length) {
    case 1:
      return fromCharCode(a & 255);
    case 2:
      return fromCharCode(a & 255, (a >>> 8) & 255);
    case 3:
      return fromCharCode(a & 255, (a >>> 8) & 255, (a >>> 16) & 255);
    default:
      return four(a);
  }
}

function eight(a: number, b: number): string {
  return fromCharCode(
    a & 255,
    (a >>> 8) & 255,
    (a >>> 16) & 255,
    a >>> 24,
    b & 255,
    (b >>> 8) & 255,
    (b >>> 16) & 255,
    b >>> 24,
  );
}

/** Concatenations this short are copied flat, not chained. */
function make(length: number, a: number, b: number, c: number, d: number): string {
  if (length <= 4) return some(length, a);
  if (length < 8) return four(a) + some(length - 4, b);
  const start = eight(a, b);
  if (length === 8) return start;
  if (length <= 12) return start + some(length - 8, c);
  if (length < 16) return start + four(c) + some(length - 12, d);
  return start + eight(c, d);
}
