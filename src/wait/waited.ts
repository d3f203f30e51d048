// How long a blocked call has waited, also where the clock is so coarse that it does not move while a sleep lasts until its end.

export class Waited {
  readonly #start: number = performance.now();
  #clock = 0;
  #ms = 0;

  /** Milliseconds by the clock. */
  get byClock(): number {
    return performance.now() - this.#start;
  }
  /** Milliseconds until now, asked before each sleep: a sleep that lasted until its end counts by its limit where the clock stood still. */
  look(): number {
    this.#clock = this.byClock;
    this.#ms = Math.max(this.#clock, this.#ms);
    return this.#ms;
  }
  /** A sleep behind `look` has lasted until its end, after `ms`. */
  sleptOut(ms: number): void {
    if (this.byClock === this.#clock) this.#ms += ms;
  }
}
