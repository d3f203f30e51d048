// What a side has said and the other one has not told to have heard, by positions of the stream: what goes out again over a new line.
import { Fifo } from '../../lane/fifo.ts';
import { RESUME_MEMORY_BLOCK, RESUME_MEMORY_FIRST } from '../../limits.ts';

interface Block {
  readonly memory: Uint8Array;
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
      const count = Math.min(bytes.length - at, block.memory.length - block.length);
      block.memory.set(count === bytes.length ? bytes : bytes.subarray(at, at + count), block.length);
      block.length += count;
      at += count;
      this.end += count;
    }
  }
  #roomFor(bytes: number): Block {
    const last = this.#last;
    if (last !== undefined && last.length < last.memory.length) return last;
    while (this.#size < Math.min(bytes, RESUME_MEMORY_BLOCK)) this.#size *= 2;
    const block = { memory: new Uint8Array(this.#size), from: this.end, length: 0 };
    this.#size = Math.min(2 * this.#size, RESUME_MEMORY_BLOCK);
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
    }
    // All of it was heard: the memory of little is had again, that of much is not kept.
    const last = this.#last;
    this.#last = undefined;
    if (last === undefined || last.memory.length > RESUME_MEMORY_FIRST) this.#size = RESUME_MEMORY_FIRST;
    else {
      this.#last = { memory: last.memory, from: position, length: 0 };
      this.#blocks.push(this.#last);
    }
  }
  clear(): void {
    this.#blocks.takeAll();
    this.#last = undefined;
    this.start = this.end;
  }

  /** All of it, in its order; views, which hold until the next call. */
  *pieces(): Generator<Uint8Array, void, void> {
    for (const { memory, from, length } of this.#blocks.all()) {
      const skipped = Math.max(0, this.start - from);
      if (length > skipped) yield memory.subarray(skipped, length);
    }
  }
}
