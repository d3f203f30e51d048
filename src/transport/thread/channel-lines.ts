// The native ways of one end of a channel, as that end uses them: the ports that came with its handle, and the link of its two threads
// once both have said that they know it (joining.ts). Over moves there are more of them: stretches.ts.
//
// How a side is woken. Each announcement says how (wait/signal.ts). A side announces ABOVE only once the other one has said
// that it knows the link, with SEAT stored before. One that sleeps on its own is rung by its old ports until SEAT says
// that it has a link, and over the link from then on.
//
// How an end goes over to another thread (docs/decisions/0033). Whoever leaves makes native ports: the first line of a new stretch
// (stretch.ts). One end of it travels in the handle, the other one is said to the other side: MOVED, the last on the line that this
// side has used last. Then MOVES is counted on: whoever finds that it has, and has not heard why, takes in what waits for it. What is
// still on its way to the one who has left, a LeftEnd sends on.

import { platform } from '#platform';
import { ownAgent } from '../../link/own-agent.ts';
import { QuietPlace } from '../../link/quiet-place.ts';
import * as layout from '../../memory/layout.ts';
import type { NativePair } from '../../memory/native-pair.ts';
import { createNatives } from '../../memory/native-pair.ts';
import type { ParkPlace } from '../../wait/park-place.ts';
import { BLOCKED, Waker } from '../../wait/signal.ts';
import { isUnopened, type OnTheWay } from '../beside/lost-values.ts';
import type { EndLines } from '../ring/end-teller.ts';
import { MOVED, rankAfter } from './stretch.ts';
import { type LinesLuggage, Stretches } from './stretches.ts';
import type { ThreadLink } from './thread-link.ts';

const NONE: readonly OnTheWay[] = [];

export class ChannelLines extends Stretches implements EndLines {
  #held = false;
  /** Values were posted that the other side may not have taken. */
  #posted = false;
  /** Ends of other channels that go over these lines, and are perhaps not opened yet. Here, as they outlive a port that nobody holds. */
  #sent = NONE;

  /** What both ends have mapped: whoever is asked to carry an end of it over itself must not. */
  get memory(): unknown {
    return this.side.words.buffer;
  }
  get natives(): readonly unknown[] {
    const { first, reachable } = this.joining;
    return reachable === undefined || reachable === first ? first.natives : [...first.natives, ...reachable.natives];
  }
  /** Posts a value or what belongs to one; where it has gone, as the other side must be told. @throws as ThreadLink.post */
  post(kind: number, rest: readonly unknown[], transfer: readonly unknown[]): number {
    this.#posted = true;
    return this.postOnLine(kind, rest, transfer);
  }
  sends(ends: readonly OnTheWay[]): void {
    this.#sent = [...this.#sent.filter(isUnopened), ...ends];
  }
  /** Whoever asks sees to them from now on. */
  takeSent(): readonly OnTheWay[] {
    const sent = this.#sent;
    this.#sent = NONE;
    return sent;
  }

  /**
   * This end goes over to another thread. What still comes for it is sent on from here.
   * @returns the native ports that the handle is to have, what is to go along, and the line by which the rest follows
   */
  leave(): { readonly natives: NativePair; readonly luggage: LinesLuggage; readonly tail: NativePair } {
    this.pull();
    const { words, here, there } = this.side;
    const { near, far } = createNatives();
    const tail = createNatives();
    const rank = rankAfter(this.rankMax, here === layout.SIDE_0 ? 0 : 1);
    this.hold(false);
    this.#posted = false;
    const moves = this.leaveTo(tail.near);
    const times = (Atomics.load(words, here + layout.MOVES) + 1) | 0;
    if (!this.stretch.leave(MOVED, [rank, near.tether, near.side, times], [near.tether, near.side])) {
      near.tether.close();
      near.side.close();
    }
    // SYNC moved: who sees it finds MOVED on the line where he is, if he can take from it (V3); pairs with Stretches.moveUnheard.
    Atomics.add(words, here + layout.MOVES, 1);
    this.stretch.ring();
    // Who is blocked may not look after its peer, because it knows that it need not: that one.
    new Waker(this.options.parking.place(words, there + layout.PARK), BLOCKED, () => {}).ring();
    return { natives: far, luggage: { rank, moves }, tail: tail.far };
  }

  // ---- waking and resting -------------------------------------------------------------------------------------

  get linked(): boolean {
    return this.joining.seat.taken;
  }
  get moved(): boolean {
    return !platform.canTake && this.moveUnheard;
  }
  quietly(place: ParkPlace): ParkPlace {
    if (platform.canTake) return place;
    const link = (): ThreadLink | undefined => (this.linked && !this.moved ? this.joining.link : undefined);
    return new QuietPlace(place, ownAgent().sleeps, link);
  }
  /** Rings for the other side, which sleeps on its own for a message on a native port. */
  doorbell(): void {
    this.hearOfMove();
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
    this.hearOfMove();
    if (!this.stretch.ring()) this.joining.first.doorbell();
  }
  /** The other side is to look at our end, however it sleeps. On its old ports it hears of it by their close. */
  tellEnd(): void {
    this.hearOfMove();
    this.stretch.ring();
  }
  /** The other side has ended. What it has not taken by now it is to let go, and it does not look any more. */
  peerOver(): void {
    if (this.#posted) this.joining.line.hearMe();
    this.#posted = false;
    this.joining.peerOver();
  }
  /** Rests on the event loop, with all channels of the link. */
  rest(): void {
    this.joining.link?.rest();
  }
  hold(held: boolean): void {
    if (held === this.#held || (held && this.over)) return;
    this.agent?.hold(held);
    // Not before: where the stack has ended on the way there, it is to be said again.
    this.#held = held;
  }

  // ---- life ---------------------------------------------------------------------------------------------------

  get peerError(): unknown {
    return this.joining.first.peerError ?? this.joining.link?.peerError;
  }
  /** @param attached whether a thread has the other end */
  close(attached: boolean): void {
    this.hold(false);
    // What comes for who has left is not ours to end.
    if (this.hasLeft) return;
    if (attached) this.peerOver();
    // The other side may still open them, and its thread may end before it does.
    this.answerFor(this.takeSent().filter(isUnopened));
    this.closeLines(attached);
  }
}
