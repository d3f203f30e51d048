// Memory for what is small and soon gone. A memory of its own is zeroed, and costs the collector more than what goes into it: where the runtime has memory that
// several share, it is a part of that.
interface Pool {
  allocUnsafe(bytes: number): Uint8Array<ArrayBuffer>;
}
const { Buffer: pool } = globalThis as { Buffer?: Pool };

/** Memory in which stands anything: whoever takes it writes all of it. Its buffer is others', too. */
export function pooled(bytes: number): Uint8Array<ArrayBuffer> {
  return pool === undefined ? new Uint8Array(bytes) : pool.allocUnsafe(bytes);
}
