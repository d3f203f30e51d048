/**
 * `base` with `other` in place of some of it. A call that is marked as pure, since a bundler must take a spread for one that
 * has effects, and could never leave it out.
 */
export function varied<T extends object>(base: T, other: Partial<T>): T {
  return { ...base, ...other };
}
