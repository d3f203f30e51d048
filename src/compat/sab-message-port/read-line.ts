// The asyncReads that wait, in the order in which they are served.
import { TIMEOUT_MS_MAX } from '../../limits.ts';

export interface Waiting {
  readonly max: number;
  /** Whether it waits for ever. */
  readonly unlimited: boolean;
  /** Whether its time is up. */
  late: boolean;
  timer: ReturnType<typeof setTimeout> | undefined;
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

/** What whoever waits is told when the pipe is no more, or nobody is left at its other end. */
export const disposedError = (): Error => new Error('SABPipe disposed');

/** What a read returns that found nothing: null, or for any other `max` than 1 an array. */
export function emptyAnswer(max: number): unknown {
  return max === 1 ? null : [];
}

export class ReadLine {
  #line: Waiting[] = [];

  get length(): number {
    return this.#line.length;
  }

  /** @param late told when the time is up; `expire` then answers, unless a message came first */
  add(timeoutMs: number, max: number, late: () => void): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const unlimited = timeoutMs > TIMEOUT_MS_MAX;
      const waiting: Waiting = { max, unlimited, late: false, timer: undefined, resolve, reject };
      this.#line.push(waiting);
      if (unlimited) return;
      waiting.timer = setTimeout(() => {
        waiting.late = true;
        late();
      }, timeoutMs);
    });
  }

  /** Takes the one whose turn it is out of the line. Only when `length` is above 0. */
  next(): Waiting {
    const waiting = this.#line.shift() as Waiting;
    clearTimeout(waiting.timer);
    return waiting;
  }

  /**
   * Answers those whose time is up and for whom nothing is there.
   * @param midway a message has begun to arrive: the first in line then waits for the rest of it
   */
  expire(midway: boolean): void {
    const spared = midway ? this.#line[0] : undefined;
    for (const waiting of this.#leave((it) => it.late && it !== spared)) waiting.resolve(emptyAnswer(waiting.max));
  }

  /** Rejects everybody, or only those who would wait for ever. */
  reject(error: () => Error, unlimitedOnly: boolean): void {
    for (const waiting of this.#leave((it) => !unlimitedOnly || it.unlimited)) {
      clearTimeout(waiting.timer);
      waiting.reject(error());
    }
  }

  #leave(goes: (waiting: Waiting) => boolean): Waiting[] {
    if (this.#line.length === 0) return this.#line;
    const gone = this.#line.filter(goes);
    if (gone.length > 0) this.#line = this.#line.filter((waiting) => !gone.includes(waiting));
    return gone;
  }
}
