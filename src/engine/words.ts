// Numbers in messages of a few bytes, for each of which a view of its own would cost more than the rest.

export function uint32At(bytes: Uint8Array, at: number): number {
  const high = ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24);
  return ((bytes[at] as number) | ((bytes[at + 1] as number) << 8) | high) >>> 0;
}
/** Little-endian. */
export function setUint32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value;
  bytes[at + 1] = value >>> 8;
  bytes[at + 2] = value >>> 16;
  bytes[at + 3] = value >>> 24;
}
