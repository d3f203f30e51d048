// Lines that were told the last that they are: whoever never ends its side is not waited for, and no more of them are kept than may connect.
import { platform } from '#platform';
import type { Line } from '../transport/network/line.ts';

/** A WebSocket waits for half a minute, or for ever, for the answer to its close. */
export function endSoon(line: Line, ms: number): void {
  platform.later(() => line.destroy(), ms);
}

export class Leaving {
  readonly #most: number;
  readonly #lines = new Set<Line>();

  constructor(most: number) {
    this.#most = most;
  }
  add(line: Line, ms: number): void {
    this.#lines.add(line);
    platform.later(() => this.#drop(line), ms);
    const [oldest] = this.#lines;
    if (oldest !== undefined && this.#lines.size > this.#most) this.#drop(oldest);
  }
  #drop(line: Line): void {
    if (this.#lines.delete(line)) line.destroy();
  }
}
