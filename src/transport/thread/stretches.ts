// All lines of a channel, over the moves of either end: the stretch (stretch.ts) that this side posts on, earlier ones until nothing
// more comes there, and the tail. What comes on any of them is heard here and handed to the end, or, where that has left, sent on
// to where it is now (left-end.ts). Leads to no port: see transport/remains.ts. Longer than most files: what is heard on one line
// decides what is said on the others.
//
// The invariants of moves, V1 to V7, stand in docs/protocol/memory-layout.md, "Moves".
import { platform } from '#platform';
import { LINK_PATIENCE_MS, MOVE_LOOK_MS, MOVE_PATIENCE_MS, MOVES_PENDING_MAX } from '../../limits.ts';
import * as layout from '../../memory/layout.ts';
import type { NativePair } from '../../memory/native-pair.ts';
import type { SideWords } from '../../memory/region.ts';
import type { EndReason } from '../../outcome.ts';
import type { OnTheWay } from '../beside/lost-values.ts';
import type { AgentLinks } from './agent-links.ts';
import { isAboutChannel, type Joiner, Joining, type JoiningOptions } from './joining.ts';
import { LeftEnd } from './left-end.ts';
import { FOUNDER } from './members.ts';
import { letGoOfMessage } from './native-values.ts';
import { DONE, HERE, isAboutLines, LINE_BITS, MOVED, Stretch, TAIL } from './stretch.ts';
import { ThreadLink } from './thread-link.ts';

const TAG_MASK: number = 2 ** LINE_BITS - 1;

/** Whoever uses the lines. Held weakly: a link lives as long as its threads. */
export interface LinesUser {
  /** Something the other side sent came. */
  accept(kind: unknown, message: readonly unknown[]): void;
  /** Says again, on a line that this side has come to, what may have been lost on the one before and must not be. */
  repeat(joining: Joining): void;
  /** Something changed: look. Called from the event loop. */
  arrived(): void;
  /** The same for a mark in the ready set; or by a thread that is blocked, and nobody's code may run now. */
  marked(blocked: boolean): void;
  /** As Joiner. */
  seated(): void;
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

export class Stretches implements Joiner {
  protected readonly agent: AgentLinks | undefined;
  protected readonly side: SideWords;
  protected readonly options: JoiningOptions;
  protected readonly user: WeakRef<LinesUser>;
  /** The one that this side posts on. */
  protected stretch: Stretch;
  /** Of all stretches that this side has heard of: what was posted on one that is over may still be asked for by its rank. */
  protected rankMax = 0;
  /** The one that began when this end came here. */
  readonly #own: Stretch;
  /** It broke while there was no other one. */
  #ownGone = false;
  /** Earlier ones, and one that a later move has overtaken, until nothing more comes there. */
  #older: Stretch[] = [];
  /** What this end's predecessor sends on. */
  #tail: ThreadLink | undefined;
  /** Moves of the other side that were heard of. */
  #moves: number;
  /** The line that this side posts on has broken, and the news of where the other side has gone may still come. */
  #awaitsNews = false;
  /** This end has left: what still comes for it goes that way. */
  #left: LeftEnd | undefined;
  /** Posts that are under way: a getter of a value may look for messages, and post. */
  #posting = 0;
  #afterPosts: (() => void)[] | undefined;
  #onceLinked: (() => void)[] | undefined;
  /** This end uses them no more: it has ended, or left. */
  protected over = false;

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
    this.agent = agent;
    this.side = side;
    this.options = options;
    this.user = new WeakRef(user);
    this.#moves = luggage?.moves ?? 0;
    this.#own = this.#begin(first, luggage?.rank ?? 0);
    this.stretch = this.#own;
    this.#tail = luggage?.tail;
    this.#tail?.found(this);
    if (luggage !== undefined) this.#lookUntilMet(this.stretch);
  }
  #begin(first: ThreadLink, rank: number): Stretch {
    this.rankMax = Math.max(this.rankMax, rank);
    return new Stretch(new Joining(first, this.agent, this.side, this.options, this), rank);
  }

  get joining(): Joining {
    return this.stretch.joining;
  }

  // ---- what goes over them ------------------------------------------------------------------------------------

  /** Posts what belongs to the channel on the line of this side; where it has gone, as the other side must be told (V2). */
  protected postOnLine(kind: number, rest: readonly unknown[], transfer: readonly unknown[]): number {
    this.hearOfMove();
    const { tag, joining } = this.stretch;
    this.#posting++;
    try {
      const place = joining.line.post([kind, joining.address, ...rest], transfer);
      return (place << LINE_BITS) | tag;
    } finally {
      // What a getter let us hear while the message was not on its line yet, which is not to be left before it is.
      if (--this.#posting === 0) for (const then of this.#afterPosts?.splice(0) ?? []) then();
    }
  }
  quiet(then: () => void): void {
    if (this.#posting > 0) {
      this.#afterPosts ??= [];
      this.#afterPosts.push(then);
    } else then();
  }
  /** Whether everything up to there has come, or will not any more. */
  hasArrived(where: number): boolean {
    const tag = where & TAG_MASK;
    const stretch = this.#stretchOf(tag);
    if (stretch === undefined) return !this.unsettled;
    return stretch.isDone(tag) || stretch.lineOf(tag).hasArrived(where >> LINE_BITS);
  }
  /** Why the message there could not be made. */
  causeOf(where: number): { readonly cause: unknown } | undefined {
    const tag = where & TAG_MASK;
    return this.#stretchOf(tag)
      ?.lineOf(tag)
      .causeOf(where >> LINE_BITS);
  }
  #stretchOf(tag: number): Stretch | undefined {
    return this.#all.find((stretch) => stretch.has(tag));
  }
  get #all(): Stretch[] {
    return [this.stretch, ...this.#older];
  }
  /** Whether something may come by ways of which this thread, if it were blocked, could not take it in at will. */
  get unsettled(): boolean {
    return this.#unsettledHere || (this.moveUnheard && !this.#willNotMeet);
  }
  /** The other side may not have heard yet that this end has come here. What must not be lost it says again when it has. */
  get unmet(): boolean {
    return this.#isUnmet && !this.#willNotMeet;
  }
  get #isUnmet(): boolean {
    return this.stretch === this.#own && this.stretch.rank !== 0 && !this.joining.met;
  }
  /** It has ended before it heard: it says nothing again, nor where it has gone. What it had said is there, or with who passes it on. */
  get #willNotMeet(): boolean {
    // SYNC closed: what was said before is there (T1); pairs with EndTeller.tell.
    return this.#isUnmet && Atomics.load(this.side.words, this.side.there + layout.CLOSED) !== 0;
  }
  get #unsettledHere(): boolean {
    return this.#older.length > 0 || this.#tail !== undefined || this.#left !== undefined;
  }
  /** Nothing more comes on any of them (V5, V6). */
  get areOver(): boolean {
    return this.#older.length === 0 && this.#tail === undefined && this.stretch.isOver;
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

  /**
   * Ends of other channels were sent on these lines, which close here. Whoever reads them may go over to another thread and take them along,
   * of which nobody hears here any more: from then on it is no matter of ours if the thread ends that these lines lead to.
   */
  protected answerFor(ends: readonly OnTheWay[]): void {
    if (ends.length === 0) return;
    const { words, there } = this.side;
    const moves = this.#moves;
    // SYNC moved: a plain look; pairs with ChannelLines.leave.
    this.joining.line.answerFor(ends, () => Atomics.load(words, there + layout.MOVES) === moves);
  }

  // ---- what comes on them -------------------------------------------------------------------------------------

  accept(kind: unknown, message: readonly unknown[], line: ThreadLink): void {
    if (isAboutLines(kind) || isAboutChannel(kind)) {
      this.quiet(() => this.#hear(message, line));
      return;
    }
    const user = this.user.deref();
    if (this.#left !== undefined) this.#left.sendOn(message);
    else if (user === undefined) letGoOfMessage(message);
    else user.accept(kind, message);
  }
  #hear(message: readonly unknown[], line: ThreadLink): void {
    const [kind, , tag] = message;
    if (kind === MOVED) this.#hearMoved(message);
    if (kind === HERE) this.#heardMoves(tag);
    else if (isAboutLines(kind)) this.#done(tag);
    else {
      const stretch = this.#all.find(({ joining }) => joining.first === line);
      stretch?.joining.hear(kind as number, message);
      if (stretch !== undefined && !stretch.isLeft && stretch.rank > this.stretch.rank) this.#goOn(stretch);
      if (this.#unsettledHere) this.#settle();
    }
  }
  arrived(): void {
    if (this.#left !== undefined) this.#left.ring();
    else this.user.deref()?.arrived();
  }
  marked(blocked: boolean): void {
    this.hearOfMove();
    if (this.#left !== undefined) this.#left.ring();
    else this.user.deref()?.marked(blocked);
  }
  seated(): void {
    this.user.deref()?.seated();
    for (const then of this.#onceLinked?.splice(0) ?? []) then();
  }
  /** Calls `then` when this side goes on to the link of the two threads, or has waited for that long enough. */
  onceLinked(then: () => void): void {
    if (this.joining.link !== undefined || this.over) {
      then();
      return;
    }
    this.#onceLinked ??= [];
    this.#onceLinked.push(then);
    platform.later(() => {
      if (this.#onceLinked?.includes(then)) this.seated();
    }, LINK_PATIENCE_MS);
  }
  gone(how: EndReason | undefined, error: unknown, link: ThreadLink): void {
    if (link === this.#tail) this.#onceEmpty(link, () => this.#done(TAIL));
    else if (this.#left !== undefined || !this.stretch.uses(link)) this.#onceEmpty(link, () => this.#broken(link));
    else if (how !== undefined || !this.joining.broken(link)) this.#peerGone(how, error);
  }
  /** Asks whether the other side's thread is gone, without the event loop. */
  peerGone(): EndReason | undefined {
    this.agent?.left.sendOn();
    if (this.unsettled) this.pull();
    // What was to come by way of other threads never will, if they are gone.
    for (const { joining } of [...this.#older]) joining.line.peerGone();
    this.#tail?.peerGone();
    const { first, line } = this.joining;
    if (line !== first) first.pull();
    return line.peerGone();
  }
  /** The other side's thread is gone, unless that is a thread which the other side has left (V3). */
  #peerGone(how: EndReason | undefined, error: unknown): void {
    const { stretch } = this;
    this.#ownGone ||= stretch === this.#own;
    this.hearOfMove();
    if (this.stretch !== stretch) return;
    if (this.moveUnheard) this.#awaitNews(stretch);
    else this.user.deref()?.gone(how, error);
  }
  /** It did not say where to, or only our event loop can hear it, or both sides have moved, and a thread that was left has still to pass it on. */
  #awaitNews(broken: Stretch): void {
    const tell = (): void => {
      if (this.stretch !== broken || !this.moveUnheard) return;
      this.#awaitsNews = false;
      // Nothing that was sent by way of it comes any more: who waits for it is told so.
      this.#moves = Atomics.load(this.side.words, this.side.there + layout.MOVES);
      // It may well live, and find us no more than we find it.
      this.user.deref()?.gone('lost', undefined);
    };
    if (this.#tail === undefined && platform.canTake) tell();
    else if (!this.#awaitsNews) {
      this.#awaitsNews = true;
      platform.later(tell, MOVE_PATIENCE_MS);
    }
  }

  // ---- moves of the other side --------------------------------------------------------------------------------

  /** The other side has gone over to another thread, and we have not heard to which. */
  protected get moveUnheard(): boolean {
    // SYNC moved: MOVED was said before; pairs with ChannelLines.leave.
    return Atomics.load(this.side.words, this.side.there + layout.MOVES) !== this.#moves;
  }
  /** Takes in who it is, if there is any such news and it can be had at will; whether there was. */
  protected hearOfMove(): boolean {
    if (!this.moveUnheard) return false;
    this.pull();
    return true;
  }
  /** The other side goes on over new native ports. */
  #hearMoved(message: readonly unknown[]): void {
    const [kind, , , rank, tether, side, moves] = message;
    if (typeof rank !== 'number' || !Number.isSafeInteger(rank)) return;
    // One for both would be read while it says that it is closed, which ends the process on Node.
    if (!platform.isNativePort(tether) || !platform.isNativePort(side) || tether === side) return;
    if (this.#left !== undefined) {
      this.#left.sendOn([kind, FOUNDER, null, rank, tether, side, moves], [tether, side]);
      return;
    }
    if (this.#older.length >= MOVES_PENDING_MAX) {
      letGoOfMessage(message);
      return;
    }
    this.#heardMoves(moves);
    const stretch = this.#begin(new ThreadLink({ tether, side } as NativePair), rank);
    // V4: both sides come to the stretch of the highest rank, whatever they hear in which order. Ours is not one of both as long as nobody
    // was heard there: it may be lost with a thread that has to pass it on.
    if (rank > this.stretch.rank || (this.stretch === this.#own && !this.joining.met)) this.#goOn(stretch);
    else {
      this.#older.push(stretch);
      stretch.leave(DONE);
    }
    this.user.deref()?.marked(true);
  }
  #heardMoves(moves: unknown): void {
    if (typeof moves === 'number' && ((moves - this.#moves) | 0) > 0) this.#moves = moves | 0;
  }
  /** From now on this side posts there: the other one is there, too, or has begun it. */
  #goOn(stretch: Stretch): void {
    this.#older = [...this.#older, this.stretch].filter((each) => each !== stretch);
    this.stretch = stretch;
    this.#awaitsNews = false;
    if (this.#ownGone) this.#own.broken(this.#own.joining.first);
    for (const each of this.#older) if (!each.isLeft && each.rank < stretch.rank) each.leave(DONE);
    const { joining } = stretch;
    // First: as long as nothing else was heard there, the other side waits for what may come (unmet).
    this.user.deref()?.repeat(joining);
    if (joining.met) return;
    const moves = Atomics.load(this.side.words, this.side.here + layout.MOVES);
    if (moves !== 0) joining.first.say([HERE, FOUNDER, moves]);
    joining.introduce(undefined, false);
    // It may have gone to rest meanwhile, and nobody could ring.
    joining.first.doorbell();
    this.#lookUntilMet(stretch);
  }
  /**
   * As long as it is on its way, or has not heard that we are here, nobody may be there who could ring if it is lost: its thread may be
   * terminated without having had a turn (V7).
   */
  #lookUntilMet(stretch: Stretch): void {
    platform.later(() => {
      if (this.over || stretch !== this.stretch || stretch.joining.met) return;
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
      // Nobody else could still bring it.
      if (this.#awaitsNews) this.#peerGone(undefined, undefined);
    } else if (typeof tag === 'number') this.#stretchOf(tag)?.done(tag);
    this.#settle();
  }
  /** The end of a line may overtake what was said on it. */
  #onceEmpty(line: ThreadLink, then: () => void): void {
    if (!platform.canTake) platform.later(then, MOVE_PATIENCE_MS);
    else {
      line.pull();
      then();
    }
  }
  #broken(line: ThreadLink): void {
    for (const stretch of this.#all) stretch.broken(line);
    this.#settle();
  }
  #settle(): void {
    for (const stretch of this.#older) if (stretch.isOver) stretch.joining.close(true);
    this.#older = this.#older.filter((stretch) => !stretch.isOver);
    if (this.#left === undefined) queueMicrotask(() => this.arrived());
    else if (this.areOver) this.#endLeft();
  }
  /** Nothing more comes for the end that has left, or whoever has it now is done with it. */
  #endLeft(): void {
    this.agent?.left.over(this);
    this.#left?.over();
    this.closeLines(true);
  }

  // ---- this side leaves ---------------------------------------------------------------------------------------

  /** What came by now is this end's; what comes from now on goes where it goes. */
  protected leaveTo(tail: NativePair): LinesLuggage['moves'] {
    this.over = true;
    for (const each of this.#older) if (!each.isLeft) each.leave(DONE);
    this.#left = new LeftEnd(tail, () => this.#endLeft());
    this.agent?.left.add(this);
    return this.#moves;
  }
  protected get hasLeft(): boolean {
    return this.#left !== undefined;
  }
  /** @param attached whether a thread has the other end */
  protected closeLines(attached: boolean): void {
    // What came for a user that is garbage is let go.
    if (this.user.deref() === undefined) this.pull();
    this.over = true;
    for (const { joining } of this.#older) joining.close(true);
    this.#tail?.close(true);
    this.joining.close(attached);
  }
}
