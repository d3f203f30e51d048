// What is asked of a server that hangs may never be answered: nothing here waits for it for ever.
import { TimeoutError } from '../errors.ts';
import type { Driver } from './driver.ts';

/** Rejects with `late()` where it takes longer; it goes on by itself then. */
export async function inTime<R>(promise: Promise<R>, ms: number, late: () => Error): Promise<R> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  try {
    return await Promise.race([promise, over]);
  } finally {
    clearTimeout(timer);
  }
}

/** When it is settled, however, or its time is up. */
export async function settledInTime(promise: Promise<unknown>, ms: number): Promise<void> {
  await inTime(promise, ms, () => new Error('late')).catch(() => {});
}

/** What took too long, and whose fault it is as far as this side knows. */
export function lateAt(driver: Driver, action: string, timeoutMs: number, otherwise: string): TimeoutError {
  const why = driver.up ? otherwise : `this side has no connection to its server at ${driver.where}`;
  return new TimeoutError(`${action}: ${why}, in ${timeoutMs} ms`, { timeoutMs, address: driver.where });
}
