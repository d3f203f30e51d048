// Finds the next element of a sparse array. The list of indices is made once, however many gaps there are: made for each
// gap anew it would take time that grows with the square.

/** Whether a property name is an array index. `Object.keys` lists all of those before any other name. */
export function isArrayIndex(key: string): boolean {
  const index = Number(key) >>> 0;
  return index !== 0xffff_ffff && String(index) === key;
}

export class IndexWalk {
  readonly #array: unknown[];
  readonly #keys: readonly string[];
  #cursor = 0;

  constructor(array: unknown[]) {
    this.#array = array;
    this.#keys = Object.keys(array);
  }

  /** The first index after `from` that has an element, or `length`. Asked with growing `from` only. */
  next(from: number, length: number): number {
    for (; this.#cursor < this.#keys.length; this.#cursor++) {
      const key = this.#keys[this.#cursor]!;
      if (!isArrayIndex(key)) break;
      const index = Number(key);
      // A getter may have taken elements away since the list was made.
      if (index > from && Object.hasOwn(this.#array, key)) return Math.min(index, length);
    }
    return length;
  }
}
