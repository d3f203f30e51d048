// A clock that stands still until a test moves it: `performance.now`, `setTimeout` and `clearTimeout` of this thread.

interface Timer {
  readonly due: number;
  readonly task: () => void;
}

export class FakeClock {
  now = 0;
  readonly #timers = new Map<number, Timer>();
  #next = 1;

  /** Timers that are running. */
  get timers(): number {
    return this.#timers.size;
  }

  /** Moves on and runs what falls due, in order. */
  advance(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      const [first] = [...this.#timers].filter(([, timer]) => timer.due <= end).sort((a, b) => a[1].due - b[1].due);
      if (first === undefined) break;
      this.#timers.delete(first[0]);
      this.now = first[1].due;
      first[1].task();
    }
    this.now = end;
  }

  /** Runs `body` (synchronously) with the globals replaced. */
  rule<R>(body: () => R): R {
    const { setTimeout, clearTimeout } = globalThis;
    const own = Object.getOwnPropertyDescriptor(performance, 'now');
    const fakes = globalThis as unknown as Record<string, unknown>;
    fakes['setTimeout'] = (task: () => void, ms = 0) => {
      this.#timers.set(this.#next, { due: this.now + ms, task });
      return this.#next++;
    };
    fakes['clearTimeout'] = (id: number) => void this.#timers.delete(id);
    Object.defineProperty(performance, 'now', { value: () => this.now, configurable: true, writable: true });
    try {
      return body();
    } finally {
      Object.assign(globalThis, { setTimeout, clearTimeout });
      if (own === undefined) delete (performance as { now?: unknown }).now;
      else Object.defineProperty(performance, 'now', own);
    }
  }
}
