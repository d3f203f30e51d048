// The worker's end of an MWChannel: values that came over the native port. A record in the pipe keeps the place of each.
import { type Beside, type BesideValue, NOTHING_BESIDE } from '../../lane/beside.ts';
import { EMPTY } from '../../outcome.ts';

export class BesideValues {
  /** The lane's way to them. */
  readonly beside: Beside = { ...NOTHING_BESIDE, take: (number) => this.#take(number) };
  /** The ones that came and were not asked for yet, oldest first. */
  readonly #values = new Map<number, unknown>();
  /** Where values cannot be taken at will: numbers whose place came before their value. */
  readonly #missed = new Set<number>();
  readonly #takeIn: () => boolean;

  /** @param takeIn takes in what comes next over the native port; false if there is nothing, or it cannot be had now */
  constructor(takeIn: () => boolean) {
    this.#takeIn = takeIn;
  }

  /** A value has come. False: its place was read before it, so it is to be read now. */
  add(number: number, value: unknown): boolean {
    if (this.#missed.delete(number)) return false;
    this.#values.set(number, value);
    return true;
  }

  /** Nothing there is no reason to wait: what belongs there follows as soon as it has come, if it ever does. */
  #take(number: number): BesideValue {
    while (!this.#values.has(number) && this.#takeIn());
    if (!this.#values.has(number)) {
      this.#missed.add(number);
      return { value: EMPTY, ports: [] };
    }
    const value = this.#values.get(number);
    // What stands before it was dropped by a limit.
    for (const earlier of this.#values.keys()) {
      this.#values.delete(earlier);
      if (earlier === number) break;
    }
    return { value, ports: [] };
  }
}
