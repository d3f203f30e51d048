// Where a pipe keeps what in the section of shared memory that it is given. The section has any size and place, was
// made by anybody, and both ends must agree without a word: so everything follows from offset and size alone, and
// zero-filled memory is an empty pipe.
//
// A section from 1,024 bytes up:
//
//   word  byte   name            written by  line  meaning
//   0     0      STATUS          both        0     0 active, -1 disposed by either side
//   1     4      WRITER_LIFE     both        0     whether a writer is there, or has ended (../life.ts)
//   2     8      READER_LIFE     both        0     whether a reader is there, or has ended
//   3     12     LOG_USED        writer      0     bytes in use of the shape log (shape-log.ts)
//   16    64     LANE            -           1     lane block (memory/layout.ts): TAIL here, HEAD 16 words on
//   48    192    READER_PARK     both        3     how the reader sleeps (wait/signal.ts)
//   49    196    READER_SLEEPS   reader      3     times it went to sleep
//   64    256    WRITER_PARK     both        4     how the writer sleeps
//   65    260    WRITER_SLEEPS   writer      4     times it went to sleep
//   80    320    DATA            -           5     ring: the largest power of two that fits, from a multiple of 8 on
//
// What is left behind the ring, up to 16 KiB of it, is the shape log. A smaller section has none, and no room for cache
// lines: HEAD stays 16 words behind TAIL, and everything else stands between.
//
//   word  byte   name            written by  line  meaning
//   0     0      STATUS          both        0     as above
//   1     4      LANE            -           0     TAIL here, HEAD at word 17
//   7     28     WRITER_LIFE     both        0     as above; the words up to 12 likewise
//   8     32     READER_LIFE     both        0
//   9     36     READER_PARK     both        0
//   10    40     READER_SLEEPS   reader      0
//   11    44     WRITER_PARK     both        0
//   12    48     WRITER_SLEEPS   writer      0
//   13    52     LOG_USED        writer      0     always 0
//   18    72     DATA            -           1     ring, as above
import { RING_CAPACITY_MIN } from '../../limits.ts';
import type { LaneMemory, Views } from '../../memory/region.ts';
import type { LogMemory } from './shape-log.ts';

/** Bytes of a section from which on cache lines are kept apart. */
const WIDE_BYTES = 1024;
const WIDE = {
  writerLife: 1,
  readerLife: 2,
  logUsed: 3,
  lane: 16,
  readerPark: 48,
  readerSleeps: 49,
  writerPark: 64,
  writerSleeps: 65,
  data: 320,
} as const;
const NARROW = {
  writerLife: 7,
  readerLife: 8,
  logUsed: 13,
  lane: 1,
  readerPark: 9,
  readerSleeps: 10,
  writerPark: 11,
  writerSleeps: 12,
  data: 72,
} as const;
/** Bytes of the smallest ring: its records must take the prefix of a message in parts and something of the message. */
const RING_BYTES_MIN = RING_CAPACITY_MIN;
/** Bytes of the shape log at the most: a few hundred kinds of objects. */
const LOG_BYTES_MAX = 16 * 1024;

/** A pipe's places, as word indices into `views.words`. */
export interface PipeMemory {
  readonly views: Views;
  readonly lane: LaneMemory;
  readonly status: number;
  readonly writerLife: number;
  readonly readerLife: number;
  readonly readerPark: number;
  readonly readerSleeps: number;
  readonly writerPark: number;
  readonly writerSleeps: number;
  readonly log: LogMemory;
}

/** Lays a pipe out in `sectionSize` bytes from `byteOffset` (a multiple of 4); `null` if they are too few for one. */
export function layOut(views: Views, byteOffset: number, sectionSize: number): PipeMemory | null {
  const places = sectionSize >= WIDE_BYTES ? WIDE : NARROW;
  const data = (byteOffset + places.data + 7) & -8;
  const room = byteOffset + sectionSize - data;
  if (room < RING_BYTES_MIN) return null;
  let capacity = RING_BYTES_MIN;
  while (capacity * 2 <= room) capacity *= 2;
  const base = byteOffset >>> 2;
  const { words, bytes } = views;
  return {
    views,
    lane: { words, bytes, block: base + places.lane, data, capacity },
    status: base,
    writerLife: base + places.writerLife,
    readerLife: base + places.readerLife,
    readerPark: base + places.readerPark,
    readerSleeps: base + places.readerSleeps,
    writerPark: base + places.writerPark,
    writerSleeps: base + places.writerSleeps,
    log: {
      used: base + places.logUsed,
      data: data + capacity,
      capacity: places === WIDE ? Math.min(LOG_BYTES_MAX, (room - capacity) & -8) : 0,
    },
  };
}
