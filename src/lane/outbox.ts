// Messages that were accepted but did not fit the ring yet. Bounded; what happens at the bound has a name.
import { UsageError } from '../errors.ts';
import type { Views } from '../memory/region.ts';
import type { HeldValue } from './beside.ts';
import { Fifo } from './fifo.ts';

/**
 * What `postMessage` does when the outbox is above its mark.
 * - `wait`: takes the message up to a hard limit, `drained()` is pending meanwhile; past the limit it refuses
 * - `reject`: refuses above the mark
 * - `drop-oldest`, `drop-newest`: lets a waiting message go, or the new one, and counts it
 * - `latest`: no queue at all: the newest message is replaced in place (latest-outbound.ts)
 */
export type OverflowPolicy = 'wait' | 'reject' | 'drop-oldest' | 'drop-newest' | 'latest';
export const OVERFLOW_POLICIES: readonly OverflowPolicy[] = ['wait', 'reject', 'drop-oldest', 'drop-newest', 'latest'];

/** One message. `moved` bytes of it are in the ring already. */
export interface OutboxEntry {
  readonly kind: number;
  readonly bytes: Uint8Array;
  /** The memory around `bytes`, if it is to be used again when the message has moved. */
  readonly home: Views | undefined;
  /** What goes through the side channel in its place, if anything does. */
  readonly held: HeldValue | undefined;
  /** Messages that were accepted before this one. */
  readonly number: number;
  /** What it counts for against the bounds. */
  readonly weight: number;
  moved: number;
}

/** What moves messages into a lane needs of the place where they wait. */
export type WaitingRoom = Pick<
  Outbox,
  'length' | 'push' | 'next' | 'moving' | 'done' | 'takeAll' | 'entries' | 'drops' | 'peak'
>;

const NONE: readonly OutboxEntry[] = [];

export class Outbox {
  readonly policy: OverflowPolicy;
  /** Bytes from which on a sender should wait, at least 1: with a mark of 0 there is room only while nothing waits. */
  readonly highWaterMark: number;
  readonly #limit: number;
  readonly #entries = new Fifo<OutboxEntry>();
  #bytes = 0;
  /** Messages let go by the policy since the channel opened. */
  drops = 0;
  peak = 0;
  /** The oldest one is on its way into the lane just now. */
  moving = false;

  constructor(policy: OverflowPolicy, highWaterMark: number, limit: number) {
    this.policy = policy;
    // Above the limit it could never be reached, and who waits for room would be refused.
    this.highWaterMark = Math.max(1, Math.min(highWaterMark, limit));
    this.#limit = limit;
  }

  get length(): number {
    return this.#entries.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get aboveMark(): boolean {
    return this.#bytes >= this.highWaterMark;
  }

  /** Whether an entry may still be dropped: then it must teach the receiver nothing. */
  get mayDrop(): boolean {
    return this.policy !== 'wait' && this.policy !== 'reject';
  }

  /** Goes on for one that has let so many go, and held so much. */
  resume(drops: number, peak: number): void {
    this.drops = drops;
    this.peak = peak;
  }

  /**
   * Whether the next message may come in, asked before it is encoded. Counts the drop when the policy is to let the
   * new one go.
   * @throws UsageError ERR_OUTBOX_FULL by policy `reject`, and by `wait` at the hard limit
   */
  admit(): boolean {
    const limit = this.policy === 'wait' ? this.#limit : this.highWaterMark;
    if (this.#bytes < limit || this.policy === 'drop-oldest' || this.policy === 'latest') return true;
    if (this.policy === 'drop-newest') {
      this.drops++;
      return false;
    }
    throw new UsageError(
      'ERR_OUTBOX_FULL',
      `Cannot post: ${this.#bytes} bytes wait in the outbox, which takes ${limit}; await port.drained(), or choose another overflow policy`,
      { length: this.#bytes, limit },
    );
  }

  /** @returns what the policy lets go for it */
  push(entry: OutboxEntry): readonly OutboxEntry[] {
    this.#entries.push(entry);
    this.#bytes += entry.weight;
    if (this.#bytes > this.peak) this.peak = this.#bytes;
    if (this.policy === 'latest') return this.#dropUntil(() => false);
    if (this.policy === 'drop-oldest') return this.#dropUntil(() => this.#bytes <= this.highWaterMark);
    return NONE;
  }

  /** The oldest one, which is to move next. */
  get next(): OutboxEntry | undefined {
    return this.#entries.first;
  }

  /** `next` has moved, all of it. */
  done(): void {
    const entry = this.#entries.shift();
    if (entry !== undefined) this.#bytes -= entry.weight;
  }

  /** What waits, oldest first. */
  entries(): readonly OutboxEntry[] {
    return this.#entries.all();
  }

  /** Hands everything over and is empty. */
  takeAll(): OutboxEntry[] {
    this.#bytes = 0;
    return this.#entries.takeAll();
  }

  /** Lets messages go, oldest first, until `enough`; the newest stays, and one that is on its way, or parts of it. */
  #dropUntil(enough: () => boolean): readonly OutboxEntry[] {
    const start = this.moving || (this.#entries.first?.moved ?? 0) > 0 ? 1 : 0;
    let dropped: OutboxEntry[] | undefined;
    while (this.#entries.length > start + 1 && !enough()) {
      const [entry] = this.#entries.remove(start, 1) as [OutboxEntry];
      this.#bytes -= entry.weight;
      this.drops++;
      dropped ??= [];
      dropped.push(entry);
    }
    return dropped ?? NONE;
  }
}
