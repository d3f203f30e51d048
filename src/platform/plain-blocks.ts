// Block copies with the language's own means.
import type { BlockMemory } from './contract.ts';

export class PlainBlockMemory implements BlockMemory {
  readonly #bytes: Uint8Array;
  constructor(memory: SharedArrayBuffer | ArrayBuffer) {
    this.#bytes = new Uint8Array(memory, 0, memory.byteLength);
  }
  copyIn(source: Uint8Array, offset: number): void {
    this.#bytes.set(source, offset);
  }
  copyOut(target: Uint8Array, start: number, length: number, at = 0): void {
    target.set(this.#bytes.subarray(start, start + length), at);
  }
}
