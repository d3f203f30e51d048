// How one end of a channel in shared memory ends, and how it learns that the other one has: by the peer's CLOSED word,
// or, if it was killed before it could write that, from whoever saw its thread end. See T1-T3 in shared-ring.ts.
import * as layout from '../../memory/layout.ts';
import { closeReason } from '../../memory/layout.ts';
import type { CloseReason, EndReason } from '../../outcome.ts';
import type { ThreadEnd } from '../../platform/contract.ts';
import { SPILL_FOLLOWS } from './end-teller.ts';
import type { Behind, EndTelling, Staying, Tie } from './tie.ts';

export interface LifeEvents {
  /** This side ends: publish what was sent, leave what did not go out, and say how many frames that is (T2). */
  lastWords(reason: EndReason): number;
  /** The end is news for whoever waits. Called from the event loop. */
  woken(): void;
}

/** Ends that are a whole thread's or process's. */
const OF_PROCESSES: ReadonlySet<number> = new Set([layout.CLOSE_CODES.exit, layout.CLOSE_CODES.crash]);

export class Life {
  readonly #words: Int32Array;
  /** Word index of the other side's block. */
  readonly #there: number;
  readonly #teller: EndTelling;
  readonly #remains: Staying;
  readonly #events: LifeEvents;
  readonly #behind: Pick<Behind, 'silent'> | undefined;
  /** There as long as this end is. */
  readonly #sign: object = {};
  #ended: CloseReason | undefined;
  #endedHere = false;
  #told = false;
  /** Frames that this side has left in the side channel. */
  #left = 0;
  #spilled = 0;
  #error: unknown;

  constructor(
    words: Int32Array,
    there: number,
    { teller, remains, behind }: Pick<Tie, 'teller' | 'remains' | 'behind'>,
    events: LifeEvents,
  ) {
    this.#behind = behind;
    this.#words = words;
    this.#there = there;
    this.#teller = teller;
    this.#remains = remains;
    this.#events = events;
  }

  /** This end is open from now on, and ends with its thread, or when it is garbage. */
  begin(): void {
    this.#remains.watch(this.#sign, this);
    // A peer that ended before this side was taken rings no more: the look tells whoever waits.
    void this.over;
  }

  /** Keeps `port` though nobody else may hold it; `undefined` lets it go. */
  keep(port: object | undefined): void {
    this.#remains.keep(port);
  }

  /** Why this end is over, from either side's doing. Looks at the peer's word. */
  get ended(): CloseReason | undefined {
    return this.over ? this.#ended : undefined;
  }

  get over(): boolean {
    if (this.#ended !== undefined) return true;
    // SYNC closed: what the peer sent before it ended is visible after this load (T1); pairs with EndTeller.tell.
    const code = Atomics.load(this.#words, this.#there + layout.CLOSED);
    if (code === 0 || (OF_PROCESSES.has(code) && this.#behind?.silent === false)) return false;
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

  /**
   * Whether the peer has ended, and what it had accepted still comes through the ring. Looked at before the ring is: what came
   * before it was through is there then (T1).
   */
  get follows(): boolean {
    if (this.#spilled !== SPILL_FOLLOWS) return false;
    // SYNC closed: what followed is visible after this load; pairs with EndTeller.tell.
    this.#nothingFollows(Atomics.load(this.#words, this.#there + layout.SPILLED));
    if (this.#spilled === SPILL_FOLLOWS) return true;
    // Whoever found the ring empty before does not sleep where the end is known: no bell would tell it of the rest.
    this.tellLater();
    return false;
  }
  #nothingFollows(spilled: number): void {
    this.#spilled = spilled;
    if (spilled !== SPILL_FOLLOWS) this.#remains.over();
  }

  /** This side ends, and `end` says so again once what waits has gone into the ring. */
  follow(reason: EndReason): void {
    this.#teller.tell(reason, SPILL_FOLLOWS);
  }

  /** Ends this side and tells the other; nothing if either has ended. */
  end(reason: EndReason): void {
    if (this.#ended !== undefined) {
      // Nobody reads what follows.
      if (!this.follows) return;
      this.#nothingFollows(0);
      this.#teller.tell(reason, 0);
      return;
    }
    // Whatever happens, also where the stack ends in the middle: a peer that is not told would wait for ever.
    queueMicrotask(() => {
      if (!this.#told) this.#tell(reason);
    });
    this.#ended = reason;
    this.#endedHere = true;
    this.#remains.over();
    this.#tell(reason);
  }
  #tell(reason: EndReason): void {
    try {
      this.#left += this.#events.lastWords(reason);
    } finally {
      this.#teller.tell(reason, this.#left);
      this.#told = true;
    }
  }

  /** This side goes on in another thread: here it is over, and nobody is told. Whatever the other one has done by then is told there. */
  leave(): void {
    this.#ended = 'detached';
    this.#endedHere = true;
    this.#remains.over();
  }

  /** This thread ends by itself: says so, and leaves what has not gone out yet. */
  endThread(how: ThreadEnd): void {
    this.end(how);
  }

  /** Found out in the middle of some call that the peer's thread is gone: if it said nothing, it was killed. */
  peerVanished(how: EndReason = 'terminated'): void {
    if (this.over) {
      if (!this.follows) return;
      this.#nothingFollows(0);
      this.tellLater();
      return;
    }
    this.#peerGone(how);
    // Whoever has the other end may live, and find us no more than we find it: what both look at is all that is left to say so.
    if (how === 'lost') this.#tell(how);
  }

  /** The peer's thread is gone: the tether says so, or a watcher, who knows how. */
  peerThreadEnded(how?: EndReason, error?: unknown): void {
    this.#error ??= error;
    this.peerVanished(how);
    this.tellLater();
  }

  /** The end was met in the middle of some call: whoever waits elsewhere learns it as soon as that has returned. */
  tellLater(): void {
    queueMicrotask(() => this.#events.woken());
  }

  #peerGone(reason: EndReason): void {
    this.#ended = reason;
    this.#nothingFollows(Atomics.load(this.#words, this.#there + layout.SPILLED));
    this.tellLater();
  }
}
