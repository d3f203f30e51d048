// Reads texts: short ones from those made before, medium ones cut from a string made for many, large ones by the
// runtime's own readers.
import * as limits from '../../limits.ts';
import * as format from './format.ts';
import type { TaughtTexts } from './known-texts.ts';
import type { PackedReader } from './reader.ts';
import { TextCache } from './text-cache.ts';

// Copies: see format.ts.
const { TAG_BITS, TAG_MASK, TAG_TEXT_KNOWN, TAG_TEXT_UTF16 } = format;
const { CACHED_TEXT_MAX, TEXT_WINDOW } = limits;

export class TextReader {
  /** The large texts that both sides remember. */
  readonly taught: TaughtTexts;
  /** Made with the first short text: a port that never receives one need not carry it. */
  #cache: TextCache | undefined;
  /** Part of the payload as one string, of which medium texts are cut. Starts at byte `#windowStart`. */
  #window = '';
  #windowStart = 0;

  constructor(taught: TaughtTexts) {
    this.taught = taught;
  }

  /** Lets go of what belongs to the payload. @param whole what it taught holds */
  finish(whole: boolean): void {
    if (this.#window !== '') this.#window = '';
    this.taught.finish(whole);
  }

  latin1(reader: PackedReader, length: number): string {
    const { at, end } = reader;
    const next = at + ((length + 3) >>> 2);
    if (next > end) reader.damaged('a text is longer than the payload');
    reader.at = next;
    if (length <= CACHED_TEXT_MAX) return this.#short(reader.words, at, length);
    const start = at * 4;
    // A slice of memory costs 70 to 140 ns, however short; a slice of a string 15.
    if (length > TEXT_WINDOW / 4) return reader.memory.text.latin1Slice(start, start + length);
    let from = start - this.#windowStart;
    if (this.#window === '' || from < 0 || from + length > this.#window.length) {
      const stop = Math.min(end * 4, start + TEXT_WINDOW);
      if (stop - start < length + 32) return reader.memory.text.latin1Slice(start, start + length);
      this.#window = reader.memory.text.latin1Slice(start, stop);
      this.#windowStart = start;
      from = 0;
    }
    return this.#window.substring(from, from + length);
  }

  #short(words: Int32Array, at: number, length: number): string {
    if (length === 0) return '';
    const count = (length + 3) >>> 2;
    // Bytes past the end are padding, whatever they are.
    const last = words[at + count - 1]! & (0xffff_ffff >>> (((4 - (length & 3)) * 8) & 31));
    this.#cache ??= new TextCache();
    const cache = this.#cache;
    switch (count) {
      case 1:
        return cache.text(length, last, 0, 0, 0);
      case 2:
        return cache.text(length, words[at]!, last, 0, 0);
      case 3:
        return cache.text(length, words[at]!, words[at + 1]!, last, 0);
      default:
        return cache.text(length, words[at]!, words[at + 1]!, words[at + 2]!, last);
    }
  }

  /** `word` is the first of a text in another form; `reader.at` is the next. */
  other(reader: PackedReader, word: number): string {
    const tag = word & TAG_MASK;
    const size = word >>> TAG_BITS;
    if (tag === TAG_TEXT_KNOWN) return this.taught.get(size) ?? reader.damaged(`text ${size} is not known`);
    const start = reader.at * 4;
    const length = tag === TAG_TEXT_UTF16 ? size * 2 : size;
    if (length > reader.end * 4 - start) reader.damaged('a text is longer than the payload');
    reader.at += (length + 3) >>> 2;
    if (tag === TAG_TEXT_UTF16) return reader.memory.text.utf16Slice(start, start + length);
    return reader.memory.text.utf8Slice(start, start + length);
  }
}
