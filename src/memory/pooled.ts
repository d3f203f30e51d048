// Memory for what is small and soon gone. A memory of its own is zeroed, and costs the collector more than what goes into it: where the runtime has memory that
// several share, it is a part of that.
import { platformMemory } from '#platform';

interface Pool {
  allocUnsafe(bytes: number): Uint8Array<ArrayBuffer>;
}
const { Buffer: pool } = globalThis as { Buffer?: Pool };

/** Memory in which stands anything: whoever takes it writes all of it. Its buffer is others', too. */
export function pooled(bytes: number): Uint8Array<ArrayBuffer> {
  const part = pool?.allocUnsafe(bytes);
  // A program may give the pool another size, and what is not known for a part would be sent with all that lies around it.
  const isKnown = part !== undefined && (part.buffer.byteLength === bytes || isPart(part));
  return isKnown ? part : new Uint8Array(bytes);
}
function isPart(part: Uint8Array<ArrayBuffer>): boolean {
  return platformMemory.isPooled(part, part.length, part.buffer.byteLength);
}
