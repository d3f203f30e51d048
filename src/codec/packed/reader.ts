// Reads one value. Every word is read once, into a local, and checked there: the bytes may come from a hostile peer and
// may change while we look. What is rare is in read-extra.ts.
import { CodecError } from '../../errors.ts';
import * as limits from '../../limits.ts';
import type { Memory } from '../codec.ts';
import { NO_MEMORY } from '../no-memory.ts';
import { PlainObject, setCarefully } from '../plain-object.ts';
import * as format from './format.ts';
import type { TaughtTexts } from './known-texts.ts';
import { readArray, readDoubles, readIntegers } from './read-array.ts';
import { readExtra } from './read-extra.ts';
import { TextReader } from './read-text.ts';
import { TaughtShapes } from './taught-shapes.ts';

// Copies: see format.ts.
const {
  TAG_ARRAY,
  TAG_BITS,
  TAG_CONSTANT,
  TAG_DOUBLE,
  TAG_DOUBLE_ARRAY,
  TAG_EXTRA,
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
} = format;
const { ELEMENTS_FREE, VALUE_DEPTH_MAX } = limits;

const OBJECT_PROTOTYPE: object = Object.prototype;

const double: Float64Array = new Float64Array(1);
const doubleWords: Int32Array = new Int32Array(double.buffer);

export class PackedReader {
  words: Int32Array = NO_MEMORY.words;
  /** Where this payload lies; `words` are those of it. */
  memory: Memory = NO_MEMORY;
  /** That memory is had for a payload, and somebody else's behind it. */
  #lent = false;
  /** Index of the next word to read. */
  at: number = 0;
  /** One past the last word of the value. */
  end: number = 0;
  readonly shapes: TaughtShapes = new TaughtShapes();

  /** Objects made so far, by number; only kept when the payload refers to some. */
  #keeps = false;
  #objects: (object | undefined)[] = [];
  #count = 0;
  #depth = 0;

  readonly texts: TextReader;

  /** Elements that arrays of this payload may still set memory aside for. */
  elements: number = 0;
  /** Bytes that resizable buffers of this payload have reserved. */
  reserved: number = 0;

  constructor(taught: TaughtTexts) {
    this.texts = new TextReader(taught);
  }

  begin(memory: Memory, keeps: boolean, words: number): void {
    this.elements = words * 4 + ELEMENTS_FREE;
    this.reserved = 0;
    if (memory !== this.memory) {
      this.memory = memory;
      this.words = memory.words;
      this.#lent = memory.lent;
    }
    this.#keeps = keeps;
    this.#count = 0;
    this.#depth = 0;
  }

  /** Lets go of what belongs to the payload. @param whole it was read to its end, and what it taught holds */
  finish(whole: boolean): void {
    if (this.#keeps) this.#objects = [];
    if (this.#lent) this.#letGo();
    this.texts.finish(whole);
    this.shapes.finish(whole);
  }

  /** A quiet channel is not to keep what is large. */
  #letGo(): void {
    this.#lent = false;
    this.memory = NO_MEMORY;
    this.words = NO_MEMORY.words;
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
  /** Whether objects are kept at all. */
  get keeps(): boolean {
    return this.#keeps;
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
        return this.texts.latin1(this, word >>> TAG_BITS);
      case TAG_OBJECT:
        return this.#object(word >>> TAG_BITS);
      case TAG_CONSTANT:
        return this.#constant(word);
      case TAG_ARRAY: {
        this.enter();
        const array = readArray(this, word >>> TAG_BITS);
        this.#depth--;
        return array;
      }
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
        if (this.#depth === VALUE_DEPTH_MAX) this.enter();
        return readIntegers(this, word >>> TAG_BITS);
      case TAG_DOUBLE_ARRAY:
        if (this.#depth === VALUE_DEPTH_MAX) this.enter();
        return readDoubles(this, word >>> TAG_BITS);
      case TAG_TEXT_UTF16:
      case TAG_TEXT_UTF8:
      case TAG_TEXT_KNOWN:
        return this.texts.other(this, word);
      case TAG_REFERENCE:
        return this.#objects[this.#reference(word >>> TAG_BITS)];
      case TAG_OBJECT_PAIRS: {
        const object = this.#object(word >>> TAG_BITS);
        this.enter();
        this.pairs(object, OBJECT_PROTOTYPE);
        this.#depth--;
        return object;
      }
      case TAG_EXTRA:
        return readExtra(this, word >>> TAG_BITS);
      default:
        return this.damaged(`a value begins with the word ${word}`);
    }
  }

  /** One object deeper. Levels are counted as PackedWriter counts them: objects, all of them, and nothing else. */
  enter(): void {
    if (++this.#depth > VALUE_DEPTH_MAX) this.damaged('objects lie too deep in one another');
  }
  leave(): void {
    this.#depth--;
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
    const shape = this.shapes.get(number);
    if (shape === undefined) return this.damaged(`shape ${number} is not known`);
    this.enter();
    const { keys } = shape;
    const count = keys.length;
    const object = new PlainObject();
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

  /** A value that must be a text. */
  string(): string {
    const value = this.value();
    if (typeof value !== 'string') this.damaged('a text was expected');
    return value as string;
  }
}
