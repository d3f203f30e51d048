// Lines that were told the last that they are: whoever never ends its side is not waited for, and no more of them are kept than may connect.
import { platform } from '#platform';
import type { Line } from '../transport/network/line.ts';

/** What waits for its time keeps no line that is gone before. */
interface Held {
  line: Line | undefined;
}

export class Leaving {
  readonly #most: number;
  readonly #lines = new Map<Line, Held>();

  constructor(most: number) {
    this.#most = most;
  }
  add(line: Line, ms: number): void {
    const held: Held = { line };
    this.#lines.set(line, held);
    platform.later(() => {
      if (held.line !== undefined) this.#drop(held.line);
    }, ms);
    const [oldest] = this.#lines.keys();
    if (oldest !== undefined && this.#lines.size > this.#most) this.#drop(oldest);
  }
  /** It is gone by itself. */
  forget(line: Line): void {
    const held = this.#lines.get(line);
    if (held !== undefined) held.line = undefined;
    this.#lines.delete(line);
  }
  #drop(line: Line): void {
    this.forget(line);
    line.destroy();
  }
}
