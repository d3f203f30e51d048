// Workers of WebKit: there a wake-up of Atomics.waitAsync may stay behind. It is no task of the worker's own queue, and one that comes
// while the worker is about to sleep for its next task does not end that sleep: it is seen when anything else, a message or a timer,
// makes the event loop turn, and if nothing does, never. Decision 0058 has the reproducer.
import { LATE_WAKE_MS_MAX, LATE_WAKE_MS_MIN } from '../limits.ts';

/**
 * Whether this is such a thread. It cannot be tried out (one wake-up in some hundred stays behind, if another thread rings in the right
 * microseconds), so the engine is told by what its errors have and nobody else's: the address of their script. Bun has the
 * engine and an event loop of its own, which loses none; it has no WorkerGlobalScope.
 */
export function wakesStayBehind(): boolean {
  return 'sourceURL' in new Error('') && 'WorkerGlobalScope' in globalThis;
}

let asleep = 0;
let timer: ReturnType<typeof setTimeout> | undefined;
let waitsMs = 0;

/** Makes the event loop turn now and then until `sleep` is over, so that its wake-up is late and not lost. */
export function turnWhileAsleep(sleep: Promise<unknown>): void {
  asleep++;
  sleep.then(woken);
  // What was waited for so far says nothing about this sleep.
  if (waitsMs > LATE_WAKE_MS_MIN) clearTimeout(timer);
  else if (timer !== undefined) return;
  next(LATE_WAKE_MS_MIN);
}

function next(ms: number): void {
  waitsMs = ms;
  timer = setTimeout(turned, ms);
}

function turned(): void {
  timer = undefined;
  if (asleep > 0) next(Math.min(2 * waitsMs, LATE_WAKE_MS_MAX));
}

function woken(): void {
  asleep--;
}
