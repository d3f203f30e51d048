// Promises that somebody waits for: one that is settled from outside, and a line of readers served in order.
import { TIMEOUT_MS_MAX } from '../limits.ts';
import type { AbortSignalLike } from './events.ts';

export interface Settleable<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

/** @throws RangeError where the stack ends */
export function settleable<T>(): Settleable<T> {
  let resolve: ((value: T) => void) | undefined;
  let reject: ((error: unknown) => void) | undefined;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  if (resolve === undefined || reject === undefined) {
    // There was no stack to call that one: a Promise takes the error for its own, and nobody could ever settle it.
    promise.catch(() => {});
    throw new RangeError('Maximum call stack size exceeded');
  }
  return { promise, resolve, reject };
}

interface Waiter {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Readers in line. Each leaves it when it is served, when its time is up, or when its signal says so. */
export class Waiters {
  readonly #line = new Set<Waiter>();

  get length(): number {
    return this.#line.size;
  }

  /** Who is to be served next; settling it takes it out of the line. Only when `length` is above 0. */
  first(): Waiter {
    const [waiter] = this.#line;
    return waiter as Waiter;
  }

  /**
   * Joins the line.
   * @param late what to resolve with when `timeoutMs` have passed
   * @param left told whenever a reader leaves the line other than by being served
   */
  add(timeoutMs: number, late: unknown, signal: AbortSignalLike | undefined, left: () => void): Promise<unknown> {
    const { promise, resolve, reject } = settleable<unknown>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let gone = false;
    const leave = (): void => {
      gone = true;
      this.#line.delete(waiter);
      if (timer !== undefined) clearTimeout(timer);
      signal?.removeEventListener('abort', aborted);
    };
    const aborted = (): void => {
      waiter.reject((signal as AbortSignalLike).reason);
      left();
    };
    // Told first: where the stack ends in between, who has left the line without is told by nobody.
    const waiter: Waiter = {
      resolve(value) {
        resolve(value);
        leave();
      },
      reject(error) {
        reject(error);
        leave();
      },
    };
    // What is no signal throws here, and nobody stands in line.
    signal?.addEventListener('abort', aborted);
    // It may have said so at once.
    if (gone) return promise;
    this.#line.add(waiter);
    if (timeoutMs <= TIMEOUT_MS_MAX) {
      timer = setTimeout(() => {
        waiter.resolve(late);
        left();
      }, timeoutMs);
      // The port holds the process while somebody waits here, unless it was told not to: then this must not (G8).
      (timer as { unref?(): void }).unref?.();
    }
    return promise;
  }
}
