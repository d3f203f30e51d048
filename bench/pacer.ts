// How much work fills a round: found out by trying, corrected by each round for the next one.

export interface Timed {
  readonly seconds: number;
}

/** What `count` messages gave. */
export type Filled<T> = T & { readonly count: number };

export class Pacer<T extends Timed> {
  readonly #work: (count: number) => Promise<T>;
  readonly #step: number;
  #perMs = 0;

  /** @param step counts are multiples of it */
  constructor(work: (count: number) => Promise<T>, step = 1) {
    this.#work = work;
    this.#step = step;
  }

  /** Does about `ms` of work. */
  async fill(ms: number): Promise<Filled<T>> {
    if (this.#perMs === 0) await this.#find(ms);
    return this.#run(ms * this.#perMs);
  }

  /** More and more, until it takes a good part of the time: then the rate says something. */
  async #find(ms: number): Promise<void> {
    for (let count = this.#step; ; count *= 8) {
      const { seconds } = await this.#run(count);
      if (seconds * 1000 > ms / 8 || count > 2 ** 24) return;
    }
  }

  async #run(wanted: number): Promise<Filled<T>> {
    const count = Math.max(1, Math.round(wanted / this.#step)) * this.#step;
    const done = await this.#work(count);
    this.#perMs = count / Math.max(0.001, done.seconds * 1000);
    return { ...done, count };
  }
}
