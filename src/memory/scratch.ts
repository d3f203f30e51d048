// Memory of our own for one large message at a time, kept for the next one. Above a megabyte the page faults of fresh
// memory cost more than the copy into it. What is kept is bounded, and given up when messages have become small.
import { SCRATCH_BYTES_KEPT } from '../limits.ts';
import { type Views, viewsOf } from './region.ts';

const BYTES_MIN = 64 * 1024;
/** Messages in a row that would have fitted an eighth, after which the memory is let go. */
const SMALL_IN_A_ROW_MAX = 64;

export class Scratch {
  #kept: Views | undefined;
  #smallInARow = 0;

  /** Memory of at least `bytes`, the kept one if it is large enough. It is the caller's until `give`, if ever. */
  take(bytes: number): Views {
    const kept = this.#kept;
    if (kept !== undefined && kept.bytes.length >= bytes) {
      this.#kept = undefined;
      return kept;
    }
    let size = BYTES_MIN;
    while (size < bytes) size *= 2;
    return viewsOf(new ArrayBuffer(size));
  }

  /** Takes memory back, of which `used` bytes were needed. Nobody may hold on to it. */
  give(views: Views, used: number): void {
    const size = views.bytes.length;
    this.#smallInARow = used * 8 < size ? this.#smallInARow + 1 : 0;
    if (size > SCRATCH_BYTES_KEPT || this.#smallInARow > SMALL_IN_A_ROW_MAX) return;
    if (this.#kept === undefined || this.#kept.bytes.length < size) this.#kept = views;
  }
}
