// What stands where in shared memory. The numbers live here once; docs/protocol/memory-layout.md repeats the tables
// and test/docs.test.ts holds tables, document and constants equal.
//
// A CHANNEL is one region: a header, a block of control words for each side and each lane, then the two data areas.
// Each side is attached by one thread: `channel` attaches side 0 where it is called. Lane 0 carries from side 0 to side 1, lane 1 the other way. Words that
// different threads write do not share a 64-byte line (PARK, INTERRUPT and LATEST excepted: they change hands). All control words
// but the counters are read and written with Atomics only. A RING (the one-way door `millrace/ring`) is a channel whose lane 1 has no
// data area.
//
//   word  byte   name            written by  line  meaning
//   0     0      MAGIC           creator     0     0x4543524d, the letters MRCE: this is a channel region
//   1     4      VERSION         creator     0     layout version, 1
//   2     8      CAPACITY_0      creator     0     bytes in the data area of lane 0, a power of two (2^31 reads as -2^31)
//   3     12     CAPACITY_1      creator     0     bytes in the data area of lane 1, a power of two or 0
//   4     16     MESSAGE_MAX     creator     0     bytes, largest encoded message either side may send
//   16    64     JAM             both        1     who is blocked in send and takes nothing in (transport/ring/jam.ts)
//   32    128    SIDE_0          -           2     side block of side 0 (below)
//   80    320    SIDE_1          -           5     side block of side 1
//   128   512    LANE_0          -           8     lane block of lane 0 (below)
//   176   704    LANE_1          -           11    lane block of lane 1
//   256   1024   DATA            -           16    data area of lane 0, then data area of lane 1
//
// Side block: what concerns one thread. Words are counted from the start of the block.
//
//   word  byte   name            written by  line  meaning
//   0     0      PARK            both        0     0 awake, else how this side sleeps and what it waits for
//   1     4      INTERRUPT       both        0     0, or the out-of-band word for this side
//   2     8      AWAITED         this side   0     position in its outbound lane that this side sleeps for, if PARK says so
//   3     12     SEAT            this side   0     0, or 1 + its seat in the ready set of the link that it has joined
//   16    64     CLOSED          this side   1     0 open, else why this side ended (close codes below)
//   17    68     SPILLED         this side   1     frames this side left in the side channel when it ended, -1 while they follow through its lane
//   18    72     ATTACHED        this side   1     0, then 1 once a thread has taken this side, 2 if none ever will, 16 and more on its way
//   19    76     RELEARN         this side   1     messages this side could not decode: the other one teaches anew
//   20    80     MOVES           this side   1     times this side has gone over to another thread
//   32    128    PARKS           this side   2     times this side went to sleep
//   33    132    WAKES           this side   2     times this side woke the other one
//
// Lane block: what concerns one direction. Words are counted from the start of the block.
//
//   word  byte   name            written by  line  meaning
//   0     0      TAIL            producer    0     position: bytes ever published, wraps at 2^32
//   1     4      SENT            producer    0     messages ever published
//   2     8      STALLS          producer    0     times the ring had no room for a message
//   3     12     DROPS           producer    0     messages dropped by the outbox policy
//   4     16     OUTBOX_PEAK     producer    0     most bytes that ever waited in the outbox
//   16    64     HEAD            consumer    1     position: bytes ever released, wraps at 2^32
//   17    68     RECEIVED        consumer    1     messages ever taken
//   18    72     BAD             consumer    1     payloads that could not be decoded
//   19    76     SIDE_TAKEN      consumer    1     values taken out of the side channel
//   32    128    LATEST          both        2     bits 0-1 the middle slot, bit 2 set while it holds a message not taken
//   33    132    TAKEN           consumer    2     position: bytes whose values are out, if it is later than HEAD

import type { EndReason } from '../outcome.ts';

export const LAYOUT_MAGIC = 0x4543524d;
export const LAYOUT_VERSION = 1;

export const MAGIC = 0;
export const VERSION = 1;
export const CAPACITY_0 = 2;
export const CAPACITY_1 = 3;
export const MESSAGE_MAX = 4;
export const JAM = 16;
export const SIDE_0 = 32;
export const SIDE_1 = 80;
export const LANE_0 = 128;
export const LANE_1 = 176;
export const DATA = 256;

export const PARK = 0;
export const INTERRUPT = 1;
export const AWAITED = 2;
export const SEAT = 3;
export const CLOSED = 16;
export const SPILLED = 17;
export const ATTACHED = 18;
export const RELEARN = 19;
export const MOVES = 20;
export const PARKS = 32;
export const WAKES = 33;

export const TAIL = 0;
export const SENT = 1;
export const STALLS = 2;
export const DROPS = 3;
export const OUTBOX_PEAK = 4;
export const HEAD = 16;
export const RECEIVED = 17;
export const BAD = 18;
export const SIDE_TAKEN = 19;
export const LATEST = 32;
export const TAKEN = 33;

/** Why a side ended, as it stands in CLOSED. 0 is open. */
export const CLOSE_CODES: Readonly<Record<EndReason, number>> = {
  closed: 1,
  exit: 2,
  crash: 3,
  terminated: 4,
  lost: 5,
  dropped: 6,
};
const CLOSE_REASONS: readonly (EndReason | undefined)[] = [
  undefined,
  'closed',
  'exit',
  'crash',
  'terminated',
  'lost',
  'dropped',
];

/** The reason behind a CLOSED word; a code that nobody defined is damage. */
export function closeReason(code: number): EndReason {
  return CLOSE_REASONS[code] ?? 'lost';
}
