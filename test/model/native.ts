// Native ports of a model, made of its shared memory, so that their messages come at every possible moment.
//
// The tether of each side is one word: bit 0 says that messages (they are all the number 0) have come, bit 1 that the
// other side is gone. The side port of each side is a row of words; each holds the number of a message.
import type { TetherHandlers } from '../../src/platform/contract.ts';
import { dump } from '../kit/explore-actor.ts';
import type { ModelPort } from './platform.ts';

const RUNG = 1;
const GONE = 2;

/** Messages by number, kept for good: equal messages have equal numbers, whichever run made them. */
const contents: unknown[] = [undefined];
const numbers: Map<string, number> = new Map();

function numberOf(message: unknown): number {
  const text = dump(message);
  let number = numbers.get(text);
  if (number === undefined) {
    numbers.set(text, (number = contents.length));
    contents.push(structuredClone(message));
  }
  return number;
}

/** One end of the tether. `probed` is called whenever the thread asks, between two slices of a sleep, who is gone. */
export class TetherEnd implements ModelPort {
  readonly #words: Int32Array;
  readonly #here: number;
  readonly #there: number;
  readonly #onLoop: boolean;
  readonly #probed: () => void;

  constructor(words: Int32Array, here: number, there: number, onLoop: boolean, probed: () => void) {
    this.#words = words;
    this.#here = here;
    this.#there = there;
    this.#onLoop = onLoop;
    this.#probed = probed;
  }

  postMessage(): void {
    Atomics.or(this.#words, this.#there, RUNG);
    Atomics.notify(this.#words, this.#there);
  }

  close(): void {
    tetherGone(this.#words, this.#there);
  }

  take(): { message: number } | undefined {
    if ((Atomics.load(this.#words, this.#here) & RUNG) === 0) return undefined;
    Atomics.and(this.#words, this.#here, ~RUNG);
    return { message: 0 };
  }

  gone(): boolean {
    this.#probed();
    return (Atomics.load(this.#words, this.#here) & GONE) !== 0;
  }

  /** A thread that blocks never comes back to its event loop, so it hears nothing. */
  listen(handlers: TetherHandlers): void {
    if (this.#onLoop) void this.#deliver(handlers);
  }

  async #deliver(handlers: TetherHandlers): Promise<void> {
    await undefined;
    for (;;) {
      const bits = Atomics.load(this.#words, this.#here);
      if ((bits & RUNG) !== 0) {
        Atomics.and(this.#words, this.#here, ~RUNG);
        handlers.message(0);
      } else if ((bits & GONE) !== 0) {
        handlers.closed();
        return;
      } else {
        const next = Atomics.waitAsync(this.#words, this.#here, bits);
        if (next.async) await next.value;
      }
    }
  }
}

/** What the runtime does when a thread, or its end of a native port, has gone. */
export function tetherGone(words: Int32Array, tether: number): void {
  Atomics.or(words, tether, GONE);
  Atomics.notify(words, tether);
}

export class SideEnd implements ModelPort {
  readonly #words: Int32Array;
  readonly #here: number;
  readonly #there: number;
  #sent = 0;
  #taken = 0;

  constructor(words: Int32Array, here: number, there: number) {
    this.#words = words;
    this.#here = here;
    this.#there = there;
  }

  postMessage(message: unknown): void {
    if (this.#sent === SIDE_WORDS) throw new Error('the model has no room for so many messages');
    Atomics.store(this.#words, this.#there + this.#sent++, numberOf(message));
  }

  take(): { message: unknown } | undefined {
    if (this.#taken === SIDE_WORDS) return undefined;
    const number = Atomics.load(this.#words, this.#here + this.#taken);
    if (number === 0) return undefined;
    this.#taken++;
    return { message: structuredClone(contents[number]) };
  }

  close(): void {}
  listen(): void {}
  gone(): boolean {
    return false;
  }
}

/** Messages that one side port of a model takes. */
export const SIDE_WORDS = 4;
