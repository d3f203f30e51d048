// Things whose time has not come, the next one first: a heap, from which what is taken out before its time is missing.

interface Entry<T> {
  thing: T | undefined;
  readonly dueMs: number;
}

/** As many missing ones are no matter. */
const FEW = 1024;

export class Later<T extends object> {
  readonly #heap: Entry<T>[] = [];
  readonly #entries = new Map<T, Entry<T>>();

  get size(): number {
    return this.#entries.size;
  }
  /** When the next one is due. */
  get nextMs(): number {
    return this.#heap[0]?.dueMs ?? Number.POSITIVE_INFINITY;
  }

  add(thing: T, dueMs: number): void {
    const entry: Entry<T> = { thing, dueMs };
    this.#entries.set(thing, entry);
    const heap = this.#heap;
    let at = heap.push(entry) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if ((heap[above] as Entry<T>).dueMs <= dueMs) break;
      heap[at] = heap[above] as Entry<T>;
      at = above;
    }
    heap[at] = entry;
  }
  remove(thing: T): boolean {
    const entry = this.#entries.get(thing);
    if (entry === undefined) return false;
    entry.thing = undefined;
    this.#entries.delete(thing);
    if (this.#heap.length > 2 * this.#entries.size + FEW) this.#tidy();
    return true;
  }
  /** Most of them are missing. */
  #tidy(): void {
    const there = this.#heap.filter(({ thing }) => thing !== undefined);
    // What is in order is a heap.
    there.sort((one, other) => one.dueMs - other.dueMs);
    this.#heap.length = 0;
    for (const entry of there) this.#heap.push(entry);
  }
  /** One that is due. */
  take(nowMs: number): T | undefined {
    while (this.nextMs <= nowMs) {
      const { thing } = this.#shift();
      if (thing === undefined) continue;
      this.#entries.delete(thing);
      return thing;
    }
    return undefined;
  }
  #shift(): Entry<T> {
    const heap = this.#heap;
    const first = heap[0] as Entry<T>;
    const last = heap.pop() as Entry<T>;
    if (heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && (heap[below + 1] as Entry<T>).dueMs < (heap[below] as Entry<T>).dueMs) below++;
      if ((heap[below] as Entry<T>).dueMs >= last.dueMs) break;
      heap[at] = heap[below] as Entry<T>;
      at = below;
    }
    heap[at] = last;
    return first;
  }
}
