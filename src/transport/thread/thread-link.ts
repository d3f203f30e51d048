// What two threads share beside the memory of their channels: two native ports. The TETHER tells of the other thread's end and
// rings for its event loop, unless both have bells. The SIDE PORT carries what only the native clone can (numbered; a marker in the ring keeps its
// place), what was left over when a channel ended, and what the two say about their channels (joining.ts). They are two
// because a port that somebody listens on cannot be read at will: on Deno the listener has taken the message already. Nobody
// listens on the side port where the platform can take from it. Longer than most files: all that is heard on the two decides together when a
// link begins, rests and is over.
//
// A link begins with one channel, which its native ports came with (its FOUNDER). Once both threads have said that they know
// it, others join it, and all rest on one word of its page (link/). Leads strongly to no port, so that it may be what stays
// of one: see transport/remains.ts.
//
// Longer than most files by what it says of itself; all of it is about two native ports.
import { platform } from '#platform';
import { END_NEWS_MS, SIDE_VALUES_MAX } from '../../limits.ts';
import { LINK_PAGE_BYTES } from '../../link/layout.ts';
import type { LinkEnd } from '../../link/link-end.ts';
import type { RungLink } from '../../link/loop-bells.ts';
import type { AgentLink } from '../../link/own-agent.ts';
import { Resting } from '../../link/resting.ts';
import { endedOn, readError } from '../../memory/life-page.ts';
import type { NativePair } from '../../memory/native-pair.ts';
import type { EndReason } from '../../outcome.ts';
import type { Parking } from '../../wait/parking.ts';
import { endUnopened, isUnopened, type OnTheWay } from '../beside/lost-values.ts';
import { FOUNDER, type Member, Members } from './members.ts';
import { letGoOfMessage } from './native-values.ts';

/** What the tether carries. For the founder: look. */
const LOOK = 0;
/** Something was said on the side port. */
const HEAR = 1;
/** Channels are marked in the ready set. */
const MARKS = 2;

/** What is for no channel: agent-links.ts. */
export const LINK = 'link';
/** Something about bells. */
export const BELLS = 26;
/** The lock that tells of its end is held: agent-watch.ts. */
export const HELD_SAID = 27;

/** A place on a side port, as it is told: so many bits of it. The others say which line it is of. */
const PLACE_BITS = 24;
const PLACE_MASK: number = 2 ** PLACE_BITS - 1;

const always = (): boolean => true;
const nothing = (): void => {};

export class ThreadLink implements AgentLink, RungLink {
  #natives: NativePair | undefined;
  readonly #make: () => NativePair;
  readonly #members = new Members();
  /** Addresses of members whose channels have ended. */
  #ended: Set<number> | undefined;
  /** Addresses are good at both ends: one side gives those above FOUNDER, the other those below. */
  #nextAddress = FOUNDER;
  #addressStep: 1 | -1 = 1;
  /** Messages on the side port, this way and that. */
  #posted = 0;
  #arrived = 0;
  /** Why messages could not be made here, by their place among those that arrived. */
  #unreadable: Map<number, { readonly cause: unknown }> | undefined;
  #sent: { readonly ends: readonly OnTheWay[]; readonly answer: () => void }[] | undefined;
  #peerLife: SharedArrayBuffer | undefined;
  #lifeHolds = always;
  #resting: Resting | undefined;
  /** Something for the other side to take was posted on the side port. */
  #left = false;
  /** Nothing more goes this way. */
  #over = false;
  #closed = false;
  #gone = false;
  /** Something was taken from the tether that rang for the event loop. */
  #rangMeanwhile = false;
  #hearsLater = false;
  /** Somebody will tell how the other thread has ended, and knows more than the tether. */
  endTold = false;
  /** Rings for the other thread's event loop, where both have bells: link/bell-pair.ts. */
  ringer: (() => void) | undefined;
  /** Called when the native ports are of no use any more; it may be called again. */
  ended: () => void = nothing;
  /** Called when there are channels on it that have not ended, or none any more; it may be called again. */
  peopled: () => void = nothing;
  /** Called with what is said for no channel. */
  told: (message: readonly unknown[]) => void = nothing;

  /** @param natives of this side; or what makes them when something is to be posted first */
  constructor(natives: NativePair | (() => NativePair)) {
    this.#make = typeof natives === 'function' ? natives : () => natives;
    if (typeof natives !== 'function') this.open(natives);
  }

  /** Begins to listen. */
  open(natives: NativePair): void {
    if (this.#natives !== undefined) return;
    this.#natives = natives;
    platform.listen(natives.tether, {
      message: (what) => this.#rung(what),
      closed: () => this.#tetherClosed(),
    });
    if (platform.canTake) return;
    platform.listen(natives.side, {
      message: (message) => this.#accept(message)?.arrived(),
      closed: () => {},
      unreadable: () => {
        this.#acceptUnreadable(undefined);
        for (const member of this.#members.all()) member.arrived();
      },
    });
  }
  get #ports(): NativePair {
    if (this.#natives === undefined) this.open(this.#make());
    return this.#natives as NativePair;
  }
  /** The native ports, if there are any yet: they cannot be sent through themselves. */
  get natives(): readonly unknown[] {
    return this.#natives === undefined ? [] : [this.#natives.tether, this.#natives.side];
  }

  // ---- members ------------------------------------------------------------------------------------------------

  /** Makes an end of a channel known; returns its address, which no other one will ever have. */
  enter(member: Member): number {
    this.#nextAddress += this.#addressStep;
    this.#members.set(this.#nextAddress, member);
    if (this.living === 1) this.peopled();
    return this.#nextAddress;
  }
  /** The same at an address that the other side has given; false if it cannot have. */
  enterAs(address: unknown, member: Member): boolean {
    if (!Number.isSafeInteger(address) || (address as number) * this.#addressStep >= 0) return false;
    if (this.#members.has(address as number)) return false;
    this.#members.set(address as number, member);
    if (this.living === 1) this.peopled();
    return true;
  }
  /** Gives the address to another one. */
  replace(address: number, member: Member): void {
    this.#members.set(address, member);
  }
  found(member: Member): void {
    this.#members.set(FOUNDER, member);
  }
  leave(address: number): void {
    this.#members.delete(address);
    this.#ended?.delete(address);
    if (this.living === 0) this.peopled();
    if (this.#gone) this.#shutUnused();
  }
  get members(): number {
    return this.#members.size;
  }
  /** The channel at that address has ended, though its end stays for what is unread, and whoever has it. */
  endAt(address: number): void {
    // Nobody counts.
    if (this.peopled === nothing || !this.#members.has(address)) return;
    this.#ended ??= new Set();
    this.#ended.add(address);
    if (this.living === 0) this.peopled();
  }
  /** Members whose channels have not ended, as far as anybody counts. */
  get living(): number {
    return this.#members.size - (this.#ended?.size ?? 0);
  }

  // ---- what is said -------------------------------------------------------------------------------------------

  /**
   * Posts on the side port; returns its place among all that was posted there.
   * @throws what the native port throws; nothing was posted then
   */
  post(message: readonly unknown[], transfer?: readonly unknown[]): number {
    this.#ports.side.postMessage(message, transfer);
    this.#left = true;
    return this.#posted++;
  }
  /** Says something that the other thread's event loop is to hear; false: nobody is there to hear it. */
  say(message: readonly unknown[], transfer?: readonly unknown[]): boolean {
    if (this.#over || this.#gone) return false;
    const left = this.#left;
    this.post(message, transfer);
    this.#left = left;
    this.hearMe();
    return true;
  }
  /** The other thread's event loop is to take in what was posted. */
  hearMe(): void {
    if (!this.#over && !this.#gone) this.#natives?.tether.postMessage(HEAR);
  }
  /** Whether everything up to that place has arrived. */
  hasArrived(place: number): boolean {
    return (place - this.#arrived) << (32 - PLACE_BITS) < 0;
  }
  /** Why the message at that place could not be made. */
  causeOf(place: number): { readonly cause: unknown } | undefined {
    return this.#unreadable?.get(place & PLACE_MASK);
  }

  /** Takes in whatever waits on the side port, without the event loop. */
  pull(): void {
    if (this.#natives === undefined) return;
    const { side } = this.#natives;
    for (let failures = 0; failures <= SIDE_VALUES_MAX; ) {
      let taken: { readonly message: unknown } | undefined;
      try {
        taken = platform.takeMessage(side);
      } catch (cause) {
        failures++;
        this.#acceptUnreadable(cause);
        continue;
      }
      if (taken === undefined) return;
      this.#accept(taken.message);
    }
  }
  #accept(message: unknown): Member | undefined {
    this.#arrived = (this.#arrived + 1) | 0;
    if (!Array.isArray(message)) return undefined;
    if (message[1] === LINK) {
      this.told(message);
      return undefined;
    }
    const member = this.#members.get(message[1] as number);
    if (member !== undefined) member.accept(message[0], message, this);
    else letGoOfMessage(message);
    return member;
  }
  #acceptUnreadable(cause: unknown): void {
    this.#unreadable ??= new Map();
    this.#unreadable.set(this.#arrived & PLACE_MASK, { cause });
    this.#arrived = (this.#arrived + 1) | 0;
    if (this.#unreadable.size > SIDE_VALUES_MAX)
      this.#unreadable.delete(this.#unreadable.keys().next().value as number);
  }

  // ---- waking and resting -------------------------------------------------------------------------------------

  /** Rings for the founder at the other end. */
  doorbell(): void {
    if (!this.#over && !this.#gone) this.#natives?.tether.postMessage(LOOK);
  }
  #rung(what: unknown): void {
    if (this.#closed) {
      // Deno hands out what has rung while the port is being closed, in the middle of whatever did that.
      queueMicrotask(() => this.#rungMeanwhile());
      return;
    }
    if (what === HEAR) this.pull();
    if (what === MARKS) this.#resting?.rung();
    else this.#tellFounder();
  }
  #tellFounder(): void {
    this.#members.get(FOUNDER)?.arrived();
  }

  /**
   * Both threads know this link from here on: their channels may rest together.
   * @param page of the link; this thread has the block of `side`
   * @param agent wakes the other thread where it sleeps for all its links
   */
  share(page: SharedArrayBuffer, side: 0 | 1, agent: () => void, parking: Parking): void {
    // No longer than it must be: who made it may have made it of any length.
    const words = new Int32Array(page, 0, LINK_PAGE_BYTES >> 2);
    this.#addressStep = side === 0 ? 1 : -1;
    const doorbell = (): void => {
      if (this.ringer === undefined) this.#ports.tether.postMessage(MARKS);
      else this.ringer();
    };
    this.#resting = new Resting(words, side, parking, { doorbell, agent });
  }
  get shared(): boolean {
    return this.#resting !== undefined && !this.#gone;
  }
  get end(): LinkEnd | undefined {
    return this.#resting?.end;
  }
  /** Rests on the event loop, for all channels together. */
  rest(): void {
    this.#resting?.rest();
  }
  sayOfBells(what: unknown, number?: unknown): void {
    this.say([BELLS, LINK, what, number]);
  }
  heard(): void {
    if (!this.#closed) this.#resting?.heard();
  }
  /** The channel at `seat` over there sleeps above. */
  ring(seat: number): void {
    if (!this.#gone) this.#resting?.ring(seat);
  }
  /** The channel at `seat` over there sleeps on its own, for a message on a native port. */
  ringOwn(seat: number): void {
    if (this.#gone) return;
    this.#resting?.mark(seat);
    this.#ports.tether.postMessage(MARKS);
  }

  // ---- life ---------------------------------------------------------------------------------------------------

  /**
   * The first page that is told of is believed: whoever comes later could be speaking of somebody else.
   * @param holds whether it is still the page of who is at the other end
   */
  watchLife(life: SharedArrayBuffer, holds: () => boolean = always): void {
    if (this.#life !== undefined) return;
    this.#peerLife = life;
    this.#lifeHolds = holds;
  }
  get #life(): SharedArrayBuffer | undefined {
    return this.#lifeHolds() ? this.#peerLife : undefined;
  }
  /**
   * Ends of other channels were sent over there, by a channel that has closed here; if that thread ends first, their peers are told.
   * @param holds whether they are there still
   */
  answerFor(ends: readonly OnTheWay[], holds: () => boolean): void {
    const answer = (): void => {
      if (holds()) for (const end of ends) endUnopened(end);
    };
    if (this.#gone) answer();
    else this.#sent = [...(this.#sent ?? []).filter((each) => each.ends.some(isUnopened)), { ends, answer }];
  }
  /** The page that is believed. */
  get peerLife(): SharedArrayBuffer | null {
    return this.#life ?? null;
  }
  /** Asks whether, and how, the other thread is gone, without the event loop; `undefined` when it cannot be known here. */
  peerGone(): EndReason | undefined {
    if (this.#natives === undefined) return undefined;
    const { tether } = this.#natives;
    this.#hearLater();
    // Taking is what makes Node notice the end. What rang for the event loop must not be lost for it. In the middle of being told that it is
    // closed it must not be: that ends the process there.
    while (!this.#gone && platform.takeMessage(tether) !== undefined) this.#rangMeanwhile = true;
    this.pull();
    const life = this.#life;
    const told = life && endedOn(life);
    const how = told ?? (platform.probeGone(tether) ? 'terminated' : undefined);
    if (how !== undefined) this.tellGone(how, undefined);
    return how;
  }
  /** Sees to it that the event loop hears of what is taken from its tether before it runs. Once, however long that takes. */
  #hearLater(): void {
    if (this.#hearsLater) return;
    queueMicrotask(() => {
      this.#hearsLater = false;
      if (!this.#rangMeanwhile) return;
      this.#rangMeanwhile = false;
      this.#rungMeanwhile();
    });
    this.#hearsLater = true;
  }
  #rungMeanwhile(): void {
    this.#tellFounder();
    this.#resting?.rung();
  }
  /** What the other thread died of, as far as it could say so. */
  get peerError(): unknown {
    this.pull();
    const life = this.#life;
    return life && readError(life);
  }
  /** The other thread is gone, and all channels with it. */
  tellGone(how: EndReason | undefined, error: unknown): void {
    this.#gone = true;
    this.ended();
    for (const { answer } of this.#sent?.splice(0) ?? []) answer();
    for (const member of this.#members.all()) member.gone(how, error, this);
  }
  #tetherClosed(): void {
    if (this.#closed) return;
    this.#gone = true;
    this.ended();
    // Who is told of the end of that thread knows how, and writes it down for others: what it said before can be read.
    const watched = this.#life !== undefined && endedOn(this.#life) === undefined;
    if (this.endTold || watched) for (const member of this.#members.all()) member.arrived();
    if (watched && !this.endTold) platform.later(() => this.#tellHow(), END_NEWS_MS);
    else if (!this.endTold) this.#tellHow();
    this.#shutUnused();
  }
  #tellHow(): void {
    this.tellGone(this.#life && endedOn(this.#life), undefined);
  }
  /** What was left open for the sake of the other ends, or for what they had posted, is of no use any more. */
  #shutUnused(): void {
    if (this.#over || this.#members.size === 0) this.retire();
  }

  /**
   * This end of a link that only its founder ever used is over.
   * @param attached whether a thread has the other end. If not, its handle may be on its way with the other ends of
   *   these ports, which must stay good until it has arrived; then its end closes them
   */
  close(attached: boolean): void {
    this.#over = true;
    if (!attached || this.#closed) return;
    this.#close(platform.closeDropsPosted && this.#left);
  }
  /** Nobody uses it any more, and all that was posted was taken. */
  retire(): void {
    this.#over = true;
    if (!this.#closed) this.#close(false);
  }
  #close(butSide: boolean): void {
    this.#closed = true;
    this.ended();
    this.#natives?.tether.close();
    // A port left open lives as long as its thread: only where closing it would lose what the other end may yet take.
    if (!butSide) this.#natives?.side.close();
  }
}
