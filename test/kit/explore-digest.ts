// What a world of explore-turns.ts looks like, as a short text: equal texts mean equal behaviour of all that is not a function or
// left out. It says what `dump` of explore-actor.ts says, but puts no long text together for it: a world is walked once, as numbers.
import { createHash } from 'node:crypto';

// What a number that follows is, or what stands there by itself.
const MARKS: ReadonlyMap<unknown, number> = new Map<unknown, number>([
  [undefined, -1],
  [null, -2],
  [true, -3],
  [false, -4],
]);
const FUNCTION = -5;
const INTEGER = -6;
const TEXT = -7;
const AGAIN = -8;
const LIST = -9;
const ARRAY = -10;
const OBJECT = -11;
const END = -12;

/** What is made by one class: how it is written, and the number of the class's name. */
interface Sort {
  readonly kind: 'list' | 'array' | 'map' | 'set' | 'fields';
  readonly name: number;
}
/** In the place of a field's number: it is left out, or its name is one of those that stand for others. */
const LEFT_OUT = -1;
const RENAMED = -2;

/** Writes values of one exploration; what it has numbered stays so. */
export class Digest {
  readonly #ignored: ReadonlySet<string>;
  /** Parts of texts that are names: which they are does not matter, only where they stand again. */
  readonly #names: RegExp;
  readonly #texts: Map<string, number> = new Map();
  readonly #named: Set<string> = new Set();
  /** By prototype: a world has some hundred objects of few sorts, and is looked at for every step. */
  readonly #sorts: Map<object | null, Sort> = new Map();
  readonly #fields: Map<string, number> = new Map();
  #numbers: Int32Array = new Int32Array(1 << 14);
  #at = 0;
  #seen: Map<object, number> = new Map();
  #renamed: Map<string, string> = new Map();

  constructor(ignored: readonly string[], names: RegExp) {
    this.#ignored = new Set(ignored);
    this.#names = names;
  }

  of(value: unknown): string {
    this.#at = 0;
    this.#seen = new Map();
    this.#renamed = new Map();
    this.#write(value);
    return createHash('sha1').update(this.#numbers.subarray(0, this.#at)).digest('base64');
  }

  #put(number: number): void {
    if (this.#at === this.#numbers.length) {
      const longer = new Int32Array(this.#at * 2);
      longer.set(this.#numbers);
      this.#numbers = longer;
    }
    this.#numbers[this.#at++] = number;
  }

  #write(v: unknown): void {
    if (typeof v === 'object' && v !== null) this.#object(v);
    else if (typeof v === 'string') {
      this.#put(TEXT);
      this.#put(this.#text(v));
    } else if (typeof v === 'number' && (v | 0) === v && !Object.is(v, -0)) {
      this.#put(INTEGER);
      this.#put(v);
    } else {
      const mark = typeof v === 'function' ? FUNCTION : MARKS.get(v);
      if (mark !== undefined) this.#put(mark);
      else {
        this.#put(TEXT);
        // No text of the world's own looks like this.
        this.#put(this.#number(`\0${typeof v} ${Object.is(v, -0) ? '-0' : String(v)}`));
      }
    }
  }

  #number(text: string): number {
    let number = this.#texts.get(text);
    if (number === undefined) {
      this.#texts.set(text, (number = this.#texts.size));
      if (text.search(this.#names) >= 0) this.#named.add(text);
    }
    return number;
  }

  #text(text: string): number {
    const number = this.#number(text);
    if (!this.#named.has(text)) return number;
    return this.#number(
      text.replace(this.#names, (name) => {
        const known = this.#renamed.get(name) ?? `\0name ${this.#renamed.size}`;
        this.#renamed.set(name, known);
        return known;
      }),
    );
  }

  #object(v: object): void {
    const before = this.#seen.get(v);
    if (before !== undefined) {
      this.#put(AGAIN);
      this.#put(before);
      return;
    }
    this.#seen.set(v, this.#seen.size);
    const { kind, name } = this.#sortOf(v);
    if (kind === 'list') {
      this.#put(LIST);
      for (const each of v as unknown[]) this.#write(each);
    } else if (kind === 'array') {
      const array = v as Int32Array;
      this.#put(ARRAY);
      this.#put(array.length);
      for (let at = 0; at < array.length; at++) {
        if (array[at] === 0) continue;
        this.#put(at);
        this.#put(array[at] as number);
      }
    } else {
      this.#put(OBJECT);
      this.#put(name);
      if (kind === 'map') for (const [key, value] of v as Map<unknown, unknown>) this.#both(key, value);
      else if (kind === 'set') for (const each of v as Set<unknown>) this.#write(each);
      else {
        // In the order in which they were put there: what is made in one place has one order.
        for (const key in v) {
          const field = this.#fields.get(key) ?? this.#field(key);
          if (field === LEFT_OUT) continue;
          this.#put(TEXT);
          this.#put(field === RENAMED ? this.#text(key) : field);
          this.#write((v as Record<string, unknown>)[key]);
        }
      }
    }
    this.#put(END);
  }

  #sortOf(v: object): Sort {
    const prototype: object | null = Object.getPrototypeOf(v);
    let sort = this.#sorts.get(prototype);
    if (sort === undefined) {
      const kind = Array.isArray(v)
        ? 'list'
        : ArrayBuffer.isView(v)
          ? 'array'
          : v instanceof Map
            ? 'map'
            : v instanceof Set
              ? 'set'
              : 'fields';
      this.#sorts.set(prototype, (sort = { kind, name: this.#number(prototype?.constructor.name ?? '') }));
    }
    return sort;
  }

  #field(key: string): number {
    let field = this.#ignored.has(key) ? LEFT_OUT : this.#number(key);
    if (field !== LEFT_OUT && this.#named.has(key)) field = RENAMED;
    this.#fields.set(key, field);
    return field;
  }

  #both(key: unknown, value: unknown): void {
    this.#write(key);
    this.#write(value);
  }
}
