// The lines of a channel from one move of an end to the next: the native ports that came with it, its first line, and the link
// that it joined. When an end goes over to another thread, a new stretch begins. What was posted on the lines before goes on
// arriving there; each side says on each of them when it has posted its last.
import type { EndReason } from '../../outcome.ts';
import type { Joining } from './joining.ts';
import { FOUNDER, type ThreadLink } from './thread-link.ts';

/** What is said on a line that this side leaves. */
export const DONE = 48;
/** As DONE, by a side that goes over to another thread; with the first line of the stretch that begins. */
export const MOVED = 49;

/** Bits by which a value's place says which line it is of. */
export const LINE_BITS = 4;
/** The line that one who has left sends on what still comes for him (channel-lines.ts). */
export const TAIL = -1;

/** Who moves when both may: a later move counts, and of two at a time that of side 0. */
export function rankAfter(rank: number, side: 0 | 1): number {
  return ((rank >> 1) + 1) * 2 + (side === 0 ? 1 : 0);
}

export class Stretch {
  readonly joining: Joining;
  readonly rank: number;
  /** Nothing more comes on the first line, and on the link. */
  #firstDone = false;
  #linkDone = false;

  constructor(joining: Joining, rank: number) {
    this.joining = joining;
    this.rank = rank;
  }

  /** Where what is sent now goes, as `where` says it to the other side. */
  get tag(): number {
    return this.tagOf(this.joining.line);
  }
  tagOf(line: ThreadLink): number {
    return ((this.rank & 7) << 1) | (line === this.joining.first ? 0 : 1);
  }
  has(tag: number): boolean {
    return tag >> 1 === (this.rank & 7);
  }
  /** The line of a tag. The other side may have gone on to it before we hear of it. */
  lineOf(tag: number): ThreadLink {
    const { first, known } = this.joining;
    return (tag & 1) === 0 ? first : (known ?? first);
  }
  pull(): void {
    const { first, known } = this.joining;
    first.pull();
    if (known !== undefined && known !== first) known.pull();
  }

  /** This side leaves the lines for good. @param last what is said on the line that it has used last */
  leave(last: (address: number, tag: number) => readonly [message: readonly unknown[], transfer: readonly unknown[]]): void {
    const { joining } = this;
    const { first, line, peerAddress } = joining;
    if (line !== first) first.say([DONE, FOUNDER, this.tagOf(first), false]);
    line.say(...last(peerAddress, this.tag));
    joining.leave();
  }
  /** @param all there is no other line that anything could come on */
  done(tag: number, all: boolean): void {
    if ((tag & 1) === 0 || all) this.#firstDone = true;
    if ((tag & 1) === 1 || all) this.#linkDone = true;
  }
  /** A line is over, and with it whatever did not come. */
  lost(line: ThreadLink): void {
    if (line === this.joining.first) this.#firstDone = true;
    if (line === this.joining.known) this.#linkDone = true;
  }
  isDone(tag: number): boolean {
    const { first, known, firstOver } = this.joining;
    if ((tag & 1) === 0) return this.#firstDone || firstOver;
    return this.#linkDone || known === undefined || known === first;
  }
  get isOver(): boolean {
    return this.isDone(0) && this.isDone(1);
  }
}
