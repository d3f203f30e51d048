// How a channel comes to the link of its two threads: what is said about it over the native ports that came with its handle,
// its FIRST line. Knows nothing of values: those go over whatever `line` is at the time (channel-lines.ts).
//
// Who attached its end is the one to propose (P), to the channel's maker (M). All is said over the first line but what stands
// under "the link".
//
//   there is no link with that thread
//     P  FOUND     let this line be our link; here is its page
//     M  FOUNDED   so be it
//
//   there is one, as far as P knows
//     P  JOIN      here is a sign, by which you will be known
//     M  KNOWN     (the link) who said that sign? This channel has this address here, and here is mine
//        UNKNOWN   (the link) nobody did, if so
//     P  AGREED    the countersign
//     M  JOINED    the last that I say here
//     P  LAST      and this is mine
//
//     M  DECLINED  to JOIN: we have no link, or nobody there said that sign; P founds one
//
//   one was proposed over another channel and not heard of: nothing, until it is
//
// Whose line is whose. A thread is what holds a native port; the name in a handle, or in what is said over a line, is only a
// hint whom to ask. Each side says over one line what the other has told it over the other one: P's sign goes there by the
// first line and comes back by the link, M's countersign the other way round. So both know, before anything else goes over the
// link, that whoever holds its other end holds the channel's other end, and nobody learns anything that would do for another
// channel. The address is said over the link alone, and is one for both ends. Somebody in between who holds an end of two
// channels may pass signs on from one to the other, and has tied two channels of its own together.
//
// JOINED is the last that M posts on the first line, and LAST, the answer to it, the last that comes back: each side goes on
// over the link when it has posted its own. So what went over the first line was taken when the one who hears LAST closes it,
// and the address and both pages are known to whoever is to use them before they are used.
//
// In browsers P says again what nothing comes of: Firefox loses what goes over a port that has moved just before. M, who has heard it the first
// time, takes no notice.
//
// Longer than most files: a quarter of it is this page, and the two roles are one state.
import { platform } from '#platform';
import { LINK_AGAIN_MS, LINK_PATIENCE_MS } from '../../limits.ts';
import type { Marked } from '../../link/link-end.ts';
import { Seat } from '../../link/seat.ts';
import * as layout from '../../memory/layout.ts';
import { isLifePage } from '../../memory/life-page.ts';
import type { SideWords } from '../../memory/region.ts';
import type { EndReason } from '../../outcome.ts';
import type { Parking } from '../../wait/parking.ts';
import {
  type AgentCard,
  type AgentLinks,
  createLinkPage,
  type Expecting,
  isLinkPage,
  KNOWN,
  type KnownLink,
  knownLink,
  tellWaiting,
} from './agent-links.ts';
import { FOUNDER, type Member } from './members.ts';
import { letGoOfMessage } from './native-values.ts';
import type { ThreadLink } from './thread-link.ts';

/** What is said about a channel over its first line. Lower numbers are what it sends: native-values.ts. */
const INTRODUCE = 16;
const FOUND = 17;
const FOUNDED = 18;
const JOIN = 19;
const JOINED = 20;
const DECLINED = 21;
const LAST = 22;
const AGREED = 23;

/** Whether a message is about its channel, and no part of it. */
export function isAboutChannel(kind: unknown): kind is number {
  return typeof kind === 'number' && kind >= INTRODUCE;
}

export interface JoiningOptions {
  readonly parking: Parking;
  /** The page of this thread's life, if somebody watches it. */
  readonly life: SharedArrayBuffer | null;
}

/** The end of a channel that a Joining works for. */
export interface Joiner extends Member, Marked {
  /** It has a seat at a link, or another one: what it had announced may have been answered where nobody looks. */
  seated(): void;
  /** Calls it as soon as nothing is being posted: what is under way is on its line then. */
  quiet(then: () => void): void;
}

/** One end of a channel on its way from its first line to a link: an object for each first line. */
export class Joining implements Member, Expecting {
  readonly first: ThreadLink;
  readonly #agent: AgentLinks | undefined;
  readonly #side: SideWords;
  readonly #options: JoiningOptions;
  readonly #channel: Joiner;
  /** This end was attached: it is the one to propose. */
  #proposes = false;
  /** The other thread, where it is known. */
  #peer: AgentCard | undefined;
  /** P: our sign, and M: our countersign, until they have come back. */
  #expected: string | undefined;
  /** P: we have asked for a link that was there. Once; what came to nothing is followed by a link of our own. */
  #signed = false;
  /** M: the sign that was said to us. We ask for one only. */
  #sign: string | undefined;
  /** The link that we have founded, reachable over or agreed to, and the channel's address there. */
  #asked: KnownLink | undefined;
  #address: number = FOUNDER;
  /** P: what was said last, as far as it is said again. */
  #insistsOn = 0;
  /** A link that the other thread may not know yet. */
  #waitsFor: KnownLink | undefined;
  readonly #again = (): void => {
    if (this.#proposes) this.#propose();
    else this.#ask();
  };
  #link: ThreadLink | undefined;
  readonly seat: Seat;
  #over = false;

  /**
   * @param first the native ports that came with the handle
   * @param agent this thread's links; without them the channel keeps to its own ports
   */
  constructor(
    first: ThreadLink,
    agent: AgentLinks | undefined,
    side: SideWords,
    options: JoiningOptions,
    channel: Joiner,
  ) {
    this.first = first;
    this.#agent = agent;
    this.#side = side;
    this.#options = options;
    this.#channel = channel;
    this.seat = new Seat(side);
    first.found(channel);
  }

  // ---- how far it has come ------------------------------------------------------------------------------------

  /** The link, once this side sends over it. It may be the first line itself. */
  get link(): ThreadLink | undefined {
    return this.#link;
  }
  /** The link, as soon as the other side may use it. */
  get reachable(): ThreadLink | undefined {
    return this.#link ?? this.#asked?.link;
  }
  /** The other side has said something. */
  met = false;
  /** Nothing more comes on the first line, because the other side goes on over the link. */
  firstOver = false;
  /** Where what is sent now goes, and the address to write on it. */
  get line(): ThreadLink {
    return this.#link ?? this.first;
  }
  get address(): number {
    return this.#link === undefined ? FOUNDER : this.#address;
  }
  /** Takes in whatever waits, without the event loop. */
  pull(): void {
    this.first.pull();
    const later = this.reachable ?? this.#hoped;
    if (later !== this.first) later?.pull();
  }
  /** P: where our sign is likely to come back. */
  get #hoped(): ThreadLink | undefined {
    if (this.#expected === undefined || this.#peer === undefined) return undefined;
    return this.#agent?.withMaker(this.#peer.id)?.link;
  }

  // ---- P: who attached ----------------------------------------------------------------------------------------

  /** This end was attached, of a channel that `maker` has made, or two others for which some third one did. */
  introduce(maker: AgentCard | undefined, proposes: boolean): void {
    this.#peer = maker;
    this.#proposes = proposes;
    if (proposes && maker !== undefined) this.#propose();
    else this.#present(INTRODUCE);
  }
  #propose(): void {
    const agent = this.#agent;
    const peer = this.#peer;
    if (this.#over || agent === undefined || peer === undefined || this.#link !== undefined) return;
    // Who has ended answers no more, and others would wait for that.
    if (Atomics.load(this.#side.words, this.#side.there + layout.CLOSED) !== 0) return;
    const known = this.#signed ? undefined : agent.withMaker(peer.id);
    if (known === undefined) this.#found(agent, peer);
    else if (known.confirmed) {
      this.#signed = true;
      this.#expected = agent.expect(this);
      this.#insist(JOIN, this.#expected);
    } else {
      this.#waitFor(known);
      this.#present(INTRODUCE);
    }
  }
  #found(agent: AgentLinks, peer: AgentCard): void {
    const wake = agent.wakerOf(peer);
    if (wake === undefined) return;
    const page = createLinkPage();
    this.#asked = knownLink(peer.id, this.first, false);
    agent.know(this.#asked);
    // Ready to be used by the other side, which may hear of it before we hear that it does.
    this.first.share(page, 0, wake, this.#options.parking);
    this.#insist(FOUND, page);
    agent.watch?.begin(this.#asked, peer);
  }
  /** Somebody at the other end of a link knows our sign. */
  known(known: KnownLink, address: unknown, countersign: string): void {
    this.#channel.quiet(() => {
      const { link } = known;
      const ours = this.#expected !== undefined && this.#proposes && known.agent === this.#peer?.id;
      if (!ours || !link.shared || !link.enterAs(address, this.#channel)) {
        this.#agent?.unknown(known, countersign);
        return;
      }
      this.#expectNothing();
      this.#asked = known;
      this.#address = address as number;
      this.#insist(AGREED, countersign);
    });
  }

  // ---- M: who made the channel --------------------------------------------------------------------------------

  /** Asks over the link with who speaks to us whether that one has said so. */
  #ask(): void {
    const agent = this.#agent;
    if (this.#over || agent === undefined || this.#peer === undefined || this.#link !== undefined) return;
    const known = agent.withAttacher(this.#peer.id);
    if (known === undefined || !known.link.shared) this.#say(DECLINED, this.#sign);
    else if (!known.confirmed) this.#waitFor(known);
    else {
      this.#asked = known;
      // Nothing may come for the channel yet: this object stands there in its place.
      this.#address = known.link.enter(this);
      this.#expected = agent.expect(this);
      agent.tell(known, KNOWN, this.#sign, this.#address, this.#expected);
    }
  }
  /** Nobody over there has said so. */
  unknown(known: KnownLink): void {
    if (known === this.#asked && !this.#proposes) this.#decline();
  }
  #decline(): void {
    if (this.#expected === undefined || this.#over) return;
    this.#forgetAsked();
    this.#say(DECLINED, this.#sign);
  }
  accept(_: unknown, message: readonly unknown[]): void {
    letGoOfMessage(message);
  }
  arrived(): void {}
  gone(): void {
    this.#decline();
  }

  // ---- what the other side says -------------------------------------------------------------------------------

  /** @param message that came over the first line, or says so */
  hear(kind: number, message: readonly unknown[]): void {
    const agent = this.#agent;
    const [, address, said] = message;
    this.met = true;
    if (this.#over && (kind === JOINED || kind === LAST)) this.firstOver = true;
    if (agent === undefined || this.#over || this.#link !== undefined || address !== FOUNDER) {
      if (kind === LAST && address === FOUNDER) this.#hearLast();
    } else if (this.#proposes) this.#hearMaker(kind, said, message);
    else this.#hearAttacher(agent, kind, said, message);
  }
  #hearMaker(kind: number, said: unknown, message: readonly unknown[]): void {
    const asked = this.#asked;
    if (kind === INTRODUCE) {
      const card = this.#presented(message);
      if (card === undefined || this.#peer !== undefined) return;
      this.#peer = card;
      this.#propose();
    } else if (kind === FOUNDED && asked?.link === this.first) {
      this.#presented(message);
      this.#agent?.confirm(asked);
      this.#join(asked);
      tellWaiting(asked);
    } else if (kind === DECLINED && said === this.#expected) {
      this.#expectNothing();
      this.#propose();
    } else if (kind === JOINED && asked !== undefined && asked.link !== this.first) {
      this.#join(asked);
      this.#say(LAST);
      // Nothing more comes that way but its end.
      this.firstOver = true;
      this.first.leave(FOUNDER);
    }
  }
  #hearAttacher(agent: AgentLinks, kind: number, said: unknown, message: readonly unknown[]): void {
    const asked = this.#asked;
    if (kind === INTRODUCE) this.#presented(message);
    else if (kind === FOUND && isLinkPage(said) && !this.first.shared) {
      const card = this.#presented(message);
      const wake = card && agent.wakerOf(card);
      if (card === undefined || wake === undefined) return;
      this.#forgetAsked();
      this.first.share(said, 1, wake, this.#options.parking);
      const known = knownLink(card.id, this.first, true);
      agent.know(known);
      this.#join(known);
      this.#present(FOUNDED);
      agent.watch?.begin(known, card);
    } else if (kind === JOIN && this.#sign === undefined && typeof said === 'string') {
      const card = this.#presented(message);
      if (card === undefined) return;
      this.#peer = card;
      this.#sign = said;
      this.#ask();
    } else if (kind === AGREED && asked !== undefined && said === this.#expected) {
      this.#expectNothing();
      asked.link.replace(this.#address, this.#channel);
      // The last that goes this way.
      this.#say(JOINED);
      this.#join(asked);
    }
  }
  #hearLast(): void {
    if (this.#link === undefined || this.#link === this.first || this.#proposes) return;
    this.firstOver = true;
    this.first.leave(FOUNDER);
    this.first.retire();
  }

  /** P: presents it, and where that can be lost again and again, until there is a link or nobody waits for one any more. */
  #insist(kind: number, said: unknown, delayMs: number = LINK_AGAIN_MS): void {
    this.#present(kind, said);
    if (platform.movesWhole || delayMs > LINK_PATIENCE_MS) return;
    const turn = ++this.#insistsOn;
    platform.later(() => {
      const answered = this.#over || this.#link !== undefined || turn !== this.#insistsOn;
      if (!answered) this.#insist(kind, said, 2 * delayMs);
    }, delayMs);
  }
  /** Says who we are: what has more than the bare kind goes with it. */
  #present(kind: number, ...rest: readonly unknown[]): void {
    this.#say(kind, ...rest, this.#options.life, this.#agent?.card);
  }
  /** What the other side says of itself. */
  #presented(message: readonly unknown[]): AgentCard | undefined {
    const life = message.at(-2);
    const card = this.#agent?.cardIn(message.at(-1));
    if (card !== undefined && isLifePage(life)) this.first.watchLife(life);
    return card;
  }
  #say(kind: number, ...rest: readonly unknown[]): void {
    this.first.say([kind, FOUNDER, ...rest]);
  }

  #waitFor(known: KnownLink): void {
    known.waiting.add(this.#again);
    this.#waitsFor = known;
  }
  #expectNothing(): void {
    if (this.#expected !== undefined) this.#agent?.expectNoMore(this.#expected);
    this.#expected = undefined;
  }
  #forgetAsked(): void {
    this.#expectNothing();
    if (this.#asked !== undefined) this.#asked.link.leave(this.#address);
    this.#asked = undefined;
    this.#address = FOUNDER;
  }

  // ---- on the link --------------------------------------------------------------------------------------------

  /** The channel's maker is in this thread, and nothing went over native ports. The maker may be another copy's. */
  joinSelf(maker: Joining): void {
    const { self } = this.#agent as AgentLinks;
    const address = self.far.link.enter(this.#channel);
    maker.joinAs(self.near, address);
    this.#joinAt(self.far, address);
  }
  /** One half of that. */
  joinAs(known: KnownLink, address: number): void {
    if (!this.#over && known.link.enterAs(address, this.#channel)) this.#joinAt(known, address);
  }
  #joinAt(known: KnownLink, address: number): void {
    this.firstOver = true;
    this.first.leave(FOUNDER);
    this.#address = address;
    this.#join(known);
  }
  /** From here on this side sends over the link, and may rest there. */
  #join({ link }: KnownLink): void {
    const { words, here } = this.#side;
    this.#link = link;
    if (this.first.endTold) link.endTold = true;
    if (link.end !== undefined) this.seat.take(link.end, this.#channel);
    // Who sleeps on the event loop does so above from here on. It may be in the middle of some other call.
    this.#options.parking.place(words, here + layout.PARK).wake();
    link.rest();
    this.#channel.seated();
    queueMicrotask(() => this.#channel.arrived());
  }

  // ---- its end ------------------------------------------------------------------------------------------------

  /** Whoever saw the thread end that these lines lead to says how. */
  tellGone(how: EndReason | undefined, error: unknown): void {
    const { first, line } = this;
    if (first.members > 0) first.tellGone(how, error);
    if (line !== first) line.tellGone(how, error);
  }
  /** The channel has ended. */
  peerOver(): void {
    (this.#link ?? this.#asked?.link)?.endAt(this.#address);
  }
  /** A link that we had agreed to is over, of which nothing else is known: that thread may live, and ours tell if it does not. */
  broken(link: ThreadLink): boolean {
    if (link === this.first || this.#link !== undefined) return false;
    this.#forgetAsked();
    this.#propose();
    return true;
  }
  /** This side sends nothing more here, and joins nothing; what comes, and on which lines, stays as it is. */
  leave(): void {
    this.seat.vacate();
    this.#stop();
  }
  #stop(): void {
    this.#over = true;
    this.#waitsFor?.waiting.delete(this.#again);
    // Nobody will hear that it was agreed to.
    const asked = this.#asked;
    if (asked?.link === this.first && !asked.confirmed) this.first.ended();
    this.#expectNothing();
  }
  /** @param attached whether a thread has the other end */
  close(attached: boolean): void {
    this.seat.leave();
    this.#stop();
    const { first } = this;
    const link = this.#link;
    (link ?? this.#asked?.link)?.leave(this.#address);
    // As a link it is there for others, too.
    if (link !== first) first.close(attached);
  }
}
