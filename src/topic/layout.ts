// What stands where in the memory of a topic. The numbers live here once; docs/protocol/topic.md repeats the tables and
// test/docs.test.ts holds tables, document and constants equal.
//
// All words are read and written with Atomics only. Those of the writer and those of the readers do not share a 64-byte line.
//
//   word  byte   name            written by  line  meaning
//   0     0      MAGIC           writer      0     0x5054524d, the letters MRTP: this is the memory of a topic
//   1     4      VERSION         writer      0     version of this layout, 1
//   2     8      CAPACITY        writer      0     bytes in the data area, a power of two
//   3     12     MESSAGE_MAX     writer      0     bytes, largest encoded message
//   4     16     SEATS           writer      0     seats for readers that are not skipped
//   16    64     INTENT          writer      1     position: before it, less the capacity, records may have been written over
//   17    68     TAIL            writer      1     position behind the newest record
//   18    72     NEWEST          writer      1     position of the newest record, 0 before the first
//   32    128    CLOSED          who knows   2     0 open, else why the writer ended (memory/layout.ts)
//   48    192    PARK            all         3     1 if some reader is about to sleep
//   49    196    SIGNAL          who wakes   3     what readers sleep on: changes with each waking
//   64    256    WRITER_PARK     all         4     how the writer sleeps that waits for a reader (wait/signal.ts)
//   65    260    WRITER_PARKS    writer      4     times it did
//   80    320    SEAT_0          -           5     the first seat; each further one is 16 words behind it; then the data area
//
// A seat, of a reader that is not skipped. Words are counted from the start of the seat.
//
//   word  byte   name            written by  line  meaning
//   0     0      HOLDER          both        0     0 free, the number of the reader's handle, or below 0 while it sits down
//   1     4      CURSOR          its reader  0     position: everything before it was copied by this reader

export const LAYOUT_MAGIC = 0x5054524d;
export const LAYOUT_VERSION = 1;

export const MAGIC = 0;
export const VERSION = 1;
export const CAPACITY = 2;
export const MESSAGE_MAX = 3;
export const SEATS = 4;
export const INTENT = 16;
export const TAIL = 17;
export const NEWEST = 18;
export const CLOSED = 32;
export const PARK = 48;
export const SIGNAL = 49;
export const WRITER_PARK = 64;
export const WRITER_PARKS = 65;
export const SEAT_0 = 80;

export const HOLDER = 0;
export const CURSOR = 1;
export const SEAT_WORDS = 16;
