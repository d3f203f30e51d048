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
