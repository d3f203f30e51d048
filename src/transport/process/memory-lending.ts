// Memory beside the ring of a channel of processes, for its larger messages: made by who sends them, mapped by who reads. A channel lends once, the
// annex of its lane: the newest message's slots, which grow, are not to be had between processes.
import { LayoutError } from '../../errors.ts';
import type { Lending } from '../../lane/lending.ts';
import { ANNEX_BYTES } from '../../limits.ts';
import { type Views, viewsOf } from '../../memory/region.ts';
import { LENT, type MemoryLink } from './memory-link.ts';

export class MemoryLending implements Lending {
  /** Who blocks takes from the line what it is told. */
  readonly held = true;
  readonly #link: MemoryLink;
  readonly #number: number;
  readonly #mayCome: () => boolean;
  /** What the other side has lent. */
  #borrowed: { readonly number: number; readonly views: Views } | undefined;

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
      descriptor = this.#link.createMemory(bytes);
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
    if (this.#borrowed === undefined) this.#link.pull();
    return this.#borrowed?.number === number ? this.#borrowed.views : undefined;
  }
  /** LENT has come. @throws LayoutError */
  came(descriptor: number, bytes: number, number: number, slot: number): void {
    if (slot !== 0) throw new LayoutError(`Cannot take memory for slot ${slot}: a channel has one, 0`, { value: slot });
    if (bytes > ANNEX_BYTES) {
      const text = `Cannot take ${bytes} bytes of memory beside a channel: ${ANNEX_BYTES} at the most`;
      throw new LayoutError(text, { length: bytes, limit: ANNEX_BYTES });
    }
    // Mapped until it is collected, which no bound would force: who may lend again has us map without end.
    if (this.#borrowed !== undefined) throw new LayoutError('Cannot take memory beside a channel twice');
    try {
      const { buffer } = this.#link.native.map(descriptor, bytes);
      this.#borrowed = { number, views: viewsOf(buffer) };
    } catch (cause) {
      throw new LayoutError('Cannot map the memory that a channel has lent', { cause });
    }
  }
}
