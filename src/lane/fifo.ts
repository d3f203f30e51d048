// A first-in-first-out list that stays cheap when long: taking does not move what is behind.
export class Fifo<T> {
  #items: T[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  get first(): T | undefined {
    return this.#items[this.#head];
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    if (this.#head === this.#items.length) return undefined;
    const item = this.#items[this.#head] as T;
    this.#items[this.#head++] = undefined as T;
    if (this.#head === this.#items.length) this.#reset();
    else if (this.#head > 1024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  /** Everything, oldest first. */
  all(): T[] {
    return this.#items.slice(this.#head);
  }

  /** The same, and the list is empty after it. */
  takeAll(): T[] {
    const items = this.all();
    this.#reset();
    return items;
  }

  /** Takes `count` items out from `start` on (0 is the oldest) and returns them. */
  remove(start: number, count: number): T[] {
    return this.#items.splice(this.#head + start, count);
  }

  #reset(): void {
    this.#items = [];
    this.#head = 0;
  }
}
