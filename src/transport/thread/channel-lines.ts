// The native ways of one end of a channel: the ports that came with its handle, and the link of its two threads once both
// have said that they know it (joining.ts). Leads to no port: see transport/remains.ts.
//
// How a side is woken. Each announcement says how (wait/signal.ts). A side announces ABOVE only once the other one has said
// that it knows the link, with SEAT stored before. One that sleeps on its own is rung by its old ports until SEAT says
// that it has a link, and over the link from then on.
//
// How an end goes over to another thread (docs/decisions/0033). Whoever leaves makes native ports: the first line of a new stretch
// (stretch.ts). One end of it travels in the handle, the other one is said to the other side: MOVED, the last on the line that this
// side has used last. Then MOVES is counted on: whoever finds that it has, and has not heard why, takes in what waits for it. What is
// still on its way to the one who has left, he sends on, over a line that travelled along (the TAIL), until the other side
// has said on each line that it has posted its last.
//
// Longer than a file should be: an end that has left, and sends on what still comes, is to be an object of its own.
import { platform } from '#platform';
import { MOVE_LOOK_MS, MOVE_PATIENCE_MS, MOVES_PENDING_MAX } from '../../limits.ts';
import * as layout from '../../memory/layout.ts';
import { createNatives, type NativePair } from '../../memory/native-pair.ts';
import type { SideWords } from '../../memory/region.ts';
import type { EndReason } from '../../outcome.ts';
import { BLOCKED, Waker } from '../../wait/signal.ts';
import type { EndLines } from '../ring/end-teller.ts';
import type { AgentLinks } from './agent-links.ts';
import { isAboutChannel, type Joiner, Joining, type JoiningOptions } from './joining.ts';
import { letGoOfMessage, nativesOfMessage } from './native-values.ts';
import { DONE, isAboutLines, LINE_BITS, MOVED, rankAfter, Stretch, TAIL } from './stretch.ts';
import { FOUNDER, ThreadLink } from './thread-link.ts';

const TAG_MASK: number = 2 ** LINE_BITS - 1;

/** Whoever uses the lines. Held weakly: a link lives as long as its threads. */
export interface LinesUser {
  /** Something the other side sent came. */
  accept(kind: unknown, message: readonly unknown[]): void;
  /** Something changed: look. Called from the event loop. */
  arrived(): void;
  /** The same for a mark in the ready set; or by a thread that is blocked, and nobody's code may run now. */
  marked(blocked: boolean): void;
  /** The other thread is gone; `how` is undefined if only that is known. */
  gone(how: EndReason | undefined, error: unknown): void;
}

/** What the lines of an end take along. */
export interface LinesLuggage {
  /** Of the stretch that begins. */
  readonly rank: number;
  /** Moves of the other side that were heard of. */
  readonly moves: number;
}

export class ChannelLines implements Joiner, EndLines {
  readonly #agent: AgentLinks | undefined;
  readonly #side: SideWords;
  readonly #options: JoiningOptions;
  readonly #user: WeakRef<LinesUser>;
  #stretch: Stretch;
  /** Earlier ones, and one that a later move has overtaken, until nothing more comes there. */
  #older: Stretch[] = [];
  /** What this end's predecessor sends on. */
  #tail: ThreadLink | undefined;
  /** Moves of the other side that were heard of. */
  #moves: number;
  /** This end has left: where what still comes for it goes. */
  #relay: ThreadLink | undefined;
  #held = false;
  /** Values were posted. */
  #posted = false;
  /** Posts that are under way: a getter of a value may look for messages, and post. */
  #posting = 0;
  readonly #afterPosts: (() => void)[] = [];
  #over = false;

  /**
   * @param first what came with the handle
   * @param agent this thread's links; without them the channel keeps to its own ports
   * @param luggage what the one has taken along that this end goes on for, and the line by which he sends on the rest
   */
  constructor(
    first: ThreadLink,
    agent: AgentLinks | undefined,
    side: SideWords,
    options: JoiningOptions,
    user: LinesUser,
    luggage?: LinesLuggage & { readonly tail: ThreadLink },
  ) {
    this.#agent = agent;
    this.#side = side;
    this.#options = options;
    this.#user = new WeakRef(user);
    this.#moves = luggage?.moves ?? 0;
    this.#stretch = this.#begin(first, luggage?.rank ?? 0);
    this.#tail = luggage?.tail;
    this.#tail?.found(this);
    if (luggage !== undefined) this.#lookUntilMet(this.#stretch);
  }
  #begin(first: ThreadLink, rank: number): Stretch {
    return new Stretch(new Joining(first, this.#agent, this.#side, this.#options, this), rank);
  }

  get joining(): Joining {
    return this.#stretch.joining;
  }
  /** What both ends have mapped: whoever is asked to carry an end of it over itself must not. */
  get memory(): unknown {
    return this.#side.words.buffer;
  }

  // ---- what goes over them ------------------------------------------------------------------------------------

  /** To be written on what is posted now. */
  get address(): number {
    return this.joining.address;
  }
  /** Posts a value or what belongs to one; where it has gone, as the other side must be told. @throws as ThreadLink.post */
  post(kind: number, rest: readonly unknown[], transfer: readonly unknown[]): number {
    this.#hearOfMove();
    const { tag, joining } = this.#stretch;
    this.#posting++;
    try {
      const place = joining.line.post([kind, joining.address, ...rest], transfer);
      this.#posted = true;
      return (place << LINE_BITS) | tag;
    } finally {
      // What a getter let us hear while the message was not on its line yet, which is not to be left before it is.
      if (--this.#posting === 0) for (const then of this.#afterPosts.splice(0)) then();
    }
  }
  quiet(then: () => void): void {
    if (this.#posting > 0) this.#afterPosts.push(then);
    else then();
  }
  /** Whether everything up to there has come, or will not any more. */
  hasArrived(where: number): boolean {
    const tag = where & TAG_MASK;
    const stretch = this.#stretchOf(tag);
    if (stretch === undefined) return !this.unsettled;
    return stretch.isDone(tag) || stretch.lineOf(tag).hasArrived(where >> LINE_BITS);
  }
  /** Why the message there could not be made. */
  causeOf(where: number): unknown {
    const tag = where & TAG_MASK;
    return this.#stretchOf(tag)
      ?.lineOf(tag)
      .causeOf(where >> LINE_BITS);
  }
  #stretchOf(tag: number): Stretch | undefined {
    return [this.#stretch, ...this.#older].find((stretch) => stretch.has(tag));
  }
  /** Whether something may come by ways of which this thread, if it were blocked, could not take it in at will. */
  get unsettled(): boolean {
    return this.#unsettledHere || this.#moveUnheard;
  }
  get #unsettledHere(): boolean {
    return this.#older.length > 0 || this.#tail !== undefined || this.#relay !== undefined;
  }
  pull(): void {
    let heard: number;
    do {
      heard = this.#moves;
      this.joining.pull();
      if (this.#older.length > 0) for (const { joining } of [...this.#older]) joining.pull();
      this.#tail?.pull();
      // What waits on a line that we have heard of just now has come, too.
    } while (heard !== this.#moves);
  }
  get natives(): readonly unknown[] {
    const { first, reachable } = this.joining;
    return reachable === undefined || reachable === first ? first.natives : [...first.natives, ...reachable.natives];
  }

  accept(kind: unknown, message: readonly unknown[], line: ThreadLink): void {
    if (isAboutLines(kind) || isAboutChannel(kind)) {
      this.quiet(() => this.#hear(message, line));
      return;
    }
    const user = this.#user.deref();
    if (this.#relay !== undefined) this.#sendOn(message);
    else if (user === undefined) letGoOfMessage(message);
    else user.accept(kind, message);
  }
  #hear(message: readonly unknown[], line: ThreadLink): void {
    const [kind, , tag] = message;
    if (kind === MOVED) this.#hearMoved(message);
    if (isAboutLines(kind)) this.#done(tag);
    else {
      [this.#stretch, ...this.#older]
        .find((stretch) => stretch.joining.first === line)
        ?.joining.hear(kind as number, message);
      if (this.#unsettledHere) this.#settle();
    }
  }
  arrived(): void {
    if (this.#relay !== undefined) this.#relay.doorbell();
    else this.#user.deref()?.arrived();
  }
  marked(blocked: boolean): void {
    this.#hearOfMove();
    if (this.#relay !== undefined) this.#relay.doorbell();
    else this.#user.deref()?.marked(blocked);
  }
  gone(how: EndReason | undefined, error: unknown, link: ThreadLink): void {
    if (link === this.#relay) this.#relay.close(true);
    else if (link === this.#tail) {
      link.pull();
      this.#done(TAIL);
    } else if (this.#relay !== undefined || !this.#stretch.uses(link)) this.#lost(link);
    else if (how !== undefined || !this.joining.lost(link)) this.#peerGone(how, error);
  }
  /** The other side's thread is gone, unless that is a thread which the other side has left. */
  #peerGone(how: EndReason | undefined, error: unknown): void {
    if (!this.#hearOfMove()) this.#user.deref()?.gone(how, error);
    else if (this.#moveUnheard) {
      // It did not say where to, or only our event loop can hear it.
      const tell = (): void => {
        if (this.#moveUnheard) this.#user.deref()?.gone(how, error);
      };
      if (platform.canTake) tell();
      else platform.later(tell, MOVE_PATIENCE_MS);
    }
  }

  // ---- moves --------------------------------------------------------------------------------------------------

  /** The other side has gone over to another thread, and we have not heard to which. */
  get #moveUnheard(): boolean {
    // SYNC moved: MOVED was said before; pairs with leave.
    return Atomics.load(this.#side.words, this.#side.there + layout.MOVES) !== this.#moves;
  }
  /** Takes in who it is, if there is any such news and it can be had at will; whether there was. */
  #hearOfMove(): boolean {
    if (!this.#moveUnheard) return false;
    this.pull();
    return true;
  }
  /** The other side goes on over new native ports. */
  #hearMoved(message: readonly unknown[]): void {
    const [, , , rank, tether, side] = message;
    if (typeof rank !== 'number' || !platform.isNativePort(tether) || !platform.isNativePort(side)) return;
    if (this.#relay !== undefined) {
      this.#relay.say([MOVED, FOUNDER, null, rank, tether, side], [tether, side]);
      return;
    }
    if (this.#older.length >= MOVES_PENDING_MAX) {
      letGoOfMessage(message);
      return;
    }
    this.#moves = (this.#moves + 1) | 0;
    const stretch = this.#begin(new ThreadLink({ tether, side } as NativePair), rank);
    const isLater = rank > this.#stretch.rank;
    const earlier = isLater ? this.#stretch : stretch;
    if (isLater) this.#stretch = stretch;
    this.#older.push(earlier);
    earlier.leave(DONE);
    if (isLater) {
      stretch.joining.introduce(undefined, false);
      // It may have gone to rest meanwhile, and nobody could ring.
      stretch.joining.first.doorbell();
      this.#lookUntilMet(stretch);
    }
    this.#user.deref()?.marked(true);
  }
  /**
   * As long as it is on its way, or has not heard that we are here, nobody may be there who could ring if it is lost: its thread may be
   * terminated without having had a turn.
   */
  #lookUntilMet(stretch: Stretch): void {
    platform.later(() => {
      if (this.#over || stretch !== this.#stretch || stretch.joining.met) return;
      this.peerGone();
      this.arrived();
      this.#lookUntilMet(stretch);
    }, MOVE_LOOK_MS);
  }
  /** Nothing more comes on a line. */
  #done(tag: unknown): void {
    if (tag === TAIL) {
      this.#tail?.close(true);
      this.#tail = undefined;
    } else if (typeof tag === 'number') this.#stretchOf(tag)?.done(tag);
    this.#settle();
  }
  #lost(line: ThreadLink): void {
    // Its end may overtake what was said on it.
    line.pull();
    for (const stretch of [this.#stretch, ...this.#older]) stretch.lost(line);
    this.#settle();
  }
  #settle(): void {
    for (const stretch of this.#older) if (stretch.isOver) stretch.joining.close(true);
    this.#older = this.#older.filter((stretch) => !stretch.isOver);
    if (this.#relay === undefined) queueMicrotask(() => this.arrived());
    else if (this.#older.length === 0 && this.#tail === undefined && this.#stretch.isOver) {
      this.#relay.say([DONE, FOUNDER, TAIL]);
      // Its other end may not have arrived yet, and closes it when it has.
      this.#relay.close(false);
      this.joining.close(true);
    }
  }

  /**
   * This end goes over to another thread. What still comes for it is sent on from here.
   * @returns the native ports that the handle is to have, what is to go along, and the line by which the rest follows
   */
  leave(): { readonly natives: NativePair; readonly luggage: LinesLuggage; readonly tail: NativePair } {
    this.pull();
    const { words, here, there } = this.#side;
    const { near, far } = createNatives();
    const tail = createNatives();
    const rank = rankAfter(this.#stretch.rank, here === layout.SIDE_0 ? 0 : 1);
    this.hold(false);
    this.#posted = false;
    this.#over = true;
    this.#relay = new ThreadLink(tail.near);
    this.#relay.found(this);
    if (!this.#stretch.leave(MOVED, [rank, near.tether, near.side], [near.tether, near.side])) {
      near.tether.close();
      near.side.close();
    }
    // SYNC moved: who sees it finds MOVED on the line where he is, if he can take from it; pairs with #moveUnheard.
    Atomics.add(words, here + layout.MOVES, 1);
    this.#stretch.ring();
    // Who is blocked may not look after its peer, because it knows that it need not: that one.
    new Waker(this.#options.parking.place(words, there + layout.PARK), BLOCKED, () => {}).ring();
    return { natives: far, luggage: { rank, moves: this.#moves }, tail: tail.far };
  }
  #sendOn(message: readonly unknown[]): void {
    const [kind, , ...rest] = message;
    try {
      if (this.#relay?.say([kind, FOUNDER, ...rest], nativesOfMessage(message)) === true) return;
    } catch {
      // Something in it cannot be moved a second time: who asks for the value is told that it never came.
    }
    letGoOfMessage(message);
  }

  // ---- waking and resting -------------------------------------------------------------------------------------

  get linked(): boolean {
    return this.joining.seat.taken;
  }
  /** Rings for the other side, which sleeps on its own for a message on a native port. */
  doorbell(): void {
    this.#hearOfMove();
    const { first, link, seat } = this.joining;
    const { there } = seat;
    if (link !== undefined && there >= 0) link.ringOwn(there);
    else first.doorbell();
  }
  /**
   * Rings for the other side, which sleeps above: it knows the link, and we may not have heard that it does. Or it has a link
   * with the thread that this end was in before, and hears of us by its native ports.
   */
  above(): void {
    this.#hearOfMove();
    if (!this.#stretch.ring()) this.joining.first.doorbell();
  }
  /** The other side is to look at our end, however it sleeps. On its old ports it hears of it by their close. */
  tellEnd(): void {
    this.#hearOfMove();
    this.#stretch.ring();
  }
  /** The other side has ended. What it has not taken by now it is to let go, and it does not look any more. */
  peerOver(): void {
    if (this.#posted) this.joining.line.hearMe();
    this.#posted = false;
  }
  /** Rests on the event loop, with all channels of the link. */
  rest(): void {
    this.joining.link?.rest();
  }
  hold(held: boolean): void {
    if (held === this.#held || (held && this.#over)) return;
    this.#held = held;
    this.#agent?.hold(held);
  }

  // ---- life ---------------------------------------------------------------------------------------------------

  peerGone(): EndReason | undefined {
    if (this.unsettled) this.pull();
    const { first, line } = this.joining;
    if (line !== first) first.pull();
    return line.peerGone();
  }
  get peerError(): unknown {
    return this.joining.first.peerError ?? this.joining.link?.peerError;
  }
  /** @param attached whether a thread has the other end */
  close(attached: boolean): void {
    this.hold(false);
    // What comes for who has left is not ours to end.
    if (this.#relay !== undefined) return;
    if (attached) this.peerOver();
    // What came for a user that is garbage is let go.
    if (this.#user.deref() === undefined) this.pull();
    this.#over = true;
    for (const { joining } of this.#older) joining.close(true);
    this.#tail?.close(true);
    this.joining.close(attached);
  }
}
