// Things that are lent: each lies there, or somebody has it for a time, which may be made longer. All are lent for equally long, so that they stand in the order in
// which their times end.

export class Shelf<T extends object, B> {
  /** Those that came back go first. */
  readonly #back = new Set<T>();
  readonly #fresh = new Set<T>();
  readonly #lent = new Map<T, { readonly by: B; readonly untilMs: number }>();
  readonly #forMs: number;

  /** @param forMs for how long */
  constructor(forMs: number) {
    this.#forMs = forMs;
  }

  get lying(): number {
    return this.#back.size + this.#fresh.size;
  }
  get lent(): number {
    return this.#lent.size;
  }
  /** When the first one comes back by itself. */
  get firstBackMs(): number {
    for (const { untilMs } of this.#lent.values()) return untilMs;
    return Number.POSITIVE_INFINITY;
  }

  add(thing: T): void {
    this.#fresh.add(thing);
  }
  /** The one that has lain there for longest. */
  lend(by: B, nowMs: number): T | undefined {
    for (const lying of [this.#back, this.#fresh])
      for (const thing of lying) {
        lying.delete(thing);
        this.renew(thing, by, nowMs);
        return thing;
      }
    return undefined;
  }
  isLentTo(thing: T, by: B): boolean {
    return this.#lent.get(thing)?.by === by;
  }
  /** Its time begins anew. */
  renew(thing: T, by: B, nowMs: number): void {
    this.#lent.delete(thing);
    this.#lent.set(thing, { by, untilMs: nowMs + this.#forMs });
  }
  /** It is no more. */
  remove(thing: T): boolean {
    return this.#back.delete(thing) || this.#fresh.delete(thing) || this.#lent.delete(thing);
  }
  /** Those whose time is over lie there again. */
  takeBack(nowMs: number): void {
    for (const [thing, { untilMs }] of this.#lent) {
      if (untilMs > nowMs) return;
      this.giveBack(thing);
    }
  }
  /** So do all that somebody has who is gone. */
  takeBackFrom(by: B): void {
    for (const [thing, lent] of [...this.#lent]) if (lent.by === by) this.giveBack(thing);
  }
  /** It lies there again, before those that nobody has had. */
  giveBack(thing: T): void {
    this.#lent.delete(thing);
    this.#back.add(thing);
  }
}
