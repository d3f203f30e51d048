// Writes one value as words. The hot part of the encoder: plain objects and numbers. Texts, arrays and what is rarer
// have files of their own (write-*.ts), what is learned about keys is in shapes.ts. Longer than most files: what is left calls itself for each
// member of a value.
//
// Every method takes the index of the next free word and returns the one after what it wrote. Lack of room and values
// for another codec leave by the two signals below, never by a return value, so that callers need no checks.
import { DataCloneError } from '../../errors.ts';
import * as limits from '../../limits.ts';
import { Classifier, isArguments, kindOfRootless, PLAIN } from '../classify.ts';
import type { Memory } from '../codec.ts';
import type { IndexWalk } from '../index-walk.ts';
import { MetObjects } from '../met-objects.ts';
import { NO_MEMORY } from '../no-memory.ts';
import { pathOf, type Step } from '../value-path.ts';
import * as format from './format.ts';
import { KnownTexts } from './known-texts.ts';
import { type ShapeNode, ShapeTree } from './shapes.ts';
import { NO_ROOM_SIGNAL, REFUSED_SIGNAL } from './signals.ts';
import { writeArray, writeDoubles } from './write-array.ts';
import { writeBigint, writeExtra } from './write-extra.ts';
import { writeText } from './write-text.ts';

// Copies: see format.ts.
const {
  ARGUMENT_MAX,
  TAG_BITS,
  TAG_DOUBLE,
  TAG_INT32,
  TAG_OBJECT,
  TAG_OBJECT_PAIRS,
  TAG_REFERENCE,
  WORD_FALSE,
  WORD_MINUS_ZERO,
  WORD_NULL,
  WORD_TRUE,
  WORD_UNDEFINED,
} = format;
const { VALUE_DEPTH_MAX } = limits;

const OBJECT_PROTOTYPE: object = Object.prototype;
const getPrototypeOf: (object: object) => object | null = Object.getPrototypeOf;
const isArray: (value: unknown) => value is unknown[] = Array.isArray;

const double: Float64Array = new Float64Array(1);
const doubleWords: Int32Array = new Int32Array(double.buffer);

export class PackedWriter {
  words: Int32Array = NO_MEMORY.words;
  /** Where this payload goes; `words` are those of it. */
  memory: Memory = NO_MEMORY;
  /** As in reader.ts. */
  #lent = false;
  /** Characters from which on a text among the members of the value goes by another way, see CodecOptions. */
  besideTextMin: number = Number.POSITIVE_INFINITY;
  /** The same for a text that is not ASCII, or is the value. */
  besideWideTextMin: number = Number.POSITIVE_INFINITY;
  /** So many of these are not to be tried, of so many in a row. */
  takenForWide: number = 0;
  wideRun: number = 0;
  /** Characters up to which a text is written one by one. */
  loopMax: number = 0;
  /** One past the last word that may be written. */
  end: number = 0;
  teach: boolean = false;
  shapes: ShapeTree = new ShapeTree();
  hasReferences: boolean = false;
  /** Look for named properties of every array, not of match results alone. */
  readonly exactArrays: boolean;
  /** The large texts that both sides remember: none before the first one is met, or at all. */
  known: KnownTexts | null = null;
  readonly #knownTexts: number;
  readonly #knownTextBytes: number;
  readonly #firstText: number;
  #classifier: Classifier | undefined;

  /** `Object.prototype`, or null while someone gave it enumerable properties, which `for in` would meet. */
  plainPrototype: object | null = OBJECT_PROTOTYPE;

  /** Where we are, for the path of an error: the key at each level of nesting. */
  readonly path: (string | number | Step)[] = [];
  depth: number = 0;
  /** Bytes that the resizable buffers met so far may grow to, together. */
  reserved: number = 0;

  readonly met: MetObjects = new MetObjects();

  /** @param firstText the number of the first text that is taught here */
  constructor(exactArrays: boolean, knownTexts: number, knownTextBytes: number, firstText: number = 0) {
    this.exactArrays = exactArrays;
    this.#knownTexts = knownTexts;
    this.#knownTextBytes = knownTextBytes;
    this.#firstText = firstText;
  }

  begin(memory: Memory, end: number, teach: boolean): void {
    if (memory !== this.memory) this.#move(memory);
    this.end = end;
    this.teach = teach;
    this.hasReferences = false;
    this.depth = 0;
    this.reserved = 0;
    this.plainPrototype = OBJECT_PROTOTYPE;
    for (const _ in OBJECT_PROTOTYPE) this.plainPrototype = null;
  }

  /** Payloads go to the same memory, a ring's, nearly always. */
  #move(memory: Memory): void {
    this.memory = memory;
    this.words = memory.words;
    this.loopMax = memory.text.loopMax;
    this.#lent = memory.lent;
  }
  /** The payload is written, or given up. */
  finish(): void {
    this.met.clear();
    if (!this.#lent) return;
    this.#lent = false;
    this.memory = NO_MEMORY;
    this.words = NO_MEMORY.words;
  }

  get classifier(): Classifier {
    this.#classifier ??= new Classifier();
    return this.#classifier;
  }

  /** What there is to remember large texts with; null if none are to be remembered. */
  openKnown(): KnownTexts | null {
    if (this.#knownTexts > 0) {
      this.known ??= new KnownTexts(this.#knownTexts, this.#knownTextBytes, this.#firstText);
    }
    return this.known;
  }

  /** The number that the next text taught will have. */
  get nextText(): number {
    return this.known?.nextNumber ?? this.#firstText;
  }

  value(value: unknown, at: number, place: ShapeNode): number {
    if (at >= this.end) throw NO_ROOM_SIGNAL;
    const words = this.words;
    switch (typeof value) {
      case 'string':
        return writeText(this, value, at);
      case 'number':
        return this.number(value, at);
      case 'object':
        if (value !== null) return this.object(value, at, place);
        words[at] = WORD_NULL;
        return at + 1;
      case 'boolean':
        words[at] = value ? WORD_TRUE : WORD_FALSE;
        return at + 1;
      case 'undefined':
        words[at] = WORD_UNDEFINED;
        return at + 1;
      case 'bigint':
        return writeBigint(this, value, at);
      case 'function':
        return this.fail(nameOf(value));
      default:
        return this.fail('a symbol');
    }
  }

  number(value: number, at: number): number {
    const words = this.words;
    const integer = value | 0;
    if (integer === value && (integer !== 0 || 1 / value > 0)) {
      if ((integer << TAG_BITS) >> TAG_BITS === integer) {
        if (at >= this.end) throw NO_ROOM_SIGNAL;
        words[at] = integer << TAG_BITS;
        return at + 1;
      }
      if (at + 2 > this.end) throw NO_ROOM_SIGNAL;
      words[at] = TAG_INT32;
      words[at + 1] = integer;
      return at + 2;
    }
    return this.double(value, at);
  }

  /** A number that no 32-bit integer stands for. */
  double(value: number, at: number): number {
    if (at + 3 > this.end) throw NO_ROOM_SIGNAL;
    const words = this.words;
    if (value === 0) {
      words[at] = WORD_MINUS_ZERO;
      return at + 1;
    }
    double[0] = value;
    words[at] = TAG_DOUBLE;
    words[at + 1] = doubleWords[0]!;
    words[at + 2] = doubleWords[1]!;
    return at + 3;
  }

  /** There is room for a word: `value` has looked. */
  object(value: object, at: number, place: ShapeNode): number {
    const number = this.met.number(value);
    if (number >= 0) return this.reference(number, at);
    if (++this.depth > VALUE_DEPTH_MAX) throw REFUSED_SIGNAL;
    let next: number;
    if (isArray(value)) {
      next = this.array(value, at, place);
    } else {
      const prototype = getPrototypeOf(value);
      next =
        prototype === this.plainPrototype || (prototype === null && kindOfRootless(value) === PLAIN)
          ? this.#plain(value as Record<string, unknown>, at, place)
          : this.extra(value, prototype, at, place);
    }
    this.depth--;
    return next;
  }

  // Steps that a writer which takes less than structured clone does may refuse: compat/sab-message-port/json-writer.ts.

  /** An object that was met before. */
  reference(number: number, at: number): number {
    if (number > ARGUMENT_MAX) throw REFUSED_SIGNAL;
    this.hasReferences = true;
    this.words[at] = (number << TAG_BITS) | TAG_REFERENCE;
    return at + 1;
  }

  array(value: unknown[], at: number, place: ShapeNode): number {
    return writeArray(this, value, at, place);
  }

  /** An array of numbers that are not all integers, or -1 if it turns out to hold something else. */
  doubles(value: readonly unknown[], at: number, length: number): number {
    return writeDoubles(this, value, at, length);
  }

  /** How many elements are absent from `index` on, where one is. */
  holes(walk: IndexWalk, index: number, length: number): number {
    return walk.gap(index, length);
  }

  /** An object that is neither plain nor an array. */
  extra(value: object, prototype: object | null, at: number, place: ShapeNode): number {
    return writeExtra(this, value, prototype, at, place);
  }

  /** Prototype Object.prototype or none, so that `for in` meets own keys only. */
  #plain(value: Record<string, unknown>, at: number, place: ShapeNode): number {
    let node = place;
    let next = at + 1;
    for (const key in value) {
      const step: ShapeNode | null = node.key === key ? node.next : this.shapes.step(node, key);
      if (step === null) {
        if (key === '0' && isArguments(value)) this.failSelf('an arguments object');
        return this.#pairs(value, Object.keys(value), at, next, node, place);
      }
      node = step;
      next = this.#member(value[key], key, next, node);
    }
    if (next === at + 1 && isArguments(value)) this.failSelf('an arguments object');
    return this.#close(at, next, node);
  }

  /** An object of any other class: own enumerable keys only. */
  instance(value: Record<string, unknown>, at: number, place: ShapeNode): number {
    let node = place;
    let next = at + 1;
    const keys = Object.keys(value);
    for (const key of keys) {
      if (!Object.hasOwn(value, key)) continue; // a getter before it took it away
      const step: ShapeNode | null = node.key === key ? node.next : this.shapes.step(node, key);
      if (step === null) return this.#pairs(value, keys, at, next, node, place);
      node = step;
      next = this.#member(value[key], key, next, node);
    }
    return this.#close(at, next, node);
  }

  #member(value: unknown, key: string, at: number, node: ShapeNode): number {
    if (typeof value === 'string') return writeText(this, value, at);
    if (typeof value === 'number') return this.number(value, at);
    this.path[this.depth] = key;
    return this.value(value, at, node.inner ?? this.shapes.inner(node));
  }

  #close(at: number, next: number, node: ShapeNode): number {
    const shape = node.shape >= 0 ? node.shape : this.shapes.define(node, this.teach);
    this.words[at] = (shape << TAG_BITS) | TAG_OBJECT;
    return next;
  }

  /** The keys of `node` are written as a shape; whatever else the object has follows as pairs. */
  #pairs(
    value: Record<string, unknown>,
    keys: readonly string[],
    at: number,
    next: number,
    node: ShapeNode,
    place: ShapeNode,
  ): number {
    const done = node.keys;
    this.#close(at, next, node);
    this.words[at] = (node.shape << TAG_BITS) | TAG_OBJECT_PAIRS;
    const inner = place.inner ?? this.shapes.inner(place);
    return this.entries(
      value,
      keys.filter((key) => !done.includes(key)),
      next,
      inner,
    );
  }

  /** A count and that many pairs. */
  entries(value: object, keys: readonly string[], at: number, place: ShapeNode): number {
    if (at >= this.end) throw NO_ROOM_SIGNAL;
    let next = at + 1;
    let count = 0;
    for (const key of keys) {
      if (!Object.hasOwn(value, key)) continue;
      next = writeText(this, key, next);
      this.path[this.depth] = key;
      next = this.value((value as Record<string, unknown>)[key], next, place);
      count++;
    }
    this.words[at] = count;
    return next;
  }

  /** @throws DataCloneError with the path of the member being written */
  fail(what: string): never {
    const path = pathOf(this.path, this.depth);
    throw new DataCloneError(`Cannot clone ${path}: it is ${what}`, path);
  }

  /** Something threw: says what it means if a revoked Proxy is at fault, of which nothing can be asked. */
  failIfRevoked(error: unknown): void {
    if (!(error instanceof TypeError) || !isRevoked(this.met.last)) return;
    const path = pathOf(this.path, Math.max(0, this.depth - 1));
    throw new DataCloneError(`Cannot clone ${path}: it is a revoked Proxy`, path, error);
  }

  /** The same as `fail` for the object whose members would be written now. */
  failSelf(what: string): never {
    this.depth--;
    this.fail(what);
  }
}

function nameOf(value: { readonly name: unknown }): string {
  if (isRevoked(value)) return 'a revoked Proxy';
  return typeof value.name !== 'string' || value.name === '' ? 'a function' : `the function ${value.name}`;
}

/** Of a revoked Proxy not even this can be asked; of everything else it can. */
function isRevoked(object: unknown): boolean {
  try {
    isArray(object);
    return false;
  } catch {
    return true;
  }
}
