// Whether a channel rests on a link, as its memory says.
import * as layout from '../../src/memory/layout.ts';

interface Handle {
  readonly memory: SharedArrayBuffer;
}

/** Whether that side has joined a link. */
export function seated({ memory }: Handle, side: 0 | 1): boolean {
  return Atomics.load(new Int32Array(memory), (side === 0 ? layout.SIDE_0 : layout.SIDE_1) + layout.SEAT) !== 0;
}
export function joined(handle: Handle): boolean {
  return seated(handle, 0) && seated(handle, 1);
}
