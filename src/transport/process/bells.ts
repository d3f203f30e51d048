// How a thread that waits for many channels sleeps, where these lead to other processes: nobody there reaches the word that threads wake each
// other by (link/layout.ts), but all ring a descriptor, and one poll(2) waits for those of all links.
import { ofAgent } from '../../agent.ts';
import type { SleepsBy } from '../../link/own-agent.ts';
import { DESCRIPTORS_MAX, type Primitives, READABLE } from '../../native/primitives.ts';
import type { Bell } from './bell.ts';

/** A link whose bell it is. */
export interface Rung {
  /** It was rung while this thread is blocked, and is silent again: the event loop will hear nothing of it. */
  rungBlocked(): void;
}

const FIELDS = 3;

export class Bells implements SleepsBy {
  readonly #native: Pick<Primitives, 'poll'>;
  readonly #links = new Map<Bell, Rung>();
  /** Those that one call can wait for, and of poll(2) for each: descriptor, asked, answered. Others are looked at in slices. */
  #bells: readonly Bell[] = [];
  #table = new Int32Array(0);

  constructor(native: Pick<Primitives, 'poll'>) {
    this.#native = native;
  }

  add(bell: Bell, link: Rung): void {
    this.#links.set(bell, link);
    this.#list([...this.#bells, bell].slice(0, DESCRIPTORS_MAX));
  }
  remove(bell: Bell): void {
    this.#links.delete(bell);
    // One that found no place has one now.
    const others = [...this.#links.keys()].filter((each) => !this.#bells.includes(each));
    const left = this.#bells.filter((each) => each !== bell);
    this.#list([...left, ...others].slice(0, DESCRIPTORS_MAX));
  }
  #list(bells: readonly Bell[]): void {
    this.#bells = bells;
    this.#table = Int32Array.from(bells.flatMap(({ descriptor }) => [descriptor, READABLE, 0]));
  }

  sleep(timeoutMs: number): boolean {
    const table = this.#table;
    const bells = this.#bells;
    // Rounded up: a part of a millisecond would be none, and this thread would not sleep at all.
    if (this.#native.poll(table, bells.length, Math.ceil(timeoutMs)) <= 0) return false;
    for (let i = 0; i < bells.length; i++) {
      if (table[i * FIELDS + 2] === 0) continue;
      const bell = bells[i] as Bell;
      const heard = bell.take();
      // Silent before anybody looks: the other side rings behind what is to be seen.
      if (heard === 'rung') this.#links.get(bell)?.rungBlocked();
      // It would end every sleep at once. Whoever is behind it is looked at in slices.
      else if (heard === 'over') this.#list(this.#bells.filter((each) => each !== bell));
    }
    return true;
  }
}

/** This thread's. */
export function ownBells(native: Primitives): Bells {
  return ofAgent('bells/1', () => new Bells(native));
}
