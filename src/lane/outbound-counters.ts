// The counters of a sender in shared memory. Written by this thread only and plainly: a reader elsewhere may see them a
// little late.
import { DROPS, OUTBOX_PEAK, SENT, STALLS } from '../memory/layout.ts';
import type { LaneMemory } from '../memory/region.ts';

export class OutboundCounters {
  readonly #words: Int32Array;
  readonly #block: number;

  constructor({ words, block }: Pick<LaneMemory, 'words' | 'block'>) {
    this.#words = words;
    this.#block = block;
  }

  /** A message is in the ring, all of it. */
  sent(): void {
    const at = this.#block + SENT;
    this.#words[at] = (this.#words[at] as number) + 1;
  }
  /** A message found no room. */
  stalled(): void {
    const at = this.#block + STALLS;
    this.#words[at] = (this.#words[at] as number) + 1;
  }
  /** What the outbox tells of itself. */
  outbox(drops: number, peak: number): void {
    this.#words[this.#block + DROPS] = drops;
    this.#words[this.#block + OUTBOX_PEAK] = peak;
  }
}
