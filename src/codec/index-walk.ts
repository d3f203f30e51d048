// Finds the next element of a sparse array. Short gaps are walked, long ones looked up: in a list of indices that is made
// once, however many gaps there are, for made for each gap anew it would take time that grows with the square.
import { HOLES_WALKED_MAX } from '../limits.ts';

/** Whether a property name is an array index. `Object.keys` lists all of those before any other name. */
export function isArrayIndex(key: string): boolean {
  const index = Number(key) >>> 0;
  return index !== 0xffff_ffff && String(index) === key;
}

export class IndexWalk {
  readonly #array: unknown[];
  #keys: readonly string[] | undefined;
  #cursor = 0;

  constructor(array: unknown[]) {
    this.#array = array;
  }

  /** How many elements are absent from `from` on, where one is. Asked with growing `from` only. */
  gap(from: number, length: number): number {
    const array = this.#array;
    const near = Math.min(length, from + HOLES_WALKED_MAX);
    let to = from + 1;
    while (to < near && array[to] === undefined && !Object.hasOwn(array, to)) to++;
    return (to === near && to < length ? this.#next(from, length) : to) - from;
  }

  /** The first index after `from` that has an element, or `length`. */
  #next(from: number, length: number): number {
    this.#keys ??= Object.keys(this.#array);
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
