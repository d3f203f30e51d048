// Shared memory that one end of a channel makes for the other, handed over by its lines.
import { platform, platformMemory } from '#platform';
import type { Lending } from '../../lane/lending.ts';
import { isSharedMemory, type Views, viewsOf } from '../../memory/region.ts';
import type { ChannelLines } from './channel-lines.ts';
import { MEMORY, MEMORY_HELD } from './native-values.ts';

type LentMemory = readonly [number: number, slot: number, memory: SharedArrayBuffer];

export type LendingLuggage = readonly [borrowed: readonly LentMemory[], lent: readonly LentMemory[]];

/** For each slot the newest. */
type Memories = { readonly number: number; readonly views: Views }[];

export class NativeLending implements Lending {
  readonly #lines: ChannelLines;
  /** What the other side has made, and what this one has. */
  readonly #borrowed: Memories = [];
  readonly #lent: Memories = [];

  /** The newest memory that the other side has said it holds. */
  #heldNumber: unknown;

  /** Who could say it again is gone. */
  peerGone = false;

  constructor(lines: ChannelLines) {
    this.#lines = lines;
  }

  get held(): boolean {
    return platform.canTake || (this.#heldNumber !== undefined && this.#heldNumber === this.#lent[0]?.number);
  }
  get late(): boolean {
    return !platform.canTake || this.#lines.unsettled || (this.#lines.unmet && !this.peerGone);
  }
  /** Both, for who goes on for this end. */
  get luggage(): LendingLuggage {
    return [listed(this.#borrowed), this.lent];
  }
  resume([borrowed, lent]: LendingLuggage): void {
    for (const each of borrowed) keep(this.#borrowed, ...each);
    for (const each of lent) keep(this.#lent, ...each);
  }
  /** What this side has made may have been lost on its way, with a thread that the other side has left. */
  get lent(): LentMemory[] {
    return listed(this.#lent);
  }

  lend(bytes: number, number: number, slot: number): Views | undefined {
    let memory: SharedArrayBuffer;
    try {
      memory = platformMemory.sharedMemory(bytes);
    } catch {
      return undefined;
    }
    this.#lines.post(MEMORY, [number, slot, memory], []);
    keep(this.#lent, number, slot, memory);
    return viewsOf(memory);
  }

  accept(number: unknown, slot: unknown, memory: unknown): void {
    keep(this.#borrowed, number, slot, memory);
    const { line, address } = this.#lines.joining;
    if (!platform.canTake && slot === 0) line.say([MEMORY_HELD, address, number]);
  }
  /** The other side has said so. */
  acknowledged(number: unknown): void {
    this.#heldNumber = number;
  }
  borrowed(number: number): Views | undefined {
    const found = this.#find(number);
    if (found !== undefined) return found;
    this.#lines.pull();
    return this.#find(number);
  }
  #find(number: number): Views | undefined {
    return this.#borrowed.find((it) => it?.number === number)?.views;
  }
}

/** More than one way leads here, so that an older one may come behind a newer one. */
function keep(memories: Memories, number?: unknown, slot?: unknown, memory?: unknown): void {
  // Slots are bounded: they say how many memories are kept at a time.
  if (typeof number !== 'number' || !(slot === 0 || slot === 1 || slot === 2) || !isSharedMemory(memory)) return;
  const had = memories[slot];
  if (had === undefined || ((number - had.number) | 0) > 0) memories[slot] = { number, views: viewsOf(memory) };
}
function listed(memories: Memories): LentMemory[] {
  // Leaves out the slots that have none.
  return memories.flatMap(({ number, views }, slot) => [[number, slot, views.bytes.buffer as SharedArrayBuffer]]);
}
