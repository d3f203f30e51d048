// Who is told when a signal aborts. One listener a signal, however many calls it is for: engines take many for a leak, and warn of the eleventh.
import type { AbortSignalLike } from '../port/events.ts';

interface Heard {
  readonly told: Set<() => void>;
  readonly listener: () => void;
}
const heard: WeakMap<AbortSignalLike, Heard> = new WeakMap();

/** @param tell a function that waits for this signal alone, and does not throw */
export function whenAborted(signal: AbortSignalLike, tell: () => void): void {
  let its = heard.get(signal);
  if (its === undefined) {
    const told = new Set<() => void>();
    its = {
      told,
      listener: () => {
        for (const one of [...told]) one();
      },
    };
    signal.addEventListener('abort', its.listener);
    heard.set(signal, its);
  }
  its.told.add(tell);
}
export function notWhenAborted(signal: AbortSignalLike, tell: () => void): void {
  const its = heard.get(signal);
  if (its === undefined || !its.told.delete(tell) || its.told.size > 0) return;
  heard.delete(signal);
  signal.removeEventListener('abort', its.listener);
}
