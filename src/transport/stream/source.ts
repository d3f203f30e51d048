// Records that came over a byte stream: they are kept until the port asks for them, in memory that grows with what is under
// way, to twice the credit that was given at the most (B1 in sink.ts), and is the thread's again once all is read: a connection may
// have thousands of channels that were busy once. A record counts when all of it has come.
import { LayoutError } from '../../errors.ts';
import { HEADER_BYTES, recordBytes } from '../../frame/header.ts';
import type { RecordSource } from '../../lane/records.ts';
import { SCRATCH_BYTES_MIN, STREAM_MEMORY_FIRST } from '../../limits.ts';
import { type Views, viewsOf } from '../../memory/region.ts';
import { scratch } from '../../memory/scratch.ts';
import { NONE } from '../../ring/consumer.ts';

export class StreamSource implements RecordSource {
  /** The credit: bytes that may lie here at a time. */
  readonly capacity: number;
  length = 0;
  kind = 0;
  /** Bytes of records that were advanced over since the channel was opened, and those that came. */
  taken = 0;
  came = 0;
  readonly #told: () => void;
  #memory: Views | undefined;
  // Byte offsets: what is kept starts at #kept, is read up to #cursor, holds whole records up to #whole, and bytes up to #end.
  #kept = 0;
  #cursor = 0;
  #whole = 0;
  #end = 0;
  /** Where the frame at hand ends. */
  #frameEnd = 0;

  /** @param told called when something was taken */
  constructor(window: number, told: () => void) {
    this.capacity = window;
    this.#told = told;
  }

  get views(): Views {
    return this.#memory as Views;
  }
  get ready(): boolean {
    return this.#cursor !== this.#whole;
  }
  get caughtUp(): boolean {
    return this.#cursor === this.#whole;
  }
  /** Whether everything that ever came was advanced over: nobody need look for more. */
  get readOut(): boolean {
    return this.taken === this.came;
  }
  get held(): number {
    return this.#cursor - this.#kept;
  }

  peek(): number {
    if (this.#cursor === this.#whole) return NONE;
    const { words } = this.views;
    const at = this.#cursor >>> 2;
    this.length = words[at] as number;
    this.kind = words[at + 1] as number;
    return this.#cursor + HEADER_BYTES;
  }
  advance(): void {
    const bytes = recordBytes(this.length);
    this.#cursor += bytes;
    this.taken += bytes;
  }
  /** The memory is our own: nothing is gained by giving it back in batches. */
  tell(): void {
    this.release();
  }
  release(): void {
    if (this.#kept === this.#cursor) return;
    this.#kept = this.#cursor;
    if (this.#kept === this.#end && this.#end === this.#frameEnd) this.#giveBack();
    this.#told();
  }

  /**
   * A frame of so many bytes of records begins.
   * @param limit position up to which credit was given
   * @throws LayoutError if that is more
   */
  begin(bytes: number, limit: number): void {
    if (this.came + bytes > limit) {
      throw new LayoutError(`Cannot take ${bytes} bytes at ${this.came}: credit was given up to ${limit}`, {
        length: bytes,
        limit,
      });
    }
    this.#makeRoom(bytes);
    this.#frameEnd = this.#end + bytes;
  }

  /** Its next bytes. @throws LayoutError if they can be no records */
  add(bytes: Uint8Array, start: number, end: number): void {
    const { words } = this.views;
    this.views.bytes.set(bytes.subarray(start, end), this.#end);
    this.#end += end - start;
    this.came += end - start;
    while (this.#end - this.#whole >= HEADER_BYTES) {
      const length = words[this.#whole >>> 2] as number;
      // The frame is a multiple of 8, so the padding fits where the payload does. A negative length is a huge one here.
      if (length >>> 0 > this.#frameEnd - this.#whole - HEADER_BYTES || recordBytes(length) * 2 > this.capacity) {
        throw new LayoutError(`Cannot take a record of ${length} bytes: it does not lie in its frame`, { length });
      }
      if (this.#whole + recordBytes(length) > this.#end) return;
      this.#whole += recordBytes(length);
    }
  }

  /** Whether the frame ends where a record does. */
  get endsWhole(): boolean {
    return this.#whole === this.#end && this.#end === this.#frameEnd;
  }

  /** What is still to be read moves to the start when the end is reached, and into more memory when it must. */
  #makeRoom(bytes: number): void {
    const need = this.#end - this.#kept + bytes;
    let memory = this.#memory;
    if (memory === undefined || memory.bytes.length < need) {
      let size: number = memory?.bytes.length ?? STREAM_MEMORY_FIRST;
      // Twice as much, so that what is kept moves once for as many bytes as it has, and not for every frame.
      while (size < 2 * need) size *= 2;
      memory = this.#memoryOf(size);
      const before = this.#memory;
      if (before !== undefined) {
        memory.bytes.set(before.bytes.subarray(this.#kept, this.#end));
        if (before.bytes.length >= SCRATCH_BYTES_MIN) scratch.give(before, this.#end);
      }
    } else if (this.#end + bytes <= memory.bytes.length) return;
    else memory.bytes.copyWithin(0, this.#kept, this.#end);
    this.#memory = memory;
    this.#cursor -= this.#kept;
    this.#whole -= this.#kept;
    this.#end -= this.#kept;
    this.#kept = 0;
  }

  #memoryOf(size: number): Views {
    return size < SCRATCH_BYTES_MIN ? viewsOf(new ArrayBuffer(size)) : scratch.take(size, 2 * this.capacity);
  }
  /** Nothing is kept, and no frame is under way. Small memory stays: it costs more to have it anew. */
  #giveBack(): void {
    const memory = this.#memory;
    const used = this.#end;
    if (memory === undefined || memory.bytes.length < SCRATCH_BYTES_MIN) return;
    this.#memory = undefined;
    this.#kept = 0;
    this.#cursor = 0;
    this.#whole = 0;
    this.#end = 0;
    this.#frameEnd = 0;
    scratch.give(memory, used);
  }
}
