// What a program is asked for may never come: whoever has given up does not wait for it.

/** @throws (rejects) as `promise`; the signal's reason */
export async function orAborted<R>(promise: R | Promise<R>, signal: AbortSignal): Promise<R> {
  // What it says then is said to nobody.
  if (signal.aborted) Promise.resolve(promise).catch(() => {});
  signal.throwIfAborted();
  let given: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    given = () => reject(signal.reason);
    signal.addEventListener('abort', given);
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', given as () => void);
  }
}
