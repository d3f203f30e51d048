// Holds the process for a while after something was said that the other side has not told to have heard, or that has no line: a program that has nothing
// else to do ends with it out, and not at all late. Who wants more than a while waits for `flush`.
import { platform } from '#platform';
import { RESUME_LAST_HOLD_MS } from '../../limits.ts';

export class UnsaidHold {
  /** Whether it holds, and that has changed. */
  readonly #changed: () => void;
  /** The while has passed. */
  readonly #passed: () => void;
  #holds = false;
  #sinceMs = 0;
  #looking = false;
  #closed = false;

  constructor(changed: () => void, passed: () => void) {
    this.#changed = changed;
    this.#passed = passed;
  }

  get holds(): boolean {
    return this.#holds;
  }
  /** Holds from here on, for a while. */
  begin(): void {
    this.taken();
    if (!this.#holds) {
      this.#holds = true;
      this.#changed();
    }
    if (this.#looking) return;
    this.#looking = true;
    this.#lookIn(RESUME_LAST_HOLD_MS);
  }
  /** As long as the other side takes something in, it is worth holding. */
  taken(): void {
    this.#sinceMs = performance.now();
  }
  release(): void {
    this.#holds = false;
    this.#changed();
  }
  close(): void {
    this.#closed = true;
  }
  #lookIn(ms: number): void {
    platform.later(() => {
      if (this.#closed) return;
      const leftMs = this.#sinceMs + RESUME_LAST_HOLD_MS - performance.now();
      if (this.#holds && leftMs > 0) {
        this.#lookIn(leftMs);
        return;
      }
      this.#looking = false;
      this.release();
      this.#passed();
    }, ms);
  }
}
