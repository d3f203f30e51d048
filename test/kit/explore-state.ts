// Stores for the explorer: what a state is made of is kept once and known by a small number, so that a state is a short
// row of numbers and two equal states are one. Everything here compares exactly; nothing is trusted to a hash.

/** Rows of `width` numbers, each kept once. */
export class RowTable {
  readonly width: number;
  count = 0;
  #rows: Int32Array;
  #slots: Int32Array = new Int32Array(1 << 12).fill(-1);

  constructor(width: number) {
    this.width = width;
    this.#rows = new Int32Array(width * (this.#slots.length >> 1));
  }

  row(id: number): Int32Array {
    return this.#rows.subarray(id * this.width, (id + 1) * this.width);
  }

  /** The row's number; it is new when the number equals the count from before the call. */
  add(row: Int32Array): number {
    if (this.count * 2 >= this.#slots.length) this.#grow();
    const mask = this.#slots.length - 1;
    for (let at = hash(row, 0, this.width) & mask; ; at = (at + 1) & mask) {
      const id = this.#slots[at] as number;
      if (id < 0) {
        this.#slots[at] = this.count;
        this.#rows.set(row, this.count * this.width);
        return this.count++;
      }
      if (this.#equal(id, row)) return id;
    }
  }

  #equal(id: number, row: Int32Array): boolean {
    const base = id * this.width;
    for (let i = 0; i < this.width; i++) if (this.#rows[base + i] !== row[i]) return false;
    return true;
  }

  #grow(): void {
    const size = this.#slots.length * 2;
    const rows = new Int32Array((size >> 1) * this.width);
    rows.set(this.#rows.subarray(0, this.count * this.width));
    this.#rows = rows;
    this.#slots = new Int32Array(size).fill(-1);
    for (let id = 0; id < this.count; id++) {
      let at = hash(rows, id * this.width, this.width) & (size - 1);
      while ((this.#slots[at] as number) >= 0) at = (at + 1) & (size - 1);
      this.#slots[at] = id;
    }
  }
}

function hash(row: Int32Array, from: number, length: number): number {
  let h = 0;
  for (let i = 0; i < length; i++) {
    h = Math.imul(h ^ (row[from + i] as number), 0x9e3779b1);
    h ^= h >>> 15;
  }
  return h;
}

/** Values that are known by number, compared by a text. */
export class Interned<T> {
  readonly values: T[] = [];
  readonly #ids: Map<string, number> = new Map();

  id(text: string, value: T): number {
    let id = this.#ids.get(text);
    if (id === undefined) {
      this.#ids.set(text, (id = this.values.length));
      this.values.push(value);
    }
    return id;
  }
}

/** Contents of the shared block. Only words that differ from the start are spelled out. */
export class Contents {
  readonly #initial: Int32Array;
  readonly #all: Interned<readonly number[]> = new Interned();
  readonly #slotOf: Map<number, number> = new Map();
  readonly #wordOf: number[] = [];
  readonly #writes: Map<string, number> = new Map();

  constructor(initial: Int32Array) {
    this.#initial = initial;
    this.#all.id('', []);
  }

  get words(): number {
    return this.#initial.length;
  }

  read(id: number, word: number): number {
    if (word >= this.#initial.length || word < 0)
      throw new RangeError(`access to word ${word} of ${this.#initial.length}`);
    const slot = this.#slotOf.get(word);
    const content = this.#all.values[id] as readonly number[];
    return (slot === undefined ? undefined : content[slot]) ?? (this.#initial[word] as number);
  }

  write(id: number, word: number, value: number): number {
    if (this.read(id, word) === value) return id;
    const key = `${id},${word},${value}`;
    let next = this.#writes.get(key);
    if (next !== undefined) return next;
    let slot = this.#slotOf.get(word);
    if (slot === undefined) {
      this.#slotOf.set(word, (slot = this.#wordOf.length));
      this.#wordOf.push(word);
    }
    const content = (this.#all.values[id] as readonly number[]).slice();
    while (content.length <= slot) content.push(this.#initial[this.#wordOf[content.length] as number] as number);
    content[slot] = value;
    while (content.length > 0 && content.at(-1) === this.#initial[this.#wordOf[content.length - 1] as number])
      content.pop();
    next = this.#all.id(content.join(), content);
    this.#writes.set(key, next);
    return next;
  }
}
