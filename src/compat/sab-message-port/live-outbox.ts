// Where the messages of a writer wait, with the documented limit: the overflow callback is shown the messages themselves,
// in a queue that it may change, and what they were when they were posted follows that.
import type { OutboxEntry, WaitingRoom } from '../../lane/outbox.ts';
import { type OverflowCallback, trim } from './live-queue.ts';
import { REST } from './long-message.ts';

interface Entry extends OutboxEntry {
  /** Of what this is a snapshot. */
  message?: unknown;
}

const NONE: readonly OutboxEntry[] = [];

export class LiveOutbox implements WaitingRoom {
  drops = 0;
  peak = 0;
  moving = false;
  /** Oldest first. In front of all messages it may be said that no more of an earlier one comes. */
  #entries: Entry[] = [];
  /** The callback is looking: what it has not given back yet is not to be moved. */
  shown = false;
  /** How many of them have gone, and are not taken out yet. */
  #gone = 0;

  get length(): number {
    return this.#entries.length - this.#gone;
  }
  get next(): OutboxEntry | undefined {
    return this.#entries[this.#gone];
  }
  /** Whether a message has not all gone. */
  get waiting(): boolean {
    return this.length > (isCut(this.next) ? 1 : 0);
  }
  /** Kind of the message of which parts have gone and others not; 0: none. */
  get halfway(): number {
    const { next } = this;
    return next !== undefined && next.moved > 0 ? next.kind : 0;
  }

  push(entry: OutboxEntry): readonly OutboxEntry[] {
    this.#entries.push(entry);
    return NONE;
  }
  /** What was pushed last stands for this message. */
  name(message: unknown): void {
    (this.#entries.at(-1) as Entry).message = message;
  }
  done(): void {
    this.#gone++;
  }
  /** Takes out what has gone: at once, for it may be many. */
  tidy(): void {
    if (this.#gone > 0) this.#entries.splice(0, this.#gone);
    this.#gone = 0;
  }

  entries(): OutboxEntry[] {
    return this.#entries.slice(this.#gone);
  }
  /** All messages; that no more comes of another is still to be said. */
  takeAll(): OutboxEntry[] {
    this.tidy();
    return this.#entries.splice(isCut(this.next) ? 1 : 0);
  }

  /**
   * Lets go what is too much, of what is not on its way yet.
   * @param push gives a message that the callback has put in to `push`, as it is now
   * @throws what the callback throws, or `push` of a message, which is dropped
   */
  trim(limit: number | null, overflow: OverflowCallback, push: (message: unknown) => void): void {
    this.tidy();
    const start = isCut(this.next) || this.halfway !== 0 ? 1 : 0;
    const before = this.#entries;
    const count = before.length - start;
    if (limit === null || count <= limit) return;
    if (overflow === null) {
      before.splice(start, count - limit);
      return;
    }
    const queue: unknown[] = [];
    const known = new Map<unknown, Entry[]>();
    for (const entry of before.slice(start)) {
      const { message } = entry;
      queue.push(message);
      const same = known.get(message);
      if (same === undefined) known.set(message, [entry]);
      else same.push(entry);
    }
    const kept: Entry[] = [];
    let failure: { readonly error: unknown } | undefined;
    const attempt = (body: () => void): void => {
      try {
        body();
      } catch (error) {
        failure ??= { error };
      }
    };
    // What is posted meanwhile comes here.
    this.#entries = [];
    const { shown } = this;
    this.shown = true;
    attempt(() => trim(queue, limit, overflow));
    // From the newest on: of those that are the same the later ones stay.
    for (const message of queue.reverse()) {
      const entry = known.get(message)?.pop();
      if (entry !== undefined) kept.push(entry);
      else {
        attempt(() => {
          push(message);
          this.name(message);
          kept.push(this.#entries.pop() as Entry);
        });
      }
    }
    this.shown = shown;
    this.#entries = [...before.slice(0, start), ...kept.reverse(), ...this.#entries];
    if (failure !== undefined) throw failure.error;
  }
}

/** That no more comes of a message, which is none itself. */
function isCut(entry: OutboxEntry | undefined): boolean {
  return entry !== undefined && (entry.kind & REST) !== 0;
}
