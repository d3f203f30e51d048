// The reader's part of what lies neither in the ring nor in a slot: in memory that its sender has made and handed over (annex.ts,
// latest-growth.ts). A record says where; every word of it is read once, and checked.
import { LayoutError } from '../errors.ts';
import { ELSEWHERE_BYTES } from '../frame/header.ts';
import type { Views } from '../memory/region.ts';

export class Elsewhere {
  readonly #find: (number: number) => Views | undefined;
  readonly #messageMax: number;
  /** The memory that the last message lay in, and its number. */
  #memory: Views | undefined;
  #number = 0;
  /** Bytes of it that were read since room was last given back. */
  #held = 0;
  /** Where the message lies that `look` found last. */
  start = 0;
  length = 0;
  kind = 0;

  /** @param find memory `number`; undefined while it has not arrived */
  constructor(find: (number: number) => Views | undefined, messageMax: number) {
    this.#find = find;
    this.#messageMax = messageMax;
  }

  /** Memory `number`, which stays what it is. */
  memory(number: number): Views | undefined {
    if (this.#memory === undefined || this.#number !== number) {
      this.#memory = this.#find(number);
      this.#number = number;
    }
    return this.#memory;
  }

  /**
   * Reads a record of `length` bytes at word `at`. The memory that it names, or its number while that has not arrived.
   * @throws LayoutError if the message cannot lie there
   */
  look(words: Int32Array, at: number, length: number): Views | number {
    if (length < ELSEWHERE_BYTES) {
      throw new LayoutError(`Cannot decode: ${length} bytes do not say where a message lies`, { length });
    }
    this.length = words[at] as number;
    this.kind = words[at + 1] as number;
    const number = words[at + 2] as number;
    this.start = words[at + 3] as number;
    const memory = this.memory(number);
    if (memory === undefined) return number;
    const size = memory.bytes.length;
    if (this.start >>> 0 > size || this.length >>> 0 > Math.min(size - this.start, this.#messageMax)) {
      throw this.missing(number);
    }
    return memory;
  }

  /** The message was read; whether a quarter of the memory is to be given back by now. */
  hold(memory: Views): boolean {
    this.#held += this.length;
    return this.#held * 4 >= memory.bytes.length;
  }
  released(): void {
    this.#held = 0;
  }

  missing(number: number): LayoutError {
    return new LayoutError(
      `Cannot decode: ${this.length} bytes should lie in memory ${number}, which does not hold them`,
      { length: this.length },
    );
  }
}
