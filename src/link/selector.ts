// How an agent waits for many channels at once, with its thread blocked or without waiting.
//
// Every channel that is watched announces in its own park word that it sleeps ABOVE, once: the announcement stands until
// the other side takes it back and marks the channel in the ready set of the link, also over several calls. So a call
// costs one local look for each channel that it is asked about, and an access to shared memory only for each that has
// something to say.
//
// Invariants:
// Q1. A channel is armed (announced, and nothing there when that was looked at again), or a candidate (to be looked at),
//     or nobody asks for it. What is armed and marked becomes a candidate before anybody sleeps.
// Q2. Candidates are looked at in the order in which they became so, and the one that is handed out goes to the end: a
//     channel that always has something to say keeps no other one waiting for more than one round.
// Q3. No channel relies on what a third agent can write. Each link has its own ready set; the one word that all share,
//     SLEEP, can be scribbled over, and then this agent looks for itself after a slice.
import type { BlockingWait } from '../wait/block.ts';
import { DATA } from '../wait/signal.ts';
import type { LinkEnd, Marked } from './link-end.ts';

/** One of this agent's ends of channels, as a Selector sees it. */
export interface Selectable {
  /** Whether there is something: a message, the end of the channel. */
  readonly ready: boolean;
  /** Whether the other side knows our link, and marks us there. Until then we are rung without being named. */
  readonly linked: boolean;
  /** Announces that this side sleeps ABOVE, and looks again; false, and nothing stands announced, if there is something. */
  arm(): boolean;
}

/** A channel under watch: its end, and what the Selector remembers of it. */
export class Watch<T extends Selectable = Selectable> implements Marked {
  readonly end: T;
  readonly #candidates: Candidates;
  #state: 'idle' | 'armed' | 'candidate' = 'idle';
  /** The call that asks for it. */
  call = 0;

  constructor(end: T, candidates: Candidates) {
    this.end = end;
    this.#candidates = candidates;
  }

  get armed(): boolean {
    return this.#state === 'armed';
  }

  /** To be looked at. */
  marked(): void {
    if (this.#state === 'candidate') return;
    this.#state = 'candidate';
    this.#candidates.push(this);
  }
  /** The same for one that stands in no announcement and in no line. */
  ask(): void {
    if (this.#state === 'idle') this.marked();
  }
  /** Its turn: whether there is something. If not, it is armed from here on. */
  look(): boolean {
    this.#state = 'idle';
    if (this.end.ready || !this.end.arm()) return true;
    this.#state = 'armed';
    return false;
  }
  /** Its announcement no longer stands, or nobody asks for it. */
  forget(): void {
    this.#state = 'idle';
  }
}

type Candidates = Watch[];

export class Selector {
  readonly #links: Iterable<LinkEnd>;
  readonly #sleep: BlockingWait;
  #candidates: Candidates = [];
  #call = 0;
  #members: readonly Watch[] = [];

  /**
   * @param links of this agent
   * @param sleep on this agent's own page; between its slices it calls `lookAtAll`
   */
  constructor(links: Iterable<LinkEnd>, sleep: (slice: () => void) => BlockingWait) {
    this.#links = links;
    this.#sleep = sleep(() => this.#lookAtAll());
  }

  watch<T extends Selectable>(end: T): Watch<T> {
    return new Watch(end, this.#candidates);
  }

  /**
   * The one whose turn it is among those that have something; blocks until there is one, `undefined` at the time limit.
   * @param timeoutMs 0 looks and does not block
   */
  select<T extends Watch>(members: readonly T[], timeoutMs: number): T | undefined {
    const call = ++this.#call;
    // Before those that nobody marked: a member that was handed out last comes behind whoever has spoken meanwhile (Q2).
    this.#takeMarks();
    for (const member of members) {
      member.call = call;
      member.ask();
    }
    const found = this.#next(call);
    if (found !== undefined || timeoutMs <= 0) return found as T | undefined;
    return this.#block(members, call, timeoutMs) as T | undefined;
  }

  #block(members: readonly Watch[], call: number, timeoutMs: number): Watch | undefined {
    this.#members = members;
    const unlinked = members.filter(({ end }) => !end.linked);
    let found: Watch | undefined;
    const look = (): boolean => {
      // The sleep looks again after it has found.
      if (found !== undefined) return true;
      // In this order: whoever marks after the announcement rings, whoever marked before it is taken.
      for (const link of this.#links) link.restAbove();
      this.#takeMarks();
      // Nobody names those: their announcement may be gone, taken back for a message that was read already.
      for (const watch of unlinked) if (watch.armed && !watch.end.arm()) watch.marked();
      found = this.#next(call);
      return found !== undefined;
    };
    try {
      this.#sleep.wait(DATA, look, timeoutMs);
      return found;
    } finally {
      this.#members = [];
      for (const link of this.#links) link.wake();
    }
  }

  #takeMarks(): void {
    for (const link of this.#links) link.take();
  }

  /** The first candidate that has something. Those without are armed; those that nobody asks for leave the line. */
  #next(call: number): Watch | undefined {
    const line = this.#candidates;
    let at = 0;
    let found: Watch | undefined;
    while (at < line.length && found === undefined) {
      const watch = line[at++] as Watch;
      if (watch.call !== call) watch.forget();
      else if (watch.look()) found = watch;
    }
    line.splice(0, at);
    return found;
  }

  /** What no mark tells: that the agent at the other end was found dead. The marks are looked at after a slice anyway (Q3). */
  #lookAtAll(): void {
    for (const member of this.#members) if (member.end.ready) member.marked();
  }
}
