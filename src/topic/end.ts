// The end of a topic: one word, written once, by the writer or by whoever learns first that its thread is gone. A reader in another
// process learns of the end of its own way to the writer, and keeps that for itself.
import { CLOSE_CODES, closeReason } from '../memory/layout.ts';
import type { EndReason } from '../outcome.ts';
import type { TopicBell } from './bell.ts';
import { CLOSED } from './layout.ts';

export class TopicEnd {
  readonly #words: Int32Array;
  readonly #bell: TopicBell;
  readonly #forAll: boolean;
  #own: EndReason | undefined;

  /** @param forAll whether what this end is told of holds for all readers; else it keeps that for itself */
  constructor(words: Int32Array, bell: TopicBell, forAll: boolean) {
    this.#words = words;
    this.#bell = bell;
    this.#forAll = forAll;
  }

  /** Why the writer has ended, if it has. What it published before can be read. */
  get reason(): EndReason | undefined {
    // SYNC topic-closed: what was published before is visible after this load; pairs with TopicEnd.tell.
    const code = Atomics.load(this.#words, CLOSED);
    return code === 0 ? this.#own : closeReason(code);
  }

  /** Says so to all readers. The first reason counts; but who gave it may have died before it woke anybody. */
  tell(reason: EndReason): void {
    if (!this.#forAll) {
      this.#own ??= reason;
      return;
    }
    // SYNC topic-closed: behind everything that was published; pairs with TopicEnd.reason.
    Atomics.compareExchange(this.#words, CLOSED, 0, CLOSE_CODES[reason]);
    this.#bell.end();
  }
}
