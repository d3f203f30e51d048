// Waiting of contenders that bring none: spin, and give the core away once the wait is clearly longer than a hand-over.
// Without the second part, a machine with fewer free cores than threads would be timed waiting for its own scheduler.

const SPINS = 10_000;
const NAP_MS = 0.05;
const LIMIT_MS = 25_000;

/** One per wait or per round, both of which take well under the limit. */
export class SpinWatch {
  readonly #end: number = performance.now() + LIMIT_MS;

  /** Call it in the body of a waiting loop with the number of turns since something moved. */
  turn(turns: number): void {
    if (turns < SPINS) return;
    Atomics.wait(nap, 0, 0, NAP_MS);
    if (performance.now() > this.#end) {
      throw new Error('a round of the benchmark hangs: the other side does not move');
    }
  }
}

const nap = new Int32Array(new SharedArrayBuffer(4));
