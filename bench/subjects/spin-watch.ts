// A spinning loop can't be interrupted by a timer of its own thread: this ends one that waits for nothing.

const LOOK_EVERY = 1 << 16;
const LIMIT_MS = 25_000;

/** One per round. Rounds take well under the limit, so a round that passes it hangs. */
export class SpinWatch {
  readonly #end: number = performance.now() + LIMIT_MS;
  #turns = 0;

  /** Call it in the body of a waiting loop. */
  turn(): void {
    if ((++this.#turns & (LOOK_EVERY - 1)) === 0 && performance.now() > this.#end) {
      throw new Error('a round of the benchmark hangs: the other side does not move');
    }
  }
}
