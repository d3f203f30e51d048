// The lines of a channel from one move of an end to the next: the native ports that came with it, its first line, and the link
// that it joined. When an end goes over to another thread, a new stretch begins. What was posted on the lines before goes on
// arriving there; each side says on each of them when it has posted its last.
import type { Joining } from './joining.ts';
import type { ThreadLink } from './thread-link.ts';

/** What is said on a line that this side leaves. */
export const DONE = 48;
/** As DONE, by a side that goes over to another thread; with the first line of the stretch that begins. */
export const MOVED = 49;
/** By a side that goes on with a stretch that the other one has begun: how often it has moved by then. */
export const HERE = 50;

export function isAboutLines(kind: unknown): kind is number {
  return kind === DONE || kind === MOVED || kind === HERE;
}

/** Of the rank, as a value's place says it: a value that is still on its way while its end moves 64 times is taken for lost. */
const RANK_MASK = 127;
/** Bits by which a value's place says which line it is of: those of the rank, and whether it is a link. */
export const LINE_BITS = 8;
/** The line that one who has left sends on what still comes for him (channel-lines.ts). */
export const TAIL = -1;

/** Who moves when both may: a later move counts, and of two at a time that of side 0 (V4). */
export function rankAfter(rank: number, side: 0 | 1): number {
  return ((rank >> 1) + 1) * 2 + (side === 0 ? 1 : 0);
}

export class Stretch {
  readonly joining: Joining;
  readonly rank: number;
  /** Nothing more comes on the first line, and on the link. */
  #firstDone = false;
  #linkDone = false;
  /** This side posts nothing more here, and has said so if anybody was there to hear it. */
  isLeft = false;

  constructor(joining: Joining, rank: number) {
    this.joining = joining;
    this.rank = rank;
  }

  /** Which line what is sent now goes over, as the other side is told it (V2). */
  get tag(): number {
    const { line, first } = this.joining;
    return ((this.rank & RANK_MASK) << 1) | (line === first ? 0 : 1);
  }
  has(tag: number): boolean {
    return tag >> 1 === (this.rank & RANK_MASK);
  }
  /** The line of a tag. The other side may have gone on to it before we hear of it. */
  lineOf(tag: number): ThreadLink {
    const { first, reachable } = this.joining;
    return (tag & 1) === 0 ? first : (reachable ?? first);
  }
  /** Rings for the other side, if it sleeps above by a link of this stretch; false: it does not. */
  ring(): boolean {
    const { reachable, seat } = this.joining;
    const { there } = seat;
    if (reachable === undefined || there < 0) return false;
    reachable.ring(there);
    return true;
  }
  uses(line: ThreadLink): boolean {
    return line === this.joining.first || line === this.joining.reachable;
  }

  /**
   * This side leaves the lines for good; false: nobody hears of it any more. Where it has gone on to the link it has said before
   * that nothing more comes on the first line (joining.ts).
   */
  leave(kind: typeof DONE | typeof MOVED, rest: readonly unknown[] = [], transfer: readonly unknown[] = []): boolean {
    const { joining } = this;
    this.isLeft = true;
    const said = joining.line.say([kind, joining.address, this.tag, ...rest], transfer);
    joining.leave();
    return said;
  }
  /** The other side leaves the line (V5). If it never went on to the link, it never will. */
  done(tag: number): void {
    if ((tag & 1) === 0) this.#firstDone = true;
    this.#linkDone = true;
  }
  /** A line is over, and with it whatever did not come. */
  broken(line: ThreadLink): void {
    if (line === this.joining.first) {
      this.#firstDone = true;
      this.isLeft = true;
    }
    if (line === this.joining.reachable) this.#linkDone = true;
  }
  isDone(tag: number): boolean {
    const { first, reachable, firstOver } = this.joining;
    if ((tag & 1) === 0) return this.#firstDone || firstOver;
    return this.#linkDone || reachable === undefined || reachable === first;
  }
  /** Nothing more goes that way, nor comes. */
  get isOver(): boolean {
    return this.isLeft && this.isDone(0) && this.isDone(1);
  }
}
