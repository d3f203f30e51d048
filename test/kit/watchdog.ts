// Turns a hang into a report. No test passes or fails by time: the limits here are many times what a loaded machine needs,
// and only something that would otherwise wait for ever runs into them.

import process from 'node:process';

/** Seconds that a single step of a test may take before it counts as hanging. */
export const STEP_SECONDS: number = Number(process.env['HANG_SECONDS'] ?? 60);
/** The same in milliseconds, for calls that take a time limit of their own. */
export const STEP_MS: number = STEP_SECONDS * 1000;

/** Settles as `promise` does, or rejects with what was being waited for. Keeps the process alive meanwhile. */
export async function within<T>(what: string, promise: Promise<T>, seconds: number = STEP_SECONDS): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const hang = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`hang: waited ${seconds} s for ${what}`)), seconds * 1000);
  });
  try {
    return await Promise.race([promise, hang]);
  } finally {
    clearTimeout(timer);
  }
}

/** A later turn of the event loop, after timers and I/O have had theirs. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/** Resolves once `look` is true, asked once a turn of the event loop. */
export async function until(what: string, look: () => boolean, seconds: number = STEP_SECONDS): Promise<void> {
  const end = performance.now() + seconds * 1000;
  while (!look()) {
    if (performance.now() > end) throw new Error(`hang: waited ${seconds} s until ${what}`);
    await turn();
  }
}

/** The same of what has to be asked for. */
export async function untilSo(
  what: string,
  look: () => Promise<boolean>,
  seconds: number = STEP_SECONDS,
): Promise<void> {
  const end = performance.now() + 1000 * seconds;
  while (!(await look())) {
    if (performance.now() > end) throw new Error(`hang: waited ${seconds} s until ${what}`);
    await turn();
  }
}
