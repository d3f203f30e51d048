// How one end of a channel in shared memory ends, and how it learns that the other one has: by the peer's CLOSED word,
// or, if it was killed before it could write that, from whoever saw its thread end. See T1-T3 in shared-ring.ts.
import * as layout from '../../memory/layout.ts';
import { CLOSE_CODES, type CloseReason, closeReason } from '../../memory/layout.ts';
import type { ThreadEnd } from '../../platform/contract.ts';
import { ANYTHING, PASSED, Waker } from '../../wait/signal.ts';
import { endWithThread, forgetThreadEnd } from './thread-end.ts';

export interface LifeEvents {
  /** This side ends: publish what was sent, leave what did not go out, and say how many frames that is (T2). */
  lastWords(reason: CloseReason): number;
  /** Wakes the peer's event loop. */
  doorbell(): void;
  /** The end is news for whoever waits. Called from the event loop. */
  woken(): void;
}

export class Life {
  readonly #words: Int32Array;
  /** Word indexes of this side's and the other side's block. */
  readonly #here: number;
  readonly #there: number;
  readonly #events: LifeEvents;
  #ended: CloseReason | undefined;
  #endedHere = false;
  #spilled = 0;
  #error: unknown;

  constructor(words: Int32Array, here: number, there: number, events: LifeEvents) {
    this.#words = words;
    this.#here = here;
    this.#there = there;
    this.#events = events;
  }

  /** This end is open from now on, and ends with its thread. */
  begin(): void {
    endWithThread(this);
    // A peer that ended before this side was taken rings no more: the look tells whoever waits.
    void this.over;
  }

  /** Why this end is over, from either side's doing. Looks at the peer's word. */
  get ended(): CloseReason | undefined {
    return this.over ? this.#ended : undefined;
  }

  get over(): boolean {
    if (this.#ended !== undefined) return true;
    // SYNC closed: what the peer sent before it ended is visible after this load (T1); pairs with end.
    const code = Atomics.load(this.#words, this.#there + layout.CLOSED);
    if (code === 0) return false;
    this.#peerGone(closeReason(code));
    return true;
  }

  /** Whether this side ended, and not the peer. */
  get endedHere(): boolean {
    return this.#endedHere;
  }

  /** What the peer's thread died of, as the event loop heard of it. */
  get error(): unknown {
    return this.#error;
  }

  /** Frames that the peer left in the side channel when it ended. */
  get spilled(): number {
    return this.#spilled;
  }

  /** Ends this side and tells the other; nothing if either has ended. */
  end(reason: CloseReason): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    this.#endedHere = true;
    forgetThreadEnd(this);
    let spilled = 0;
    try {
      spilled = this.#events.lastWords(reason);
    } finally {
      // Whatever happened: a peer that is not told would wait for ever.
      Atomics.store(this.#words, this.#here + layout.SPILLED, spilled);
      // SYNC closed: everything sent before is published, and the left-over posted (T2); pairs with over.
      Atomics.store(this.#words, this.#here + layout.CLOSED, CLOSE_CODES[reason]);
      const wakes = this.#here + layout.WAKES;
      new Waker(this.#words, this.#there + layout.PARK, ANYTHING | PASSED, () => this.#events.doorbell(), wakes).ring();
    }
  }

  /** This thread ends by itself: says so, and leaves what has not gone out yet. */
  endThread(how: ThreadEnd): void {
    this.end(how);
  }

  /** Found out in the middle of some call that the peer's thread is gone: if it said nothing, it was killed. */
  peerVanished(how: CloseReason = 'terminated'): void {
    if (!this.over) this.#peerGone(how);
  }

  /** The event loop heard that the peer's thread is gone: from the tether, or from a watcher, who knows how. */
  peerThreadEnded(how?: CloseReason, error?: unknown): void {
    this.#error ??= error;
    this.peerVanished(how);
    this.#events.woken();
  }

  /** The end was met in the middle of some call: whoever waits elsewhere learns it as soon as that has returned. */
  tellLater(): void {
    queueMicrotask(() => this.#events.woken());
  }

  #peerGone(reason: CloseReason): void {
    this.#ended = reason;
    this.#spilled = Atomics.load(this.#words, this.#there + layout.SPILLED);
    forgetThreadEnd(this);
    this.tellLater();
  }
}
