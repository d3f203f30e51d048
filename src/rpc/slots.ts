// Things by their numbers, which one side gives to them, one after the other: a table whose places are the last bits of the numbers. A Map makes and moves
// objects of its own for each thing that comes and goes, which is a good part of what a small call allocates.

/** How many there may be before the first table grows. */
const FIRST = 16;

export class Slots<T extends { readonly id: number }> {
  #table: (T | undefined)[] = new Array<undefined>(FIRST).fill(undefined);
  #size = 0;

  get size(): number {
    return this.#size;
  }
  /** Whether one of this number can be put in: its place is free. With a table that grows in time some of the next numbers always can. */
  free(id: number): boolean {
    return this.#table[id & (this.#table.length - 1)] === undefined;
  }
  get(id: number): T | undefined {
    const found = this.#table[id & (this.#table.length - 1)];
    return found?.id === id ? found : undefined;
  }
  /** Its place is free. */
  add(thing: T): void {
    this.#table[thing.id & (this.#table.length - 1)] = thing;
    if (++this.#size * 2 > this.#table.length) this.#grow();
  }
  /** Of a number that is there. */
  delete(id: number): void {
    this.#table[id & (this.#table.length - 1)] = undefined;
    this.#size--;
  }
  /** All of them, by their numbers. */
  all(): T[] {
    return this.#table.filter((thing) => thing !== undefined).sort((a, b) => a.id - b.id);
  }
  /** What has a place of its own by some bits has one by more. */
  #grow(): void {
    const all = this.all();
    const table = new Array<T | undefined>(this.#table.length * 2).fill(undefined);
    for (const thing of all) table[thing.id & (table.length - 1)] = thing;
    this.#table = table;
  }
}
