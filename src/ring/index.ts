// The door `millrace/ring`: bytes, zero copy, one way. Names only.
import { MESSAGE_BYTES_DEFAULT } from '../limits.ts';
import { allocateRegion, type LaneMemory, openRegion } from '../memory/region.ts';

export { Consumer, NONE, type RecordHandler, STOP } from './consumer.ts';
export { type Bell, FULL, Producer } from './producer.ts';
export type { LaneMemory };

/**
 * Allocates shared memory for one ring. Hand it to another thread as it is.
 * @param capacityBytes at least so many bytes; rounded up to a power of two, 64 to 2^31
 */
export function allocate(capacityBytes: number): SharedArrayBuffer {
  return allocateRegion(capacityBytes, 0, MESSAGE_BYTES_DEFAULT).memory;
}

/**
 * Checks memory from `allocate` and makes the views that `new Producer` and `new Consumer` take.
 * @throws LayoutError ERR_LAYOUT if it is not a region of this version
 */
export function open(memory: SharedArrayBuffer): LaneMemory {
  return openRegion(memory).lanes[0];
}
