// Lines that were told the last that they are: whoever never ends its side is not waited for, and no more of them are kept than may connect.
import { platform } from '#platform';
import type { Line } from '../transport/network/line.ts';

/** What waits for its time keeps no line that is gone before, and nothing that is behind it. */
interface Waits {
  line: Line | undefined;
}
function later(waits: Waits, end: (line: Line) => void, ms: number): void {
  platform.later(() => {
    if (waits.line !== undefined) end(waits.line);
  }, ms);
}

/**
 * A WebSocket waits for half a minute, or for ever, for the answer to its close.
 * @returns to be called when the line has closed
 */
export function endSoon(line: Line, ms: number): () => void {
  const waits: Waits = { line };
  later(waits, (line) => line.destroy(), ms);
  return () => {
    waits.line = undefined;
  };
}

export class Leaving {
  readonly #most: number;
  readonly #lines = new Map<Line, Waits>();

  constructor(most: number) {
    this.#most = most;
  }
  /** @returns to be called when the line has closed */
  add(line: Line, ms: number): () => void {
    const waits: Waits = { line };
    this.#lines.set(line, waits);
    later(waits, (line) => this.#drop(line), ms);
    const [oldest] = this.#lines.keys();
    if (oldest !== undefined && this.#lines.size > this.#most) this.#drop(oldest);
    return () => this.#forget(waits);
  }
  #drop(line: Line): void {
    const waits = this.#lines.get(line);
    if (waits !== undefined) this.#forget(waits);
    line.destroy();
  }
  #forget(waits: Waits): void {
    if (waits.line !== undefined) this.#lines.delete(waits.line);
    waits.line = undefined;
  }
}
