// The bell of this thread's event loop, where somebody has one that wakes it better than a message does, and the links over which it is rung. What it is
// made of, and how two threads come to ring each other's (bell-pair.ts), is handed in by who has that: a program of threads alone loads none of it.
import { ofAgent } from '../agent.ts';

/** A link with another thread, which both know. */
export interface RungLink {
  /** Says something about bells over it. */
  sayOfBells(what: unknown, number?: unknown): void;
  /** Rings for the other thread's event loop, in the place of a message. */
  ringer: (() => void) | undefined;
  /** This thread's bell was rung, over this link or another one. */
  heard(): void;
}

/** What has this thread's bell, and rings those of others. */
export interface Ringing {
  use(link: RungLink): void;
  /** The other thread has said so. */
  hear(link: RungLink, what: unknown, number: unknown): void;
  over(link: RungLink): void;
}

export class LoopBells {
  readonly #links = new Set<RungLink>();
  #by: Ringing | undefined;

  add(link: RungLink): void {
    this.#links.add(link);
    this.#by?.use(link);
  }
  remove(link: RungLink): void {
    this.#links.delete(link);
    this.#by?.over(link);
  }
  hear(link: RungLink, what: unknown, number: unknown): void {
    // Nobody would let go of what is held for one that is over.
    if (this.#links.has(link)) this.#by?.hear(link, what, number);
  }

  /** Whether this thread has a bell. */
  get any(): boolean {
    return this.#by !== undefined;
  }
  /**
   * From here on it has, until it ends.
   * @param make is given what is to be called from the event loop once it was rung
   */
  ringBy(make: (heard: () => void) => Ringing): void {
    if (this.#by !== undefined) return;
    this.#by = make(() => {
      for (const link of this.#links) link.heard();
    });
    for (const link of this.#links) this.#by.use(link);
  }
}

let own: LoopBells | undefined;

export function loopBells(): LoopBells {
  own ??= ofAgent('loop-bells/1', () => new LoopBells());
  return own;
}
