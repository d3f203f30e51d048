// Which objects of a value were met before, so that shared references and cycles stay what they are. Most values have few
// objects: those are compared one by one, and only large values pay for a Map.
import * as limits from '../limits.ts';

// Copies: see packed/format.ts.
const { IDENTITY_LOOP_MAX, IDENTITY_SCAN_MAX } = limits;

export class MetObjects {
  /** By number, until there are too many. */
  readonly #list: (object | null)[] = new Array<null>(IDENTITY_LOOP_MAX).fill(null);
  #count = 0;
  #map: Map<object, number> | null = null;

  /** The number of an object met before, or -1 after giving it the next one. */
  number(object: object): number {
    const list = this.#list;
    const count = this.#count;
    if (count >= IDENTITY_LOOP_MAX) return this.#numberAmongMany(object, count);
    for (let i = 0; i < count; i++) if (list[i] === object) return i;
    list[count] = object;
    this.#count = count + 1;
    return -1;
  }

  #numberAmongMany(object: object, count: number): number {
    const map = this.#map;
    if (map === null) {
      const number = this.#list.indexOf(object);
      if (number >= 0) return number;
      if (count < IDENTITY_SCAN_MAX) this.#list.push(object);
      else this.#map = new Map(this.#list.map((met, i) => [met as object, i])).set(object, count);
    } else {
      const number = map.get(object);
      if (number !== undefined) return number;
      map.set(object, count);
    }
    this.#count = count + 1;
    return -1;
  }

  has(object: object): boolean {
    if (this.#map !== null) return this.#map.has(object);
    return this.#list.includes(object);
  }

  /** The object that was given a number last. */
  get last(): object | null | undefined {
    return this.#map === null ? this.#list[this.#count - 1] : [...this.#map.keys()].at(-1);
  }

  /** Lets go of the objects. */
  clear(): void {
    const list = this.#list;
    if (list.length > IDENTITY_LOOP_MAX) list.length = IDENTITY_LOOP_MAX;
    for (let i = Math.min(this.#count, IDENTITY_LOOP_MAX) - 1; i >= 0; i--) list[i] = null;
    this.#count = 0;
    this.#map = null;
  }
}
