// Memory of our own for large messages, kept for the next ones. Fresh memory costs more than the copy into it: it is
// zeroed, its pages are faulted in, and the collector is told of it. What is kept is bounded, and given up when messages
// have become small.
import { SCRATCH_BYTES_KEPT, SCRATCH_BYTES_MIN, SCRATCH_SMALL_MAX } from '../limits.ts';
import { type Views, viewsOf } from './region.ts';

export class Scratch {
  /** Several: a burst that finds no room waits in a memory for each message. The one that came back last is still warm. */
  #kept: Views[] | undefined;
  #keptBytes = 0;
  #smallInARow = 0;

  /**
   * Memory of at least `bytes`, a kept one if there is one so large. It is the caller's until `give`, if ever.
   * @param most who may keep it for long says what it may have; `bytes` or more
   */
  take(bytes: number, most: number = SCRATCH_BYTES_KEPT): Views {
    const kept = this.#kept;
    if (kept !== undefined) {
      for (let i = kept.length - 1; i >= 0; i--) {
        const views = kept[i] as Views;
        if (views.bytes.length < bytes || views.bytes.length > most) continue;
        const last = kept.pop() as Views;
        if (i < kept.length) kept[i] = last;
        this.#keptBytes -= views.bytes.length;
        return views;
      }
    }
    let size = SCRATCH_BYTES_MIN;
    while (size < bytes) size *= 2;
    return viewsOf(new ArrayBuffer(size), true);
  }

  /** Takes memory back, of which `used` bytes were needed. Nobody may hold on to it. */
  give(views: Views, used: number): void {
    const size = views.bytes.length;
    this.#smallInARow = used * 8 < size ? this.#smallInARow + 1 : 0;
    if (size > SCRATCH_BYTES_KEPT || this.#smallInARow > SCRATCH_SMALL_MAX) return;
    this.#kept ??= [];
    // Larger memory does for any message: smaller makes room for it.
    while (this.#keptBytes + size > SCRATCH_BYTES_KEPT) {
      const small = this.#kept.findIndex((other) => other.bytes.length < size);
      if (small < 0) return;
      this.#keptBytes -= (this.#kept.splice(small, 1)[0] as Views).bytes.length;
    }
    this.#kept.push(views);
    this.#keptBytes += size;
  }
}

/** What all channels of a thread take turns in: what is kept for them is bounded once, and not by how many there are. */
export const scratch: Scratch = /* @__PURE__ */ new Scratch();
