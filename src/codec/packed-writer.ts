// Writes one value as words. The hot part of the encoder: objects, arrays, numbers, short texts. What is rare is in
// packed-write-extra.ts, what is learned in packed-shapes.ts.
//
// Every method takes the index of the next free word and returns the one after what it wrote. Lack of room and values
// for another codec leave by the two signals below, never by a return value, so that callers need no checks.
import { DataCloneError } from '../errors.ts';
import { IDENTITY_LOOP_MAX, IDENTITY_SCAN_MAX, PLAIN_ARRAYS_TRUSTED, VALUE_DEPTH_MAX } from '../limits.ts';
import type { BlockMemory, TextMemory } from '../platform/contract.ts';
import { Classifier, isArguments, kindOfRootless, PLAIN } from './classify.ts';
import type { Memory } from './codec.ts';
import { IndexWalk, isArrayIndex } from './index-walk.ts';
import {
  ARGUMENT_MAX,
  EXTRA_ARRAY_PAIRS,
  EXTRA_BIGINT,
  EXTRA_BITS,
  TAG_ARRAY,
  TAG_BITS,
  TAG_DOUBLE,
  TAG_DOUBLE_ARRAY,
  TAG_EXTRA,
  TAG_HOLES,
  TAG_INT32,
  TAG_INT32_ARRAY,
  TAG_OBJECT,
  TAG_OBJECT_PAIRS,
  TAG_REFERENCE,
  WORD_FALSE,
  WORD_MINUS_ZERO,
  WORD_NULL,
  WORD_TRUE,
  WORD_UNDEFINED,
} from './packed-format.ts';
import type { KnownTexts } from './packed-known-texts.ts';
import { type ShapeNode, ShapeTree } from './packed-shapes.ts';
import { NO_ROOM_SIGNAL, REFUSED_SIGNAL } from './packed-signals.ts';
import { writeExtra } from './packed-write-extra.ts';
import { writeText } from './packed-write-text.ts';

/** A step of a path that is neither a key nor an index. */
export class Step {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}
const IDENTIFIER = /^[$_\p{ID_Start}][$\p{ID_Continue}]*$/u;

/** From here on bigints are written by way of their digits. */
const LONG_BIGINT: bigint = 1n << 512n;

const OBJECT_PROTOTYPE: object = Object.prototype;
const getPrototypeOf: (object: object) => object | null = Object.getPrototypeOf;
const isArray: (value: unknown) => value is unknown[] = Array.isArray;

const double: Float64Array = new Float64Array(1);
const doubleWords: Int32Array = new Int32Array(double.buffer);

export class PackedWriter {
  words!: Int32Array;
  floats!: Float64Array;
  blocks!: BlockMemory;
  text!: TextMemory;
  /** Characters up to which a text is written one by one. */
  loopMax: number = 0;
  /** One past the last word that may be written. */
  end: number = 0;
  teach: boolean = false;
  shapes: ShapeTree = new ShapeTree();
  hasReferences: boolean = false;
  /** Always look for named properties of arrays, however many arrays in that place had none. */
  readonly exactArrays: boolean;
  /** The large texts that both sides remember, if any. */
  readonly known: KnownTexts | null;
  readonly classifier: Classifier = new Classifier();

  /** `Object.prototype`, or null while someone gave it enumerable properties, which `for in` would meet. */
  plainPrototype: object | null = OBJECT_PROTOTYPE;

  /** Where we are, for the path of an error: the key at each level of nesting. */
  readonly path: (string | number | Step)[] = [];
  depth: number = 0;
  /** Bytes that the resizable buffers met so far may grow to, together. */
  reserved: number = 0;

  /** Objects met so far, by number. The array serves small values, the map takes over for large ones. */
  readonly #met: (object | null)[] = new Array<null>(IDENTITY_LOOP_MAX).fill(null);
  #metCount = 0;
  #metMap: Map<object, number> | null = null;

  constructor(exactArrays: boolean, known: KnownTexts | null) {
    this.exactArrays = exactArrays;
    this.known = known;
  }

  begin(memory: Memory, end: number, teach: boolean): void {
    this.words = memory.words;
    this.floats = memory.floats;
    this.blocks = memory.blocks;
    this.text = memory.text;
    this.loopMax = memory.text.loopMax;
    this.end = end;
    this.teach = teach;
    this.hasReferences = false;
    this.depth = 0;
    this.reserved = 0;
    this.plainPrototype = OBJECT_PROTOTYPE;
    for (const _ in OBJECT_PROTOTYPE) this.plainPrototype = null;
  }

  /** Lets go of the user's objects. */
  finish(): void {
    const met = this.#met;
    if (met.length > IDENTITY_LOOP_MAX) met.length = IDENTITY_LOOP_MAX;
    for (let i = Math.min(this.#metCount, IDENTITY_LOOP_MAX) - 1; i >= 0; i--) met[i] = null;
    this.#metCount = 0;
    this.#metMap = null;
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
        return this.bigint(value, at);
      case 'function':
        return this.fail(
          typeof value.name !== 'string' || value.name === '' ? 'a function' : `the function ${value.name}`,
        );
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
    if (at + 3 > this.end) throw NO_ROOM_SIGNAL;
    if (integer === value) {
      words[at] = WORD_MINUS_ZERO;
      return at + 1;
    }
    double[0] = value;
    words[at] = TAG_DOUBLE;
    words[at + 1] = doubleWords[0]!;
    words[at + 2] = doubleWords[1]!;
    return at + 3;
  }

  bigint(value: bigint, at: number): number {
    const magnitude = value < 0n ? -value : value;
    let next = at + 2;
    if (magnitude < LONG_BIGINT) {
      for (let rest = magnitude; rest !== 0n; rest >>= 32n) {
        if (next >= this.end) throw NO_ROOM_SIGNAL;
        this.words[next++] = Number(BigInt.asIntN(32, rest));
      }
    } else {
      // Shifting word by word takes time that grows with the square.
      const digits = magnitude.toString(16);
      if (next + digits.length / 8 > this.end) throw NO_ROOM_SIGNAL;
      for (let to = digits.length; to > 0; to -= 8) {
        this.words[next++] = Number.parseInt(digits.slice(Math.max(0, to - 8), to), 16) | 0;
      }
    }
    if (next > this.end) throw NO_ROOM_SIGNAL;
    const sign = value < 0n ? 1 : 0;
    this.words[at] = (((sign << EXTRA_BITS) | EXTRA_BIGINT) << TAG_BITS) | TAG_EXTRA;
    this.words[at + 1] = next - at - 2;
    return next;
  }

  object(value: object, at: number, place: ShapeNode): number {
    const number = this.#number(value);
    if (number >= 0) {
      if (at >= this.end) throw NO_ROOM_SIGNAL;
      if (number > ARGUMENT_MAX) throw REFUSED_SIGNAL;
      this.hasReferences = true;
      this.words[at] = (number << TAG_BITS) | TAG_REFERENCE;
      return at + 1;
    }
    if (++this.depth > VALUE_DEPTH_MAX) throw REFUSED_SIGNAL;
    let next: number;
    if (isArray(value)) {
      next = this.#array(value, at, place);
    } else {
      const prototype = getPrototypeOf(value);
      next =
        prototype === this.plainPrototype || (prototype === null && kindOfRootless(value) === PLAIN)
          ? this.#plain(value as Record<string, unknown>, at, place)
          : writeExtra(this, value, prototype, at, place);
    }
    this.depth--;
    return next;
  }

  /** The number of an object met before, or -1 after giving it one. */
  #number(value: object): number {
    const met = this.#met;
    const count = this.#metCount;
    if (count >= IDENTITY_LOOP_MAX) return this.#numberAmongMany(value, count);
    for (let i = 0; i < count; i++) if (met[i] === value) return i;
    met[count] = value;
    this.#metCount = count + 1;
    return -1;
  }

  #numberAmongMany(value: object, count: number): number {
    const map = this.#metMap;
    if (map === null) {
      const number = this.#met.indexOf(value);
      if (number >= 0) return number;
      if (count < IDENTITY_SCAN_MAX) this.#met.push(value);
      else this.#metMap = new Map(this.#met.map((object, i) => [object as object, i])).set(value, count);
    } else {
      const number = map.get(value);
      if (number !== undefined) return number;
      map.set(value, count);
    }
    this.#metCount = count + 1;
    return -1;
  }

  /** Numbers an object that the caller writes by itself: the buffer inside a view. True if it was met before. */
  isMet(value: object): boolean {
    if (this.#metMap !== null) return this.#metMap.has(value);
    return this.#met.includes(value);
  }
  meet(value: object): void {
    this.#number(value);
  }

  /** Prototype Object.prototype or none, so that `for in` meets own keys only. */
  #plain(value: Record<string, unknown>, at: number, place: ShapeNode): number {
    if (at >= this.end) throw NO_ROOM_SIGNAL;
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
    if (at >= this.end) throw NO_ROOM_SIGNAL;
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

  #array(value: unknown[], at: number, place: ShapeNode): number {
    if (this.exactArrays || place.plainArrays < PLAIN_ARRAYS_TRUSTED || 'index' in value) {
      const keys = Object.keys(value);
      if (keys.length > 0 && !isArrayIndex(keys[keys.length - 1]!)) {
        if (at >= this.end) throw NO_ROOM_SIGNAL;
        this.words[at] = (EXTRA_ARRAY_PAIRS << TAG_BITS) | TAG_EXTRA;
        const next = this.#elements(value, at + 1, place);
        const names = Object.keys(value).filter((key) => !isArrayIndex(key));
        place.plainArrays = Number.NEGATIVE_INFINITY;
        return this.entries(value, names, next, place);
      }
      place.plainArrays++;
    }
    return this.#elements(value, at, place);
  }

  #elements(value: unknown[], at: number, place: ShapeNode): number {
    const length = value.length;
    if (length > 0 && typeof value[0] === 'number') {
      const next = this.#numbers(value, at, length);
      if (next >= 0) return next;
    }
    if (at + 2 > this.end) throw NO_ROOM_SIGNAL;
    const words = this.words;
    let next = at + 1;
    if (length < ARGUMENT_MAX) {
      words[at] = (length << TAG_BITS) | TAG_ARRAY;
    } else {
      words[at] = (ARGUMENT_MAX << TAG_BITS) | TAG_ARRAY;
      words[next++] = length | 0;
    }
    const depth = this.depth;
    let walk: IndexWalk | null = null;
    for (let i = 0; i < length; i++) {
      const element = value[i];
      if (typeof element === 'string') {
        next = writeText(this, element, next);
      } else if (element === undefined && !Object.hasOwn(value, i)) {
        // Gaps are short or long: short ones are walked, long ones looked up.
        const near = Math.min(length, i + 64);
        let to = i + 1;
        while (to < near && value[to] === undefined && !Object.hasOwn(value, to)) to++;
        if (to === near && to < length) {
          walk ??= new IndexWalk(value);
          to = walk.next(i, length);
        }
        const run = Math.min(to - i, ARGUMENT_MAX);
        if (next >= this.end) throw NO_ROOM_SIGNAL;
        words[next++] = (run << TAG_BITS) | TAG_HOLES;
        i += run - 1;
      } else {
        this.path[depth] = i;
        next = this.value(element, next, place);
      }
    }
    return next;
  }

  /** An array of nothing but numbers, or -1. */
  #numbers(value: unknown[], at: number, length: number): number {
    if (length >= ARGUMENT_MAX) return -1;
    if (at + 1 + length > this.end) return -1;
    const words = this.words;
    let next = at + 1;
    let i = 0;
    for (; i < length; i++) {
      const element = value[i];
      if (typeof element !== 'number') return -1;
      const integer = element | 0;
      if (integer !== element || (integer === 0 && 1 / element < 0)) break;
      words[next + i] = integer;
    }
    if (i === length) {
      words[at] = (length << TAG_BITS) | TAG_INT32_ARRAY;
      return next + length;
    }
    const floats = this.floats;
    next = (next + 1) >>> 1;
    if ((next + length) * 2 > this.end) return -1;
    if (next * 2 > at + 1) words[at + 1] = 0;
    for (i = 0; i < length; i++) {
      const element = value[i];
      if (typeof element !== 'number') return -1;
      floats[next + i] = element;
    }
    words[at] = (length << TAG_BITS) | TAG_DOUBLE_ARRAY;
    return (next + length) * 2;
  }

  /** @throws DataCloneError with the path of the member being written */
  fail(what: string): never {
    const path = this.where();
    throw new DataCloneError(`Cannot clone ${path}: it is ${what}`, path);
  }

  /** The same for the object whose members would be written now. */
  failSelf(what: string): never {
    this.depth--;
    this.fail(what);
  }

  where(): string {
    let path = '$';
    for (let i = 1; i <= this.depth; i++) {
      const step = this.path[i];
      if (typeof step === 'number') path += `[${step}]`;
      else if (typeof step === 'string') path += IDENTIFIER.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
      else if (step !== undefined) path += step.text;
    }
    return path;
  }
}
