// Values that a runtime clones without going through them: plain objects of primitives. Bun shares the characters of their
// texts between threads, and whatever else a native clone does otherwise than the packed codec (pooled Buffers, named
// properties of arrays) can't occur in them.

import { platform } from '#platform';
import { FLAT_KEYS_MAX } from '../limits.ts';

/** Whether `value` is such an object, with at most `textMax` characters in all. Runs no code of the value's. */
export function isFlat(value: unknown, textMax: number): boolean {
  if (typeof value !== 'object' || value === null || platform.isProxy(value)) return false;
  const prototype: object | null = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  const keys = Object.keys(value);
  if (keys.length > FLAT_KEYS_MAX) return false;
  let characters = 0;
  for (const key of keys) {
    const member = Object.getOwnPropertyDescriptor(value, key);
    if (member === undefined || !('value' in member)) return false;
    const inside: unknown = member.value;
    if (typeof inside === 'string') characters += inside.length;
    else if (typeof inside === 'symbol' || typeof inside === 'function') return false;
    else if (typeof inside === 'object' && inside !== null) return false;
  }
  return characters <= textMax;
}
