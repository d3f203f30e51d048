// The door `millrace/ring`: bytes, zero copy, one way. Names only.
import { platformMemory } from '#platform';
import { MESSAGE_BYTES_DEFAULT } from '../limits.ts';
import { allocateMemory, type LaneMemory, openLane } from '../memory/region.ts';
import type { BlockMemory } from '../platform/contract.ts';

export { Consumer, NONE, type RecordHandler, STOP } from './consumer.ts';
export { type Bell, FULL, Producer } from './producer.ts';
export type { BlockMemory, LaneMemory };

/**
 * Allocates shared memory for one ring. Hand it to another thread as it is.
 * @param capacityBytes at least so many bytes; rounded up to a power of two, 64 to 2^31
 * @example
 * ```ts
 * import { allocate, Consumer, open, Producer } from 'millrace/ring';
 *
 * const memory = allocate(4096); // goes to the other thread, which opens it too
 * const producer = new Producer(open(memory));
 * const offset = producer.tryClaim(3); // FULL when there is no room
 * producer.bytes.set([1, 2, 3], offset);
 * producer.commit();
 *
 * const consumer = new Consumer(open(memory));
 * let sum = 0;
 * consumer.drain((bytes, start, length) => {
 *   for (let i = start; i < start + length; i++) sum += bytes[i];
 * });
 * if (sum !== 6) throw new Error(`${sum}`);
 * ```
 */
export function allocate(capacityBytes: number): SharedArrayBuffer {
  return allocateMemory(capacityBytes, 0, MESSAGE_BYTES_DEFAULT);
}

/**
 * Checks memory from `allocate` and makes the views that `new Producer` and `new Consumer` take. `blocks` copies whole
 * payloads in and out the fastest way this runtime has.
 * @throws LayoutError ERR_LAYOUT if it is not a region of this version
 */
export function open(memory: SharedArrayBuffer): RingMemory {
  return { ...openLane(memory), blocks: platformMemory.blockMemory(memory) };
}

export interface RingMemory extends LaneMemory {
  readonly blocks: BlockMemory;
}
