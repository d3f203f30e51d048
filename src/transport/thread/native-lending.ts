// Shared memory that one end of a channel makes for the other, handed over by its lines.
import { platform, platformMemory } from '#platform';
import type { Lending } from '../../lane/lending.ts';
import { isSharedMemory, type Views, viewsOf } from '../../memory/region.ts';
import type { ChannelLines } from './channel-lines.ts';
import { MEMORY } from './native-values.ts';

export type LentMemory = readonly [number: number, slot: number, memory: SharedArrayBuffer];

export class NativeLending implements Lending {
  readonly #lines: ChannelLines;
  /** What the other side has made: one memory for each of its slots, the newest. */
  #memories: { readonly number: number; readonly views: Views }[] | undefined;

  constructor(lines: ChannelLines) {
    this.#lines = lines;
  }

  get late(): boolean {
    return !platform.canTake || this.#lines.unsettled;
  }
  /** What the other side has made, for who goes on for this end: number, slot, memory. */
  get luggage(): LentMemory[] {
    return (this.#memories ?? []).flatMap((it, slot) =>
      it === undefined ? [] : [[it.number, slot, it.views.bytes.buffer as SharedArrayBuffer]],
    );
  }

  lend(bytes: number, number: number, slot: number): Views | undefined {
    let memory: SharedArrayBuffer;
    try {
      memory = platformMemory.sharedMemory(bytes);
    } catch {
      return undefined;
    }
    this.#lines.post(MEMORY, [number, slot, memory], []);
    return viewsOf(memory);
  }

  /** Two ways lead here, so that an older one may come behind a newer one. */
  accept(number: unknown, slot: unknown, memory: unknown): void {
    if (typeof number !== 'number' || !isSlot(slot) || !isSharedMemory(memory)) return;
    this.#memories ??= [];
    const had = this.#memories[slot];
    if (had === undefined || ((number - had.number) | 0) > 0) this.#memories[slot] = { number, views: viewsOf(memory) };
  }
  borrowed(number: number): Views | undefined {
    const found = this.#find(number);
    if (found !== undefined) return found;
    this.#lines.pull();
    return this.#find(number);
  }
  #find(number: number): Views | undefined {
    return this.#memories?.find((it) => it?.number === number)?.views;
  }
}

/** Bounded, because it says how many memories are kept at a time. */
function isSlot(value: unknown): value is 0 | 1 | 2 {
  return value === 0 || value === 1 || value === 2;
}
