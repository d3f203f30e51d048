// Reads one value. Every word is read once, into a local, and checked there: the bytes may come from a hostile peer and
// may change while we look. What is rare is in packed-read-extra.ts.
import { CodecError } from '../errors.ts';
import { CACHED_TEXT_MAX, ELEMENTS_FREE, SHAPES_MAX, TEXT_WINDOW, VALUE_DEPTH_MAX } from '../limits.ts';
import type { BlockMemory, TextMemory } from '../platform/contract.ts';
import type { Memory } from './codec.ts';
import {
  ARGUMENT_MAX,
  SHAPE_LOCAL,
  TAG_ARRAY,
  TAG_BITS,
  TAG_CONSTANT,
  TAG_DOUBLE,
  TAG_DOUBLE_ARRAY,
  TAG_EXTRA,
  TAG_HOLES,
  TAG_INT32,
  TAG_INT32_ARRAY,
  TAG_INTEGER,
  TAG_MASK,
  TAG_OBJECT,
  TAG_OBJECT_PAIRS,
  TAG_REFERENCE,
  TAG_TEXT_KNOWN,
  TAG_TEXT_LATIN1,
  TAG_TEXT_UTF8,
  TAG_TEXT_UTF16,
  WORD_FALSE,
  WORD_MINUS_ZERO,
  WORD_NULL,
  WORD_TRUE,
  WORD_UNDEFINED,
} from './packed-format.ts';
import type { TaughtTexts } from './packed-known-texts.ts';
import { readExtra } from './packed-read-extra.ts';
import { TextCache } from './packed-text-cache.ts';

/** The keys of an object in order. */
export interface Shape {
  readonly keys: readonly string[];
  /** Whether assigning could find something else than a new property: `__proto__`, or a setter someone made. */
  readonly careful: boolean;
}

const OBJECT_PROTOTYPE: object = Object.prototype;

const double: Float64Array = new Float64Array(1);
const doubleWords: Int32Array = new Int32Array(double.buffer);

export class PackedReader {
  words!: Int32Array;
  floats!: Float64Array;
  blocks!: BlockMemory;
  text!: TextMemory;
  /** Index of the next word to read. */
  at: number = 0;
  /** One past the last word of the value. */
  end: number = 0;
  /** Shapes taught so far; holes where a definition never arrived. */
  shapes: (Shape | undefined)[] = [{ keys: [], careful: false }];
  localShapes: readonly Shape[] = [];

  /** Objects made so far, by number; only kept when the payload refers to some. */
  #keeps = false;
  #objects: (object | undefined)[] = [];
  #count = 0;
  #depth = 0;

  /** The large texts that both sides remember. */
  readonly taught: TaughtTexts;
  readonly #cache: TextCache = new TextCache();
  /** Part of the payload as one string, of which medium texts are cut. Starts at byte `#windowStart`. */
  #window = '';
  #windowStart = 0;

  /** Elements that arrays of this payload may still set memory aside for. */
  #elements = 0;
  /** Bytes that resizable buffers of this payload have reserved. */
  reserved: number = 0;

  constructor(taught: TaughtTexts) {
    this.taught = taught;
  }

  begin(memory: Memory, keeps: boolean, words: number): void {
    this.#elements = words * 4 + ELEMENTS_FREE;
    this.reserved = 0;
    this.#taughtFirst = -1;
    this.words = memory.words;
    this.floats = memory.floats;
    this.blocks = memory.blocks;
    this.text = memory.text;
    this.#keeps = keeps;
    this.#count = 0;
    this.#depth = 0;
  }

  /** What this payload's trailer replaced, from `#taughtFirst` on. */
  #replaced: (Shape | undefined)[] = [];
  #taughtFirst = -1;

  /** The payload turned out to be damaged: back to the shapes there were before it, `shapes` being their list. */
  unlearn(shapes: (Shape | undefined)[]): void {
    if (this.shapes === shapes && this.#taughtFirst >= 0) {
      for (let i = 0; i < this.#replaced.length; i++) shapes[this.#taughtFirst + i] = this.#replaced[i];
    }
    this.shapes = shapes;
  }

  /** Lets go of what belongs to the payload. */
  finish(): void {
    if (this.#keeps) this.#objects = [];
    if (this.#window !== '') this.#window = '';
    this.localShapes = [];
  }

  damaged(what: string): never {
    throw new CodecError('ERR_DECODE', `Cannot decode: ${what}`, { position: this.at });
  }

  /** The next word, which must be there. */
  word(): number {
    if (this.at >= this.end) this.damaged('the payload ends too soon');
    return this.words[this.at++]!;
  }

  /** A number of things of which each takes at least `words` words. */
  count(words: number): number {
    const count = this.word();
    if (count < 0 || count * words > this.end - this.at) this.damaged('a count exceeds what is there');
    return count;
  }

  /** The number of the next object, which the caller makes and hands to `keep` before it reads what is inside. */
  number(): number {
    return this.#count++;
  }
  keep(number: number, object: object): void {
    if (this.#keeps) this.#objects[number] = object;
  }

  value(): unknown {
    const at = this.at;
    if (at >= this.end) this.damaged('the payload ends too soon');
    const word = this.words[at]!;
    this.at = at + 1;
    switch (word & TAG_MASK) {
      case TAG_INTEGER:
        return word >> TAG_BITS;
      case TAG_TEXT_LATIN1:
        return this.#latin1(word >>> TAG_BITS);
      case TAG_OBJECT:
        return this.#object(word >>> TAG_BITS);
      case TAG_CONSTANT:
        return this.#constant(word);
      case TAG_ARRAY:
        return this.#array(word >>> TAG_BITS);
      case TAG_DOUBLE: {
        if (at + 3 > this.end) this.damaged('the payload ends too soon');
        doubleWords[0] = this.words[at + 1]!;
        doubleWords[1] = this.words[at + 2]!;
        this.at = at + 3;
        return double[0];
      }
      case TAG_INT32:
        return this.word();
      case TAG_INT32_ARRAY:
        return this.#integers(word >>> TAG_BITS);
      case TAG_DOUBLE_ARRAY:
        return this.#doubles(word >>> TAG_BITS);
      case TAG_TEXT_UTF16:
      case TAG_TEXT_UTF8:
      case TAG_TEXT_KNOWN:
        return this.#otherText(word);
      case TAG_REFERENCE:
        return this.#objects[this.#reference(word >>> TAG_BITS)];
      case TAG_OBJECT_PAIRS: {
        const object = this.#object(word >>> TAG_BITS);
        this.#enter();
        this.pairs(object, OBJECT_PROTOTYPE);
        this.#depth--;
        return object;
      }
      case TAG_EXTRA: {
        this.#enter();
        const value = readExtra(this, word >>> TAG_BITS);
        this.#depth--;
        return value;
      }
      default:
        return this.damaged(`a value begins with the word ${word}`);
    }
  }

  #enter(): void {
    if (++this.#depth > VALUE_DEPTH_MAX) this.damaged('objects lie too deep in one another');
  }

  #constant(word: number): unknown {
    switch (word) {
      case WORD_NULL:
        return null;
      case WORD_TRUE:
        return true;
      case WORD_FALSE:
        return false;
      case WORD_UNDEFINED:
        return undefined;
      case WORD_MINUS_ZERO:
        return -0;
      default:
        return this.damaged(`there is no constant ${word >>> TAG_BITS}`);
    }
  }

  #reference(number: number): number {
    if (!this.#keeps || this.#objects[number] === undefined) this.damaged(`there is no object ${number}`);
    return number;
  }

  #object(number: number): Record<string, unknown> {
    const shape = this.shapes[number] ?? this.localShapes[number - SHAPE_LOCAL];
    if (shape === undefined) return this.damaged(`shape ${number} is not known`);
    this.#enter();
    const { keys } = shape;
    const count = keys.length;
    const object: Record<string, unknown> = {};
    const id = this.#count++;
    if (this.#keeps) this.#objects[id] = object;
    if (shape.careful) {
      for (let i = 0; i < count; i++) setCarefully(object, keys[i]!, this.value());
    } else {
      for (let i = 0; i < count; i++) object[keys[i]!] = this.value();
    }
    this.#depth--;
    return object;
  }

  /** A count and that many pairs, as own properties of `object`. */
  pairs(object: object, prototype: object): void {
    for (let left = this.count(2); left > 0; left--) {
      const key = this.string();
      const value = this.value();
      if (key in prototype) setCarefully(object, key, value);
      else (object as Record<string, unknown>)[key] = value;
    }
  }

  #array(argument: number): unknown[] {
    const length = argument === ARGUMENT_MAX ? this.word() >>> 0 : argument;
    this.#enter();
    let array: unknown[];
    if (length <= this.#elements) {
      this.#elements -= length;
      array = new Array(length);
    } else {
      array = sparseArray(length);
    }
    const id = this.#count++;
    if (this.#keeps) this.#objects[id] = array;
    for (let i = 0; i < length; i++) {
      const word = this.at < this.end ? this.words[this.at]! : 0;
      if ((word & TAG_MASK) === TAG_HOLES) {
        this.at++;
        const run = word >>> TAG_BITS;
        if (run === 0 || run > length - i) this.damaged('holes reach past the end of an array');
        i += run - 1;
      } else {
        array[i] = this.value();
      }
    }
    this.#depth--;
    return array;
  }

  #integers(length: number): number[] {
    const at = this.at;
    if (length > this.end - at) this.damaged('an array is longer than the payload');
    const array = new Array<number>(length);
    const { words } = this;
    for (let i = 0; i < length; i++) array[i] = words[at + i]!;
    this.at = at + length;
    const id = this.#count++;
    if (this.#keeps) this.#objects[id] = array;
    return array;
  }

  #doubles(length: number): number[] {
    const start = (this.at + 1) >>> 1;
    if ((start + length) * 2 > this.end) this.damaged('an array is longer than the payload');
    const array = new Array<number>(length);
    const { floats } = this;
    for (let i = 0; i < length; i++) array[i] = floats[start + i]!;
    this.at = (start + length) * 2;
    const id = this.#count++;
    if (this.#keeps) this.#objects[id] = array;
    return array;
  }

  // ---- texts ------------------------------------------------------------------------------------------------------

  /** A value that must be a text. */
  string(): string {
    const value = this.value();
    if (typeof value !== 'string') this.damaged('a text was expected');
    return value as string;
  }

  #latin1(length: number): string {
    const at = this.at;
    const next = at + ((length + 3) >>> 2);
    if (next > this.end) this.damaged('a text is longer than the payload');
    this.at = next;
    if (length <= CACHED_TEXT_MAX) return this.#short(length, at);
    const start = at * 4;
    // Medium texts are cut from one string made for many of them: a slice of memory costs 70 to 140 ns, however short,
    // a slice of a string 15.
    if (length > TEXT_WINDOW / 4) return this.text.latin1Slice(start, start + length);
    let from = start - this.#windowStart;
    if (this.#window === '' || from < 0 || from + length > this.#window.length) {
      const stop = Math.min(this.end * 4, start + TEXT_WINDOW);
      if (stop - start < length + 32) return this.text.latin1Slice(start, start + length);
      this.#window = this.text.latin1Slice(start, stop);
      this.#windowStart = start;
      from = 0;
    }
    return this.#window.substring(from, from + length);
  }

  #short(length: number, at: number): string {
    if (length === 0) return '';
    const { words } = this;
    const count = (length + 3) >>> 2;
    // Bytes past the end are padding, whatever they are.
    const last = words[at + count - 1]! & (0xffff_ffff >>> (((4 - (length & 3)) * 8) & 31));
    switch (count) {
      case 1:
        return this.#cache.text(length, last, 0, 0, 0);
      case 2:
        return this.#cache.text(length, words[at]!, last, 0, 0);
      case 3:
        return this.#cache.text(length, words[at]!, words[at + 1]!, last, 0);
      default:
        return this.#cache.text(length, words[at]!, words[at + 1]!, words[at + 2]!, last);
    }
  }

  #otherText(word: number): string {
    const size = word >>> TAG_BITS;
    const start = this.at * 4;
    if ((word & TAG_MASK) === TAG_TEXT_KNOWN) return this.taught.get(size) ?? this.damaged(`text ${size} is not known`);
    const length = (word & TAG_MASK) === TAG_TEXT_UTF16 ? size * 2 : size;
    if (length > this.end * 4 - start) this.damaged('a text is longer than the payload');
    this.at += (length + 3) >>> 2;
    if ((word & TAG_MASK) === TAG_TEXT_UTF16) return this.text.utf16Slice(start, start + length);
    return this.text.utf8Slice(start, start + length);
  }

  // ---- shapes -----------------------------------------------------------------------------------------------------

  /** Reads the trailer, which lies from `at` to `end`. */
  trailer(teach: boolean): void {
    const first = this.word();
    const count = this.count(1);
    const shapes: Shape[] = [];
    for (let i = 0; i < count; i++) {
      const keys: string[] = [];
      let careful = false;
      for (let left = this.count(1); left > 0; left--) {
        const key = this.string();
        careful ||= key in OBJECT_PROTOTYPE;
        keys.push(key);
      }
      shapes.push({ keys, careful });
    }
    if (!teach) {
      this.localShapes = shapes;
      return;
    }
    if (first < 1 || first + count > SHAPES_MAX) this.damaged('there are more shapes than anyone may teach');
    this.#replaced = shapes.map((_, i) => this.shapes[first + i]);
    this.#taughtFirst = first;
    for (let i = 0; i < count; i++) this.shapes[first + i] = shapes[i];
  }
}

/**
 * An array of holes that takes no memory for them. Every element takes a word at least, so an array for which too little
 * is left is mostly holes, and setting memory aside for those would let a word of payload claim a quarter of a gigabyte.
 * The engines keep elements in a table, not in a row, once the last possible one was an accessor.
 */
function sparseArray(length: number): unknown[] {
  const array: unknown[] = [];
  Object.defineProperty(array, 0xffff_fffe, { get: noElement, configurable: true });
  if (length > 0xffff_fffe) delete array[0xffff_fffe];
  array.length = length;
  return array;
}
function noElement(): undefined {}

export function setCarefully(object: object, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}
