// What a decoder was taught about the keys of objects. The counterpart of packed-shapes.ts.
import { SHAPES_MAX } from '../limits.ts';
import { SHAPE_LOCAL } from './packed-format.ts';
import type { PackedReader } from './packed-reader.ts';
import { PlainObject, setCarefully } from './plain-object.ts';

/** The keys of an object in order. */
export interface Shape {
  readonly keys: readonly string[];
  /** Whether assigning could find something else than a new property: `__proto__`, or a setter someone made. */
  readonly careful: boolean;
  /** Kept for V8's sake, see `exampleOf`. */
  readonly example: object | null;
}

const NO_KEYS: Shape = { keys: [], careful: false, example: null };

/** Keys that V8 lets an object get by assignment before it makes a slow table of it, at least. */
const ASSIGNED_KEYS_MAX = 12;

export class TaughtShapes {
  /** By number; holes where a definition never arrived. */
  #shapes: (Shape | undefined)[] = [NO_KEYS];
  /** Those of this payload only, from number SHAPE_LOCAL on. */
  #local: readonly Shape[] = [];

  /** How things were before this payload: the list, and what was replaced in it from a number on. */
  #shapesBefore: (Shape | undefined)[] = this.#shapes;
  #replaced: (Shape | undefined)[] = [];
  #replacedFrom = -1;

  get(number: number): Shape | undefined {
    return this.#shapes[number] ?? this.#local[number - SHAPE_LOCAL];
  }

  begin(): void {
    this.#shapesBefore = this.#shapes;
    this.#replacedFrom = -1;
  }

  finish(): void {
    if (this.#local.length > 0) this.#local = [];
  }

  /** Reads the trailer, which lies from `reader.at` to `reader.end`. */
  read(reader: PackedReader, reset: boolean, teach: boolean): void {
    if (reset) this.#shapes = [NO_KEYS];
    const first = reader.word();
    const count = reader.count(1);
    const shapes: Shape[] = [];
    for (let i = 0; i < count; i++) shapes.push(readShape(reader));
    if (!teach) {
      this.#local = shapes;
      return;
    }
    if (first < 1 || first + count > SHAPES_MAX) reader.damaged('there are more shapes than anyone may teach');
    this.#replaced = shapes.map((_, i) => this.#shapes[first + i]);
    this.#replacedFrom = first;
    for (let i = 0; i < count; i++) this.#shapes[first + i] = shapes[i];
  }

  /** The payload turned out to be damaged: back to how things were before it. */
  unlearn(): void {
    if (this.#shapes === this.#shapesBefore && this.#replacedFrom >= 0) {
      for (let i = 0; i < this.#replaced.length; i++) this.#shapes[this.#replacedFrom + i] = this.#replaced[i];
    }
    this.#shapes = this.#shapesBefore;
  }
}

function readShape(reader: PackedReader): Shape {
  const keys: string[] = [];
  let careful = false;
  for (let left = reader.count(1); left > 0; left--) {
    const key = reader.string();
    careful ||= key in Object.prototype;
    keys.push(key);
  }
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
