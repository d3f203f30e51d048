// Where the messages of a writer wait, with the documented limit: the overflow callback is shown the messages themselves,
// in a queue that it may change, and what they were when they were posted is kept in step with it.
import type { OutboxEntry, WaitingRoom } from '../../lane/outbox.ts';
import { type OverflowCallback, trim } from './live-queue.ts';
import { REST } from './long-message.ts';

const NONE: readonly OutboxEntry[] = [];

export class LiveOutbox implements WaitingRoom {
  drops = 0;
  peak = 0;
  /** What waits. Kept, for every message asks. */
  length = 0;
  /** Oldest first: the live queue. */
  readonly #messages: unknown[] = [];
  /** What becomes of them, in step; so that later changes to them do not show. */
  #entries: OutboxEntry[] = [];
  /** Of both: how many at the front have gone, and are not taken out yet. */
  #gone = 0;
  /** What goes first and is no longer in the queue: a message on its way in parts, or that no more of one comes. */
  #first: OutboxEntry | undefined;

  /** Whether a message has not all gone. */
  get waiting(): boolean {
    return this.#entries.length > this.#gone || (this.#first !== undefined && !isCut(this.#first));
  }
  /** Kind of the message of which parts have gone and others not; 0: none. */
  get halfway(): number {
    const { next } = this;
    return next !== undefined && next.moved > 0 ? next.kind : 0;
  }

  /** What was pushed last stands for this message. */
  name(message: unknown): void {
    this.#messages.push(message);
  }
  push(entry: OutboxEntry): readonly OutboxEntry[] {
    this.length++;
    // Said before any message comes.
    if (isCut(entry)) this.#first = entry;
    else this.#entries.push(entry);
    return NONE;
  }
  get next(): OutboxEntry | undefined {
    return this.#first ?? this.#entries[this.#gone];
  }
  done(): void {
    this.length--;
    if (this.#first !== undefined) this.#first = undefined;
    else this.#gone++;
  }
  entries(): OutboxEntry[] {
    const waiting = this.#entries.slice(this.#gone);
    return this.#first === undefined ? waiting : [this.#first, ...waiting];
  }
  /** All messages; that no more comes of another is still to be said. */
  takeAll(): OutboxEntry[] {
    this.tidy();
    const all = this.#entries;
    this.#entries = [];
    this.#messages.length = 0;
    this.length = this.#first === undefined ? 0 : 1;
    if (this.#first !== undefined && !isCut(this.#first)) {
      all.unshift(this.#first);
      this.#first = undefined;
      this.length = 0;
    }
    return all;
  }
  /** Nothing is to be said any more. */
  clear(): void {
    this.takeAll();
    this.#first = undefined;
    this.length = 0;
  }

  /** What has gone, or is on its way, leaves the queue. */
  tidy(): void {
    if (this.#gone > 0) {
      this.#messages.splice(0, this.#gone);
      this.#entries.splice(0, this.#gone);
      this.#gone = 0;
    }
    const oldest = this.#entries[0];
    if (this.#first !== undefined || oldest === undefined || oldest.moved === 0) return;
    this.#first = this.#entries.shift();
    this.#messages.shift();
  }

  /**
   * Lets go what is too much.
   * @param push gives a message that the callback has put in to `push`, as it is now
   * @throws what `push` throws; that message is dropped
   */
  trim(limit: number | null, overflow: OverflowCallback, push: (message: unknown) => void): void {
    this.tidy();
    const messages = this.#messages;
    if (limit === null || messages.length <= limit) return;
    if (overflow === null) {
      trim(messages, limit, null);
      this.length -= this.#entries.splice(0, this.#entries.length - messages.length).length;
      return;
    }
    const before = new Map<unknown, OutboxEntry[]>();
    for (const [i, message] of messages.entries()) {
      const entry = this.#entries[i] as OutboxEntry;
      const found = before.get(message);
      if (found === undefined) before.set(message, [entry]);
      else found.push(entry);
    }
    try {
      trim(messages, limit, overflow);
    } finally {
      // The callback may have taken out, put in or replaced anything; of those that are the same the later ones stay.
      const known = messages.map((): OutboxEntry | undefined => undefined);
      for (let i = messages.length - 1; i >= 0; i--) known[i] = before.get(messages[i])?.pop();
      this.#fill(messages.splice(0), known, push);
    }
  }

  #fill(
    messages: readonly unknown[],
    known: readonly (OutboxEntry | undefined)[],
    push: (message: unknown) => void,
  ): void {
    this.length -= this.#entries.length;
    this.#entries = [];
    let failure: { readonly error: unknown } | undefined;
    for (const [i, message] of messages.entries()) {
      const entry = known[i];
      try {
        if (entry === undefined) push(message);
        else this.push(entry);
        this.#messages.push(message);
      } catch (error) {
        failure ??= { error };
      }
    }
    if (failure !== undefined) throw failure.error;
  }
}

/** That no more comes of a message, which is none itself. */
function isCut({ kind }: OutboxEntry): boolean {
  return (kind & REST) !== 0;
}
