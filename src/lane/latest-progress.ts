// What became of the messages of a lane of which only the newest counts: taken, replaced, or neither yet.
import type { LatestProducer } from '../ring/latest-producer.ts';
import type { Outbox } from './outbox.ts';

export class LatestProgress {
  readonly #slots: Pick<LatestProducer, 'pending'>;
  readonly #outbox: Pick<Outbox, 'next'>;
  readonly #awaitedCame: () => void;
  /** Messages accepted so far. */
  accepted = 0;
  /** Which of them, counted from 1, came into a slot last. */
  #published = 0;
  /** Somebody was told that a message is neither taken nor replaced. */
  #awaited = false;

  /** @param awaitedCame called when a message is replaced that `settledUpTo` was asked for: no reader rings for that */
  constructor(slots: Pick<LatestProducer, 'pending'>, outbox: Pick<Outbox, 'next'>, awaitedCame: () => void) {
    this.#slots = slots;
    this.#outbox = outbox;
    this.#awaitedCame = awaitedCame;
  }

  /** Whether the last of the first `count` messages was taken or replaced, and so all before it. */
  settledUpTo(count: number): boolean {
    const { next } = this.#outbox;
    let settled = count < this.#published;
    // One that waits is the newest of all. With none, what came into a slot last is the newest that could be sent.
    if (!settled && count > this.#published && next !== undefined) settled = next.number >= count;
    else if (!settled) settled = !this.#slots.pending;
    this.#awaited ||= !settled;
    return settled;
  }

  /** The newest of those accepted came into a slot. */
  published(): void {
    this.#published = this.accepted;
    this.replaced();
  }

  /** There is a newer one, or the one that waited is given up: what was asked for may be settled by it. */
  replaced(): void {
    if (!this.#awaited) return;
    this.#awaited = false;
    this.#awaitedCame();
  }
}
