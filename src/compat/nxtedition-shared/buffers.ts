// What `alloc` returns and what the callbacks are given.
//
// `sharedBuffer` is a one-way region (memory/layout.ts): the ring and its positions. `sharedState` holds what our
// options add, who sleeps and who has closed; each side's words on a line of their own:
//
//   word  byte   name            written by  line  meaning
//   0     0      WRITER_PARK     both        0     how the writer sleeps (wait/signal.ts)
//   1     4      WRITER_LIFE     both        0     whether a writer is there, or has closed (../life.ts)
//   2     8      WRITER_SLEEPS   writer      0     times the writer went to sleep
//   16    64     READER_PARK     both        1     how the reader sleeps
//   17    68     READER_LIFE     both        1     whether a reader is there, or has closed
//   18    72     READER_SLEEPS   reader      1     times the reader went to sleep
import { platformMemory } from '#platform';
import { UsageError } from '../../errors.ts';
import { checkSharedMemory } from '../../memory/region.ts';
import type { HostBuffer } from '../../platform/host-types.ts';
import { allocate, type LaneMemory, open } from '../../ring/index.ts';

export const WRITER_PARK = 0;
export const WRITER_LIFE = 1;
export const WRITER_SLEEPS = 2;
export const READER_PARK = 16;
export const READER_LIFE = 17;
export const READER_SLEEPS = 18;
const STATE_BYTES = 128;
/** The document says "max ~2 GB"; what a signed 32-bit number holds. */
const SIZE_MAX: number = 2 ** 31 - 1;

export interface SharedBuffers {
  sharedState: SharedArrayBuffer;
  sharedBuffer: SharedArrayBuffer;
}

export interface BufferRegion {
  buffer: HostBuffer;
  view: DataView;
  offset: number;
  length: number;
  byteOffset: number;
  byteLength: number;
}

/**
 * Allocates the memory of one ring. Pass both buffers to the other thread as they are.
 * @param size bytes, 1 to 2^31 - 1; the ring is the next power of two, and one record takes at most half of it
 * @throws UsageError ERR_OPTION for any other size; UnsupportedError ERR_UNSUPPORTED on a page that is not isolated
 */
export function alloc(size: number): SharedBuffers {
  if (!Number.isInteger(size) || size <= 0 || size > SIZE_MAX) {
    throw new UsageError(
      'ERR_OPTION',
      `Cannot allocate ${String(size)} bytes: size must be a whole number from 1 to ${SIZE_MAX}`,
      { option: 'size', value: size, limit: SIZE_MAX },
    );
  }
  checkSharedMemory('make a ring');
  return { sharedState: new SharedArrayBuffer(STATE_BYTES), sharedBuffer: allocate(size) };
}

/** Checks what the other side handed over, and makes the views. @throws UnsupportedError without shared memory */
export function openBuffers({ sharedState, sharedBuffer }: SharedBuffers): { lane: LaneMemory; state: Int32Array } {
  checkSharedMemory('open the ring');
  if (!(sharedState instanceof SharedArrayBuffer) || sharedState.byteLength < STATE_BYTES) {
    throw new UsageError('ERR_OPTION', 'Cannot open the ring: sharedState is not what alloc returned', {
      option: 'sharedState',
    });
  }
  return { lane: open(sharedBuffer), state: new Int32Array(sharedState) };
}

/** The object that one reader or writer shows to every callback. */
export function createRegion(memory: SharedArrayBuffer): BufferRegion {
  const buffer = platformMemory.byteView(memory) as HostBuffer;
  return { buffer, view: new DataView(memory), offset: 0, length: 0, byteOffset: 0, byteLength: 0 };
}
