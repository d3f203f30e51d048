// Draws values that structured clone carries: every type of the HTML standard that needs no browser, nested, shared and
// cyclic. Shapes and strings come from small vocabularies often enough that a codec which remembers them gets to use it.
import type { Random } from './prng.ts';
import { BIGINTS, ERROR_CLASSES, KEYS, MORE_BIGINTS, NUMBERS, PATTERNS, SHAPES, STRINGS } from './vocabulary.ts';

export interface ValueOptions {
  /** How many objects and primitives a value may have, roughly. */
  readonly budget?: number;
  /** The longest string and the most bytes in one buffer. */
  readonly large?: number;
  /** Also what a codec may leave to the runtime: class instances, resizable buffers, shared memory. */
  readonly exotic?: boolean;
  /** Sparse arrays up to the longest there are (Bun's own structured clone visits every index: minutes). */
  readonly huge?: boolean;
  /** Errors may have a cause (some runtimes' own structured clone loses or rejects it). */
  readonly causes?: boolean;
}

type Bag = Record<PropertyKey, unknown>;
interface ViewClass {
  new (buffer: ArrayBuffer, offset?: number, length?: number): ArrayBufferView;
  readonly BYTES_PER_ELEMENT: number;
}

const optionalViews = ['Float16Array'].flatMap((name) => {
  const view = (globalThis as unknown as Record<string, ViewClass | undefined>)[name];
  return view === undefined ? [] : [view];
});
/** Every kind of typed array this runtime has. */
export const VIEW_CLASSES: readonly ViewClass[] = [
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
  ...optionalViews,
] as unknown as readonly ViewClass[];

/** Assigns an own property whatever its name is: `object['__proto__'] = x` would change the prototype instead. */
export function own(object: object, key: PropertyKey, value: unknown): void {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

class Maker {
  readonly #random: Random;
  readonly #options: Required<ValueOptions>;
  /** Objects made so far, filled or not: taking one again makes shared references and cycles. */
  readonly #made: object[] = [];
  readonly #buffers: ArrayBuffer[] = [];
  /** How often a text draws its length from all sizes. */
  readonly #often: number;
  #budget: number;
  #depth = 0;

  constructor(random: Random, options: ValueOptions) {
    this.#random = random;
    this.#options = { budget: 200, large: 2048, exotic: false, huge: false, causes: true, ...options };
    this.#often = this.#options.large > 2048 ? 0.3 : 0.05;
    this.#budget = 1 + random.skewed(this.#options.budget);
  }

  value(): unknown {
    const random = this.#random;
    this.#budget--;
    if (this.#made.length > 0 && random.chance(0.06)) return random.pick(this.#made);
    if (this.#budget <= 0 || this.#depth > 40 || random.chance(0.35)) return this.#primitive();
    this.#depth++;
    const made = this.#object();
    this.#depth--;
    return made;
  }

  #keep<T extends object>(made: T): T {
    this.#made.push(made);
    return made;
  }

  #primitive(): unknown {
    const random = this.#random;
    const which = random.int(0, 15);
    if (which < 5) return this.#number();
    if (which < 10) return this.#string();
    if (which === 10) return random.pick([true, false]);
    if (which === 11) return random.pick([null, undefined]);
    if (which === 12) return this.#bigint();
    return random.int(-1000, 1000);
  }

  #number(): number {
    const random = this.#random;
    const which = random.int(0, 5);
    if (which < 2) return random.pick(NUMBERS);
    if (which === 2) return random.bits() | 0;
    if (which === 3) return random.int(-2000, 2000) / 8;
    if (which === 4) return (random.unit() - 0.5) * 10 ** random.int(-300, 300);
    return random.int(-300, 300);
  }

  #bigint(): bigint {
    const random = this.#random;
    if (random.chance(0.4)) return random.pick(BIGINTS);
    if (random.chance(0.4)) return random.pick(MORE_BIGINTS);
    let value = 0n;
    for (let words = random.skewed(40); words >= 0; words--) value = (value << 32n) | BigInt(random.bits());
    return random.chance(0.5) ? -value : value;
  }

  #string(): string {
    const random = this.#random;
    if (random.chance(0.5)) return random.pick(STRINGS);
    const length = random.chance(this.#often) ? random.skewed(this.#options.large) : random.skewed(80);
    const top = random.pick([0x7f, 0x7f, 0x7f, 0xff, 0x3ff, 0xffff, 0xffff]);
    // One odd character in a long plain text is what a guess from a sample misses.
    if (random.chance(0.2)) {
      const at = random.int(0, length);
      return 'p'.repeat(at) + String.fromCharCode(random.int(0, top)) + 'q'.repeat(length - at);
    }
    const units: string[] = [];
    for (let i = 0; i < length; i++) {
      units.push(random.chance(0.02) ? '\u{1F600}' : String.fromCharCode(random.int(top === 0x7f ? 32 : 0, top)));
    }
    return units.join('');
  }

  #object(): object {
    const random = this.#random;
    const which = random.int(0, 27);
    if (which < 9) return this.#record();
    if (which < 15) return this.#array();
    if (which < 17) return this.#map();
    if (which < 19) return this.#set();
    if (which < 20)
      return this.#keep(new Date(random.pick([0, -0, 1.5, Number.NaN, 8.64e15, -8.64e15, random.bits() * 400])));
    if (which < 21) return this.#regExp();
    if (which < 22) return this.#box();
    if (which < 23) return this.#error();
    if (which < 24) return this.#buffer();
    if (which < 27) return this.#view();
    return this.#options.exotic ? this.#exotic() : this.#record();
  }

  #key(): string {
    const random = this.#random;
    if (random.chance(0.85)) return random.pick(KEYS);
    return random.chance(0.5) ? this.#string() : String(random.bits() >>> random.int(0, 31));
  }

  #record(): object {
    const random = this.#random;
    const record: Bag = this.#keep(random.chance(0.03) ? Object.create(null) : {});
    const shaped = random.chance(0.5);
    const keys = shaped
      ? random.pick(SHAPES)
      : Array.from({ length: random.skewed(random.chance(0.03) ? 90 : 12) }, () => this.#key());
    for (const key of keys) own(record, key, this.value());
    if (random.chance(0.03)) {
      const value = this.#primitive();
      Object.defineProperty(record, 'got', { get: () => value, enumerable: true, configurable: true });
    }
    // What a copy does not have.
    if (random.chance(0.03)) Object.defineProperty(record, 'hidden', { value: 1, enumerable: false });
    if (random.chance(0.03)) record[Symbol('lost')] = 1;
    if (random.chance(0.02)) Object.freeze(record);
    return record;
  }

  #array(): object {
    const random = this.#random;
    const array: unknown[] = this.#keep([]);
    const length = random.skewed(30);
    const which = random.int(0, 9);
    if (which < 4) for (let i = 0; i < length; i++) array.push(this.value());
    else if (which === 4) for (let i = 0; i < length * 4; i++) array.push(random.int(-70000, 70000));
    else if (which === 5) for (let i = 0; i < length * 4; i++) array.push(random.chance(0.1) ? i : this.#number());
    else if (which === 6) for (let i = 0; i < length; i++) array.push(this.#string());
    else if (which === 7) {
      for (let i = 0; i < length; i++) array.push({ id: i, name: random.pick(STRINGS), value: this.#number() });
    } else {
      array.length = random.chance(0.1)
        ? random.pick(this.#options.huge ? [1000, 2 ** 31, 2 ** 32 - 1] : [1000, 2000])
        : random.skewed(100);
      for (let i = random.skewed(8); i > 0 && array.length > 0; i--)
        array[random.int(0, array.length - 1)] = this.value();
    }
    if (random.chance(0.08)) for (let i = random.int(1, 3); i > 0; i--) own(array, `${this.#key()}_`, this.value());
    if (random.chance(0.03)) own(array, random.pick(['4294967295', '-1', '01', '__proto__', 'foo']), this.value());
    return array;
  }

  #map(): object {
    const map = this.#keep(new Map());
    for (let i = this.#random.skewed(12); i > 0; i--) map.set(this.value(), this.value());
    return map;
  }

  #set(): object {
    const set = this.#keep(new Set());
    for (let i = this.#random.skewed(12); i > 0; i--) set.add(this.value());
    return set;
  }

  #regExp(): object {
    const random = this.#random;
    const [source, flags] = random.pick(PATTERNS);
    const expression = this.#keep(new RegExp(source, flags));
    if (random.chance(0.5)) expression.lastIndex = random.int(0, 9);
    return expression;
  }

  #box(): object {
    const random = this.#random;
    const which = random.int(0, 3);
    if (which === 0) return this.#keep(Object(random.chance(0.5)));
    if (which === 1) return this.#keep(Object(this.#number()));
    if (which === 2) return this.#keep(Object(this.#bigint()));
    return this.#keep(Object(this.#string()));
  }

  #error(): object {
    const random = this.#random;
    const message = random.chance(0.2) ? undefined : this.#string();
    const error = this.#keep(new (random.pick(ERROR_CLASSES))(message));
    if (random.chance(0.2)) error.name = random.pick(['TypeError', 'Custom', 'Error', '']);
    if (random.chance(0.1)) error.stack = this.#string();
    if (random.chance(0.2)) own(error, 'code', this.value());
    if (this.#options.causes && random.chance(0.3)) {
      Object.defineProperty(error, 'cause', { value: this.value(), writable: true, configurable: true });
    }
    return error;
  }

  #buffer(): ArrayBuffer {
    const random = this.#random;
    if (this.#buffers.length > 0 && random.chance(0.3)) return random.pick(this.#buffers);
    const length = random.chance(2 * this.#often) ? random.skewed(this.#options.large) : random.skewed(64);
    const buffer = new ArrayBuffer(length);
    const bytes = new Uint8Array(buffer);
    for (let i = 0; i < length; i++) bytes[i] = random.bits();
    this.#buffers.push(buffer);
    return this.#keep(buffer);
  }

  #view(): object {
    const random = this.#random;
    const buffer = this.#buffer();
    if (random.chance(0.15)) {
      const offset = random.int(0, buffer.byteLength);
      return this.#keep(new DataView(buffer, offset, random.int(0, buffer.byteLength - offset)));
    }
    const View = random.pick(VIEW_CLASSES);
    const room = Math.floor(buffer.byteLength / View.BYTES_PER_ELEMENT);
    const first = random.chance(0.5) ? 0 : random.int(0, room);
    const length = random.chance(0.5) ? room - first : random.int(0, room - first);
    return this.#keep(new View(buffer, first * View.BYTES_PER_ELEMENT, length) as unknown as object);
  }

  #exotic(): object {
    const random = this.#random;
    const which = random.int(0, 3);
    if (which === 0)
      return this.#keep(
        new (class Point {
          x: unknown = 1;
          y = 'two';
        })(),
      );
    if (which === 1) return this.#keep(Object.create({ inherited: 1 }, { own: { value: 2, enumerable: true } }));
    if (which === 2) return this.#keep(new (class Names extends Map<unknown, unknown> {})([[1, this.value()]]));
    return this.#keep(new (class Words extends Uint8Array {})(4));
  }
}

/** One random value that structured clone carries. */
export function randomValue(random: Random, options: ValueOptions = {}): unknown {
  return new Maker(random, options).value();
}
