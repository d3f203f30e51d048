// Memory beside the ring of a channel of processes, for its larger messages: made by who sends them, mapped by who reads.
import { LayoutError } from '../../errors.ts';
import type { Lending } from '../../lane/lending.ts';
import { LENT_SLOTS_MAX } from '../../limits.ts';
import { type Views, viewsOf } from '../../memory/region.ts';
import { LENT, type MemoryLink } from './memory-link.ts';

export class MemoryLending implements Lending {
  readonly #link: MemoryLink;
  readonly #number: number;
  readonly #mayCome: () => boolean;
  /** What the other side has lent last, by slot. */
  readonly #borrowed: { readonly number: number; readonly views: Views }[] = [];

  /**
   * @param number of the channel
   * @param mayCome whether the other side may still say something of it
   */
  constructor(link: MemoryLink, number: number, mayCome: () => boolean) {
    this.#link = link;
    this.#number = number;
    this.#mayCome = mayCome;
  }
  lend(bytes: number, number: number, slot: number): Views | undefined {
    const { native } = this.#link;
    let descriptor: number | undefined;
    try {
      descriptor = native.createMemory(bytes);
      const { buffer } = native.map(descriptor, bytes);
      this.#link.say(LENT, this.#number, [bytes, number, slot], [descriptor]);
      return viewsOf(buffer);
    } catch {
      // There is no memory, or no descriptor, to be had just now.
      if (descriptor !== undefined) native.close(descriptor);
      return undefined;
    }
  }
  get late(): boolean {
    return this.#mayCome();
  }
  borrowed(number: number): Views | undefined {
    const found = this.#borrowed.find((each) => each?.number === number);
    if (found !== undefined) return found.views;
    this.#link.pull();
    return this.#borrowed.find((each) => each?.number === number)?.views;
  }
  /** LENT has come. @throws LayoutError */
  came(descriptor: number, bytes: number, number: number, slot: number): void {
    if (!(slot >= 0 && slot < LENT_SLOTS_MAX))
      throw new LayoutError(`Cannot take memory for slot ${slot}: there are ${LENT_SLOTS_MAX}`, { value: slot });
    try {
      const { buffer } = this.#link.native.map(descriptor, bytes);
      this.#borrowed[slot] = { number, views: viewsOf(buffer) };
    } catch (cause) {
      throw new LayoutError('Cannot map the memory that a channel has lent', { cause });
    }
  }
}
