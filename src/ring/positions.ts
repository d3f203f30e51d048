// Positions count the bytes since the ring was made, in 32 bits that wrap.

/** Bytes from one position to a later one. `| 0` says that both are such numbers; V8 would subtract doubles instead. */
export function distance(from: number, to: number): number {
  return ((to | 0) - (from | 0)) >>> 0;
}
