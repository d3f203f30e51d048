// What a side has said and the other one has not told to have heard, by positions of the stream: what goes out again over a new line.
import { Fifo } from '../../lane/fifo.ts';
import { RESUME_MEMORY_BLOCK, RESUME_MEMORY_FIRST, RESUME_MEMORY_GROWTH } from '../../limits.ts';
import { type Views, viewsOf } from '../../memory/region.ts';
import { scratch } from '../../memory/scratch.ts';

interface Block {
  readonly memory: Views;
  /** The position of its first byte, and how many it has. */
  readonly from: number;
  length: number;
}

export class KeptBytes {
  /** Positions of the first byte that is kept, and behind the last one. */
  start = 0;
  end = 0;
  readonly #blocks = new Fifo<Block>();
  #last: Block | undefined;
  #size: number = RESUME_MEMORY_FIRST;

  get length(): number {
    return this.end - this.start;
  }

  append(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const block = this.#roomFor(bytes.length - at);
      const memory = block.memory.bytes;
      const count = Math.min(bytes.length - at, memory.length - block.length);
      memory.set(count === bytes.length ? bytes : bytes.subarray(at, at + count), block.length);
      block.length += count;
      at += count;
      this.end += count;
    }
  }
  #roomFor(bytes: number): Block {
    const last = this.#last;
    if (last !== undefined && last.length < last.memory.bytes.length) return last;
    while (this.#size < Math.min(bytes, RESUME_MEMORY_BLOCK)) this.#size *= RESUME_MEMORY_GROWTH;
    const block = { memory: memoryOf(this.#size), from: this.end, length: 0 };
    this.#size = Math.min(RESUME_MEMORY_GROWTH * this.#size, RESUME_MEMORY_BLOCK);
    this.#blocks.push(block);
    this.#last = block;
    return block;
  }

  /** What stands before this position is kept no more; it lies from `start` to `end`. */
  release(position: number): void {
    this.start = position;
    for (let first = this.#blocks.first; first !== undefined; first = this.#blocks.first) {
      if (first.from + first.length > position) return;
      this.#blocks.shift();
      if (first !== this.#last) giveBack(first);
    }
    // All of it was heard: the memory of little is had again, that of much is not kept.
    const last = this.#last;
    this.#last = undefined;
    if (last === undefined || last.memory.bytes.length > RESUME_MEMORY_FIRST) {
      if (last !== undefined) giveBack(last);
      this.#size = RESUME_MEMORY_FIRST;
    } else {
      this.#last = { memory: last.memory, from: position, length: 0 };
      this.#blocks.push(this.#last);
    }
  }
  clear(): void {
    for (const block of this.#blocks.takeAll()) giveBack(block);
    this.#last = undefined;
    this.start = this.end;
  }

  /** All of it, in its order; views, which hold until the next call. */
  *pieces(): Generator<Uint8Array, void, void> {
    for (const { memory, from, length } of this.#blocks.all()) {
      const skipped = Math.max(0, this.start - from);
      if (length > skipped) yield memory.bytes.subarray(skipped, length);
    }
  }
}

/** That of much is the thread's, and goes round. */
function memoryOf(bytes: number): Views {
  return bytes < RESUME_MEMORY_BLOCK ? viewsOf(new ArrayBuffer(bytes)) : scratch.take(bytes, bytes);
}
function giveBack({ memory, length }: Block): void {
  if (memory.bytes.length === RESUME_MEMORY_BLOCK) scratch.give(memory, length);
}
