// Calls where there is hardly any stack left.
/** Calls `task` so many times on the way out of a recursion that has used up the stack, with a little more left each time. */
export function withLittleStack(times: number, task: () => void): void {
  let left = times;
  const down = (): void => {
    try {
      down();
    } catch {
      // What the way out is for.
    }
    if (left-- > 0) task();
  };
  down();
}

/**
 * Calls `task` on the way out of such a recursion until it does not throw, for the first time after `skipped` returns.
 * @param spare words by which the recursion begins lower: it ends in other places of what `task` calls
 */
export function throughLittleStack(spare: number, skipped: number, task: () => void): void {
  let left = skipped;
  let done = false;
  let wrong: unknown;
  const begin = (..._spare: readonly number[]): void =>
    withLittleStack(10_000, () => {
      if (done || left-- > 0) return;
      try {
        task();
        done = true;
      } catch (error) {
        if (!(error instanceof RangeError)) wrong = error;
      }
    });
  begin(...Array<number>(spare).fill(0));
  if (wrong !== undefined) throw wrong;
}
