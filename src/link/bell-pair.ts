// How two threads of a link come to ring each other's bells, in the place of messages.
//
// A bell is known by a number, which something else is given once its thread has ended. So whoever is told of one takes hold of what
// has that number, and asks. All is said over the link, once both threads know it:
//
//   T  BELL   this number is my bell's
//   R  HELD   I have hold of what has it; do you live?
//   T  THERE  I do
//
// A thread has its bell until it ends, and T has answered since R took hold: so it had the number then, and R holds T's bell, whatever is
// given the number later. What R holds without that answer it never rings. Both may say all of it at once. A thread that has no bell hears
// nothing of this; so who is told of one says BELL once more, for the other may have had none before.
import type { Ringing, RungLink } from './loop-bells.ts';

export const BELL = 1;
export const HELD = 2;
export const THERE = 3;

/** A bell of another thread: this thread's until it closes it, or ends. */
export interface HeldBell {
  ring(): void;
  close(): void;
}

/** This thread's, as long as it lives. */
export interface LoopBell {
  /** By which other threads come to it. Once this thread has ended, something else may have the number. */
  readonly number: number;
  /** Takes hold of the bell that has this number now; `undefined` if none has. Never throws. */
  hold(number: unknown): HeldBell | undefined;
}

export class BellPairs implements Ringing {
  readonly #own: LoopBell;
  /** Of links whose other thread has told of a bell, what is held. The first is believed: whoever says more costs us nothing. */
  readonly #held = new Map<RungLink, HeldBell | undefined>();

  constructor(own: LoopBell) {
    this.#own = own;
  }

  use(link: RungLink): void {
    link.sayOfBells(BELL, this.#own.number);
  }
  hear(link: RungLink, what: unknown, number: unknown): void {
    if (what === BELL && !this.#held.has(link)) {
      const held = this.#own.hold(number);
      this.#held.set(link, held);
      this.use(link);
      if (held !== undefined) link.sayOfBells(HELD);
    } else if (what === HELD) link.sayOfBells(THERE);
    else if (what === THERE) {
      const held = this.#held.get(link);
      if (held !== undefined) link.ringer = () => held.ring();
    }
  }
  over(link: RungLink): void {
    link.ringer = undefined;
    this.#held.get(link)?.close();
    this.#held.delete(link);
  }
}
