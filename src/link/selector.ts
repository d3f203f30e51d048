// How an agent waits for many channels at once, with its thread blocked or without waiting.
//
// Every channel that is watched announces in its own park word that it sleeps ABOVE, once: the announcement stands until
// the other side takes it back and marks the channel in the ready set of the link, also over several calls. So a call
// costs one local look for each channel that it is asked about, and an access to shared memory only for each that has
// something to say.
//
// Invariants:
// Q1. A channel is armed (announced, and nothing there when that was looked at again), or a candidate (to be looked at), or
//     warm, or nobody asks for it. What is armed and marked becomes a candidate before anybody sleeps. Warm are the few that
//     were handed out last and have nothing more: they are looked at in each call, so that while traffic flows neither side
//     pays for an announcement and a mark. Before this agent sleeps they are armed, too.
// Q2. Candidates are looked at in the order in which they became so, and the one that is handed out goes to the end: a
//     channel that always has something to say keeps no other one waiting for more than one round.
//     What the line does not tell, because it was forgotten meanwhile, the turns do: who had the latest comes last.
// Q3. No channel relies on what a third agent can write. Each link has its own ready set; the one word that all share,
//     SLEEP, can be scribbled over, and then this agent looks for itself after a slice.
import { LINE_THROUGH_MAX, SELECT_PROBES_MAX, SELECT_WARM_TURNS } from '../limits.ts';
import type { BlockingWait } from '../wait/block.ts';
import { DATA } from '../wait/signal.ts';
import type { LinkEnd, Marked } from './link-end.ts';

/** One of this agent's ends of channels, as a Selector sees it. */
export interface Selectable {
  /** Whether there is something: a message, the end of the channel. */
  readonly ready: boolean;
  /** Whether what is awaited is marked on our link: the other side knows it, and nothing is on its way elsewhere. Else nobody names us. */
  readonly linked: boolean;
  /** Announces that this side sleeps ABOVE, and looks again; false, and nothing stands announced, if there is something. */
  arm(): boolean;
  /** Something of this side waits to be sent, or may soon. Whoever makes it so disturbs the watch. */
  readonly restless?: boolean;
  /** Sends it on, before this thread sleeps; true if some still waits, so that room for it is news as well. */
  moves?(): boolean;
}

/** What no mark tells. */
export interface Lookout {
  /** Whether it is time to ask, though no slice of a sleep has passed: somebody always has something. */
  readonly overdue: boolean;
  /** Somebody has said that there is something to ask. Looked at before each sleep. */
  readonly told?: boolean;
  /**
   * Asks whether the agents at the other ends live; true if all members are to be looked at.
   * @param unlinked members that no link knows yet
   */
  ask(unlinked: readonly Watch[]): boolean;
}

/** The watches that are to be looked at, and whether those asked for last stand in it, or are armed. */
class Line {
  readonly #watches: Watch[] = [];
  /** Those before it are through. */
  #from = 0;
  current = false;
  /** A call runs. */
  inCall = false;

  push(watch: Watch): void {
    this.#watches.push(watch);
  }
  shift(): Watch | undefined {
    const watch = this.#watches[this.#from];
    if (watch === undefined) return undefined;
    if (++this.#from === this.#watches.length) this.#watches.length = this.#from = 0;
    // What is through is dropped by halves: a line that never ends must not grow.
    else if (this.#from >= LINE_THROUGH_MAX && this.#from * 2 > this.#watches.length) {
      this.#watches.splice(0, this.#from);
      this.#from = 0;
    }
    return watch;
  }
}

/** A channel under watch: its end, and what the Selector remembers of it. */
export class Watch<T extends Selectable = Selectable> implements Marked {
  readonly end: T;
  readonly #line: Line;
  #state: 'idle' | 'armed' | 'candidate' | 'warm' = 'idle';
  /** The call that asks for it. */
  call = 0;
  /** Nobody names it: it is looked at in slices. */
  unlinked = false;
  /** When it was handed out last, counted in turns. */
  turn = 0;
  /** For the caller: which of the members it is. */
  index = 0;

  constructor(end: T, line: Line) {
    this.end = end;
    this.#line = line;
  }

  get armed(): boolean {
    return this.#state === 'armed';
  }

  /** To be looked at. */
  marked(): void {
    if (this.#state === 'candidate') return;
    this.#state = 'candidate';
    this.#line.push(this);
  }
  /** The same for one that stands in no announcement and in no line. */
  ask(): void {
    if (this.#state === 'idle') this.marked();
  }
  /** Its turn: whether there is something. If not, it is armed from here on, or warm. */
  look(warm: boolean): boolean {
    this.#state = 'idle';
    if (this.end.ready) return true;
    if (warm) this.#state = 'warm';
    else if (this.end.arm()) this.#state = 'armed';
    else return true;
    return false;
  }
  get warm(): boolean {
    return this.#state === 'warm';
  }
  /** Nobody knows whether its announcement still stands, or whether there is something. */
  lookAnew(): void {
    if (this.#state === 'armed' ? !this.end.arm() : this.end.ready) this.marked();
  }
  /** Its announcement no longer stands, or nobody asks for it. */
  forget(): void {
    this.#state = 'idle';
  }
  /** Somebody else has used its park word, or it has changed in a way that no mark tells: it is to be asked for anew. */
  disturbed(): void {
    this.#line.current = false;
    if (this.#state !== 'armed') return;
    this.#state = 'idle';
    // In the middle of a call there is none to come that would ask.
    if (this.#line.inCall) this.marked();
  }
}

const NOTHING_ELSE: Lookout = { overdue: false, ask: () => true };

export class Selector {
  readonly #links: Iterable<LinkEnd>;
  readonly #sleep: BlockingWait;
  readonly #lookout: Lookout;
  readonly #line = new Line();
  /** May hold some that are warm no more. */
  readonly #warm: Watch[] = [];
  #call = 0;
  #turn = 0;
  /** Where to go on asking who is linked. */
  #asked = 0;
  /** The one that was handed out last, if nothing was forgotten since. */
  #last: Watch | undefined;
  /** Those of the call that runs. */
  #members: readonly Watch[] = [];
  /** Those of them that nobody names, and those that have something to send on before this thread sleeps. */
  #unlinked: Watch[] = [];
  #restless: readonly Watch[] = [];

  /**
   * @param links of this agent
   * @param sleep on this agent's own page; between its slices it calls `lookAtAll`
   */
  constructor(links: Iterable<LinkEnd>, sleep: (slice: () => void) => BlockingWait, lookout: Lookout = NOTHING_ELSE) {
    this.#links = links;
    this.#lookout = lookout;
    this.#sleep = sleep(() => this.#lookAtAll());
  }

  watch<T extends Selectable>(end: T): Watch<T> {
    return new Watch(end, this.#line);
  }

  /**
   * The one whose turn it is among those that have something; blocks until there is one, `undefined` at the time limit.
   * @param timeoutMs 0 looks and does not block
   * @param again the members are the very same as in the call before: if nothing was disturbed, none is looked at but
   *   those that have something
   */
  select<T extends Watch>(members: readonly T[], timeoutMs: number, again = false): T | undefined {
    if (this.#members.length > 0) {
      // The call before has run out of stack, and may have lost what it had taken.
      this.forget();
      for (const watch of this.#members) watch.forget();
    }
    this.#members = members;
    this.#line.inCall = true;
    // Before those that nobody marked: a member that was handed out last comes behind whoever has spoken meanwhile (Q2).
    this.#takeMarks();
    if (again && this.#line.current) this.#last?.ask();
    else this.#ask(members);
    this.#last = undefined;
    if (this.#lookout.overdue) this.#lookAtAll();
    this.#lookAtUnlinked();
    const found = this.#next(true) ?? (timeoutMs > 0 ? this.#block(timeoutMs) : undefined);
    if (found !== undefined) found.turn = ++this.#turn;
    this.#last = found;
    this.#members = [];
    this.#line.inCall = false;
    return found as T | undefined;
  }

  /** Of the call that runs some have no link: they are looked at between slices of the sleep. */
  get awaitsUnlinked(): boolean {
    return this.#unlinked.length > 0;
  }

  /** Forgets who stands in the line: nothing here may keep a channel that nobody asks for any more. */
  forget(): void {
    for (let watch = this.#line.shift(); watch !== undefined; watch = this.#line.shift()) watch.forget();
    for (const watch of this.#warm.splice(0)) if (watch.warm) watch.forget();
    this.#line.current = false;
    this.#line.inCall = false;
    this.#last = undefined;
    this.#unlinked = [];
    this.#restless = [];
  }

  #ask(members: readonly Watch[]): void {
    const call = ++this.#call;
    let turn = 0;
    let inTurn = true;
    for (const member of members) {
      member.call = call;
      inTurn &&= turn <= member.turn;
      turn = member.turn;
    }
    for (const member of inTurn ? members : [...members].sort((a, b) => a.turn - b.turn)) member.ask();
    this.#line.current = true;
    this.#unlinked = members.filter((member) => {
      member.unlinked = !member.end.linked;
      return member.unlinked;
    });
    this.#restless = members.filter(({ end }) => end.restless === true);
  }

  #block(timeoutMs: number): Watch | undefined {
    for (const watch of this.#restless) {
      if (watch.end.moves?.() !== true || !watch.armed) continue;
      watch.forget();
      watch.ask();
    }
    let found: Watch | undefined;
    const look = (): boolean => {
      // The sleep looks again after it has found.
      if (found !== undefined) return true;
      if (this.#lookout.overdue) this.#lookAtAll();
      this.#takeMarks();
      this.#lookAtUnlinked();
      found = this.#next(true);
      return found !== undefined;
    };
    const lookBeforeSleep = (): boolean => {
      // In this order: whoever marks after the announcement rings, whoever marked before it is taken.
      for (const link of this.#links) link.restAbove();
      this.#takeMarks();
      this.#lookAtUnlinked();
      for (const watch of this.#warm.splice(0)) if (watch.warm) watch.marked();
      if (this.#lookout.told === true) this.#lookAtAll();
      found = this.#next(false);
      return found !== undefined;
    };
    try {
      this.#sleep.wait(DATA, look, timeoutMs, lookBeforeSleep);
      return found;
    } finally {
      for (const link of this.#links) link.wake();
    }
  }

  #takeMarks(): void {
    for (const link of this.#links) link.takeBlocked();
  }

  /**
   * The first candidate that has something. Those without are armed; those that nobody asks for leave the line.
   * @param mayStayWarm who was handed out just now need not be armed
   */
  #next(mayStayWarm: boolean): Watch | undefined {
    this.#promote();
    const call = this.#call;
    for (let watch = this.#line.shift(); watch !== undefined; watch = this.#line.shift()) {
      const warm = mayStayWarm && watch.turn > 0 && this.#turn - watch.turn < SELECT_WARM_TURNS && watch.end.linked;
      if (watch.call !== call) watch.forget();
      else if (watch.look(warm)) return watch;
      else if (warm) this.#warm.push(watch);
      else if (!watch.unlinked && !watch.end.linked) this.#unlink(watch);
    }
    return undefined;
  }
  #unlink(watch: Watch): void {
    watch.unlinked = true;
    this.#unlinked.push(watch);
  }
  /** Who is warm and has something again joins the line, as if it had been marked. */
  #promote(): void {
    const warm = this.#warm;
    let left = 0;
    for (const watch of warm) {
      if (!watch.warm) continue;
      if (watch.call !== this.#call) watch.forget();
      else if (watch.end.ready || this.#turn - watch.turn >= SELECT_WARM_TURNS) watch.marked();
      else warm[left++] = watch;
    }
    warm.length = left;
  }

  /** Nobody names those: their announcement may be gone, taken back for a message that was read already. */
  #lookAtUnlinked(): void {
    for (const watch of this.#unlinked) if (watch.armed && !watch.end.arm()) watch.marked();
  }

  /**
   * What no mark tells: that the agent at the other end was found dead, or what a mark that was lost would have told. Then what is
   * armed is armed anew: else the next one would not be made either. The marks are looked at after a slice anyway (Q3).
   */
  #lookAtAll(): void {
    const all = this.#lookout.ask(this.#unlinked);
    if (all) for (const member of this.#members) member.lookAnew();
    // Who has got a link meanwhile is named from its next announcement on.
    this.#unlinked = this.#unlinked.filter((watch) => {
      watch.unlinked = !watch.end.linked;
      if (!watch.unlinked) watch.marked();
      return watch.unlinked;
    });
    this.#askWhoIsLinked();
  }
  /** A channel leaves its link when its other end moves: some are asked in each slice, all in turn. */
  #askWhoIsLinked(): void {
    const members = this.#members;
    for (let i = Math.min(members.length, SELECT_PROBES_MAX); i > 0; i--) {
      this.#asked = (this.#asked + 1) % members.length;
      const member = members[this.#asked] as Watch;
      if (!member.unlinked && !member.end.linked) this.#unlink(member);
    }
  }
}
