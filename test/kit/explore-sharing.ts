// Which actors use which words, learned while exploring. An atomic access that no other actor could ever notice or
// influence needs no scheduling point: it runs together with the access before it, like a plain one.
//
// What is known grows. When an access turns out to contradict what an earlier one was taken for, everything explored so
// far is thrown away and begun anew, with the new knowledge; so the final exploration relied on nothing wrong.

/** Thrown when the exploration has to begin anew. */
export class StartOver extends Error {}

export class Sharing {
  // Bit sets of actors, by word.
  readonly #readers: Map<number, number> = new Map();
  readonly #writers: Map<number, number> = new Map();
  /** Who relied on nobody else writing the word; who relied on nobody else touching it at all. */
  readonly #alone: Map<number, number> = new Map();
  readonly #unseen: Map<number, number> = new Map();

  /** Whether the access concerns its actor only, as far as is known. */
  isPrivate(actor: number, word: number, writes: boolean): boolean {
    const others = ~(1 << actor);
    if (((this.#writers.get(word) ?? 0) & others) !== 0) return false;
    if (writes && ((this.#readers.get(word) ?? 0) & others) !== 0) return false;
    add(writes ? this.#unseen : this.#alone, word, actor);
    return true;
  }

  /** @throws StartOver if somebody relied on this access not being made */
  note(actor: number, word: number, writes: boolean): void {
    if (!add(writes ? this.#writers : this.#readers, word, actor)) return;
    const relied = (this.#unseen.get(word) ?? 0) | (writes ? (this.#alone.get(word) ?? 0) : 0);
    if ((relied & ~(1 << actor)) !== 0) throw new StartOver();
  }
}

/** Adds a bit; whether it is new. */
function add(sets: Map<number, number>, word: number, actor: number): boolean {
  const before = sets.get(word) ?? 0;
  sets.set(word, before | (1 << actor));
  return (before & (1 << actor)) === 0;
}
