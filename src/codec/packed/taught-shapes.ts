// What a decoder was taught about the keys of objects. The counterpart of shapes.ts.
//
// S1. A number means one list of keys or none: the encoder gives no number twice (but see SHAPE_LOCAL), so a payload whose
//     shapes were lost is undecodable, and never decodes to other keys.
// S2. A payload teaches when it has turned out to be whole. One that is damaged may be damaged in its trailer, too.
import { ASSIGNED_KEYS_MAX, SHAPE_BYTES_MAX, SHAPE_KEY_LENGTH_MAX, SHAPE_KEYS_MAX, SHAPES_MAX } from '../../limits.ts';
import { PlainObject, setCarefully } from '../plain-object.ts';
import { SHAPE_LOCAL } from './format.ts';
import type { PackedReader } from './reader.ts';
import { shapeBytes } from './shapes.ts';

/** The keys of an object in order. */
export interface Shape {
  readonly keys: readonly string[];
  /** Whether assigning could find something else than a new property: `__proto__`, or a setter someone made. */
  readonly careful: boolean;
  /** Kept for V8's sake, see `exampleOf`. */
  readonly example: object | null;
}

const NO_KEYS: Shape = { keys: [], careful: false, example: null };
const NONE: readonly Shape[] = [];

/** Words of definitions that are kept to be compared with the next ones: more take longer to compare than they save. */
const LOCAL_WORDS_MAX = 256;

export class TaughtShapes {
  /** Those that outlive their payload, from number `#first` on; gaps where a definition never arrived. */
  #shapes: (Shape | undefined)[] = [];
  #first = 1;
  #bytes = 0;

  /** Those that the payload at hand defines, from number `#freshFirst` on. */
  #fresh: readonly Shape[] = NONE;
  #freshFirst = 0;
  #freshBytes = 0;
  /** What the last payload that taught nothing has defined: the next one mostly defines the same. */
  #local: { readonly words: Int32Array; readonly shapes: readonly Shape[]; readonly first: number } | undefined;
  /** They are to outlive it; nothing before them is to. */
  #teaches = false;
  #resets = false;

  get(number: number): Shape | undefined {
    const index = number - this.#first;
    return (index >= 0 ? this.#shapes[index] : undefined) ?? this.#other(number);
  }

  #other(number: number): Shape | undefined {
    if (number === 0) return NO_KEYS;
    const fresh = number - this.#freshFirst;
    return fresh >= 0 && fresh < this.#fresh.length ? this.#fresh[fresh] : undefined;
  }

  /** Reads the trailer, which lies from `reader.at` to `reader.end`. */
  read(reader: PackedReader, reset: boolean, teach: boolean): void {
    const { at, end, words } = reader;
    this.#teaches = teach;
    this.#resets = reset;
    if (!teach && this.#isLocal(words, at, end)) {
      reader.at = end;
      return;
    }
    const first = reader.word();
    const count = reader.count(1);
    if (count > SHAPES_MAX || first < 1 || (teach && first + count > SHAPE_LOCAL)) {
      reader.damaged('there are more shapes than anyone may teach');
    }
    const shapes: Shape[] = [];
    let bytes = 0;
    for (let i = 0; i < count; i++) {
      const shape = readShape(reader);
      bytes += shapeBytes(shape.keys);
      if (bytes > SHAPE_BYTES_MAX) reader.damaged('the keys of the shapes are longer than anyone may teach');
      shapes.push(shape);
    }
    this.#fresh = shapes;
    this.#freshFirst = first;
    this.#freshBytes = bytes;
    if (!teach && end - at <= LOCAL_WORDS_MAX) this.#local = { words: words.slice(at, end), shapes, first };
  }

  /** Whether it defines what the last one did, word for word; then these shapes are there. */
  #isLocal(words: Int32Array, at: number, end: number): boolean {
    const local = this.#local;
    if (local === undefined || local.words.length !== end - at) return false;
    for (let i = 0; i < end - at; i++) if (words[at + i] !== local.words[i]) return false;
    this.#fresh = local.shapes;
    this.#freshFirst = local.first;
    return true;
  }

  /** Between payloads: the number of the first shape, and the keys of each. */
  all(): { readonly first: number; readonly keys: readonly (readonly string[] | undefined)[] } {
    return { first: this.#first, keys: this.#shapes.map((shape) => shape?.keys) };
  }
  /** Begins with what another decoder knew. */
  resume(first: number, keys: readonly (readonly string[] | undefined)[]): void {
    this.#first = first;
    this.#shapes = keys.map((each) => each && shapeOf(each));
    this.#bytes = keys.reduce((bytes, each) => bytes + (each === undefined ? 0 : shapeBytes(each)), 0);
  }

  /** The payload has been read. @param whole it taught what it defines (S2) */
  finish(whole: boolean): void {
    if (this.#fresh === NONE) return;
    if (whole && this.#teaches) this.#keep(this.#fresh, this.#freshFirst);
    this.#fresh = NONE;
  }

  #keep(fresh: readonly Shape[], first: number): void {
    // Without having been told to forget, there are too many only where the payload that said so was lost.
    const last = first + fresh.length;
    const outside = first < this.#first || last > this.#first + SHAPES_MAX;
    if (this.#resets || outside || this.#bytes + this.#freshBytes > SHAPE_BYTES_MAX) {
      this.#shapes = [];
      this.#first = first;
      this.#bytes = 0;
    }
    const shapes = this.#shapes;
    for (let i = 0; i < fresh.length; i++) {
      const index = first - this.#first + i;
      while (shapes.length <= index) shapes.push(undefined);
      // The reader of a shape log (compat/sab-message-port) meets what it has learned there again.
      if (shapes[index] !== undefined) continue;
      const shape = fresh[i] as Shape;
      shapes[index] = shape;
      this.#bytes += shapeBytes(shape.keys);
    }
  }
}

function readShape(reader: PackedReader): Shape {
  const keys: string[] = [];
  const count = reader.count(1);
  if (count > SHAPE_KEYS_MAX) reader.damaged(`a shape has ${count} keys`);
  for (let left = count; left > 0; left--) {
    const key = reader.string();
    if (key.length > SHAPE_KEY_LENGTH_MAX) reader.damaged(`a shape has a key of ${key.length} characters`);
    keys.push(key);
  }
  return shapeOf(keys);
}

function shapeOf(keys: readonly string[]): Shape {
  const careful = keys.some((key) => key in Object.prototype);
  return { keys, careful, example: keys.length > ASSIGNED_KEYS_MAX ? exampleOf(keys) : null };
}

/**
 * An object with many keys, none of which was assigned. V8 turns an object that is assigned its 18th key or so into a
 * hash table, of which every use is slow, unless it saw the same keys defined before and the object is still there.
 */
function exampleOf(keys: readonly string[]): object {
  const example = new PlainObject();
  for (const key of keys) setCarefully(example, key, undefined);
  return example;
}
