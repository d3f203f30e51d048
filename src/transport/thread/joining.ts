// How a channel comes to the link of its two threads: what is said about it over the native ports that came with its handle,
// its FIRST line. Knows nothing of values: those go over whatever `line` is at the time (channel-lines.ts).
//
// Whoever attached proposes, over the first line (who holds its ports holds the handle; a number in it could be anybody's):
//
//   no link with that thread yet    FOUND: let these ports be our link; here is its page      -> FOUNDED
//   there is one                    JOIN: there, by that name, this channel has this address  -> JOINED, and its address here
//                                   or the name means nothing over there                      -> DECLINED, then FOUND
//   one was proposed and not heard of   nothing, until it is
//
// An answer repeats the name: the link that was asked for may be gone meanwhile, with its founder, and another one be asked for.
//
// JOINED is the last that the maker of the channel posts on the first line, and LAST, the answer to it, the last that comes
// back: each side goes on over the link when it has posted its own. So what went over the first line was taken when the one who
// hears LAST closes it, and each address and page is known to whoever is to use it before it is used.

import type { Marked } from '../../link/link-end.ts';
import { Seat } from '../../link/seat.ts';
import * as layout from '../../memory/layout.ts';
import { isLifePage } from '../../memory/life-page.ts';
import type { SideWords } from '../../memory/region.ts';
import type { Parking } from '../../wait/parking.ts';
import {
  type AgentCard,
  type AgentLinks,
  createLinkPage,
  isLinkPage,
  type KnownLink,
  randomName,
  tellWaiting,
} from './agent-links.ts';
import { FOUNDER, type Member, type ThreadLink } from './thread-link.ts';

/** What is said about a channel. Lower numbers are what it sends: native-values.ts. */
const INTRODUCE = 16;
const FOUND = 17;
const FOUNDED = 18;
const JOIN = 19;
const JOINED = 20;
const DECLINED = 21;
const LAST = 22;

/** Whether a message is about its channel, and no part of it. */
export function isAboutChannel(kind: unknown): kind is number {
  return typeof kind === 'number' && kind >= INTRODUCE;
}

export interface JoiningOptions {
  readonly parking: Parking;
  /** The page of this thread's life, if somebody watches it. */
  readonly life: SharedArrayBuffer | null;
}

/** One end of a channel on its way from its first line to a link: an object for each first line. */
export class Joining {
  readonly first: ThreadLink;
  readonly #agent: AgentLinks | undefined;
  readonly #side: SideWords;
  readonly #options: JoiningOptions;
  readonly #channel: Member & Marked;
  /** The other thread, where it is known. */
  #peer: AgentCard | undefined;
  /** This end was attached: it is the one to propose. */
  #proposes = false;
  #asked: KnownLink | undefined;
  /** A link that the other thread may not know yet; it is asked for once it does. */
  #waitsFor: KnownLink | undefined;
  readonly #again = (): void => this.#propose();
  #link: ThreadLink | undefined;
  /** This end's address at the link, and the other one's. */
  #address: number = FOUNDER;
  #peerAddress: number = FOUNDER;
  readonly seat: Seat;
  #over = false;

  /**
   * @param first the native ports that came with the handle
   * @param agent this thread's links; without them the channel keeps to its own ports
   * @param channel who is to be a member of the link
   */
  constructor(
    first: ThreadLink,
    agent: AgentLinks | undefined,
    side: SideWords,
    options: JoiningOptions,
    channel: Member & Marked,
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
  get known(): ThreadLink | undefined {
    return this.#link ?? this.#asked?.link;
  }
  /** Where what is sent now goes, and the address to write on it. */
  get line(): ThreadLink {
    return this.#link ?? this.first;
  }
  get peerAddress(): number {
    return this.#peerAddress;
  }

  // ---- proposing ----------------------------------------------------------------------------------------------

  /** This end was attached, of a channel that `maker` has made, or two others for which some third one did. */
  introduce(maker: AgentCard | undefined, proposes: boolean): void {
    this.#peer = maker;
    this.#proposes = proposes;
    if (proposes && maker !== undefined) this.#propose();
    else this.#say(INTRODUCE);
  }
  /** The channel's maker is in this thread, and nothing went over native ports. */
  joinSelf(maker: Joining): void {
    const { self } = this.#agent as AgentLinks;
    this.#peerAddress = maker.joinAs(self.near.link, this.joinAs(self.far.link, FOUNDER));
  }
  /** One half of that; the other end may be another copy's. Returns the address here. */
  joinAs(link: ThreadLink, peerAddress: number): number {
    if (this.#over) return FOUNDER;
    this.first.leave(FOUNDER);
    this.#address = link.enter(this.#channel);
    this.#peerAddress = peerAddress;
    this.#join(link);
    return this.#address;
  }

  #say(kind: number, ...rest: readonly unknown[]): void {
    this.first.say([kind, FOUNDER, ...rest, this.#options.life, this.#agent?.card]);
  }
  #propose(): void {
    const agent = this.#agent;
    const peer = this.#peer;
    if (this.#over || agent === undefined || peer === undefined || this.#link !== undefined) return;
    // Who has ended answers no more, and others would wait for that.
    if (Atomics.load(this.#side.words, this.#side.there + layout.CLOSED) !== 0) return;
    const known = peer.id === agent.card.id ? agent.self.far : agent.with(peer.id);
    if (known === undefined) this.#found(agent, peer);
    else if (!known.confirmed) {
      known.waiting.add(this.#again);
      this.#waitsFor = known;
      this.#say(INTRODUCE);
    } else {
      this.#asked = known;
      this.#address = known.link.enter(this.#channel);
      this.#say(JOIN, known.id, this.#address);
    }
  }
  #found(agent: AgentLinks, peer: AgentCard): void {
    const wake = agent.wakerOf(peer);
    if (wake === undefined) return;
    const known: KnownLink = { id: randomName(), link: this.first, confirmed: false, waiting: new Set() };
    agent.know(peer.id, known);
    const page = createLinkPage();
    this.#asked = known;
    // Ready to be used by the other side, which may hear of it before we hear that it does.
    this.first.share(page, 0, wake, this.#options.parking);
    this.#say(FOUND, known.id, page);
  }

  /** What was asked for is no link. */
  #askAgain(): void {
    this.#asked?.link.leave(this.#address);
    this.#asked = undefined;
    this.#address = FOUNDER;
    this.#propose();
  }

  // ---- what the other side says -------------------------------------------------------------------------------

  hear(kind: number, message: readonly unknown[]): void {
    const agent = this.#agent;
    if (agent === undefined || this.#over) return;
    const life = message.at(-2);
    const card = agent.cardIn(message.at(-1));
    if (card === undefined) return;
    if (isLifePage(life)) this.first.watchLife(life);
    const [, , name, more] = message;
    if (kind === INTRODUCE) {
      if (!this.#proposes || this.#peer !== undefined) return;
      this.#peer = card;
      this.#propose();
    } else if (kind === FOUND && typeof name === 'string' && isLinkPage(more)) {
      // A name is one link's: whoever learnt it from a proposal cannot take it over.
      if (this.#link !== undefined || this.first.shared || agent.byId(name) !== undefined) return;
      const wake = agent.wakerOf(card);
      if (wake === undefined) return;
      this.first.share(more, 1, wake, this.#options.parking);
      agent.know(card.id, { id: name, link: this.first, confirmed: true, waiting: new Set() });
      this.#join(this.first);
      this.#say(FOUNDED);
    } else if (kind === FOUNDED) {
      const known = this.#asked;
      if (known === undefined || known.link !== this.first || this.#link !== undefined) return;
      known.confirmed = true;
      this.#join(this.first);
      tellWaiting(known);
    } else if (kind === JOIN && typeof more === 'number') {
      const known = agent.byId(name);
      if (this.#link !== undefined) return;
      if (known === undefined || !known.link.shared) {
        this.#say(DECLINED, name);
        return;
      }
      known.confirmed = true;
      tellWaiting(known);
      this.#address = known.link.enter(this.#channel);
      this.#peerAddress = more;
      if (isLifePage(life)) known.link.watchLife(life);
      // The last that goes this way.
      this.#say(JOINED, name, this.#address);
      this.#join(known.link);
    } else if (kind === JOINED && typeof more === 'number') {
      const known = this.#asked;
      if (known === undefined || known.id !== name || this.#link !== undefined) return;
      this.#peerAddress = more;
      this.#join(known.link);
      this.#say(LAST);
      // Nothing more comes that way but its end.
      this.first.leave(FOUNDER);
    } else if (kind === DECLINED) {
      const known = this.#asked;
      if (known === undefined || known.id !== name || known.link === this.first || this.#link !== undefined) return;
      known.link.leave(this.#address);
      this.#asked = undefined;
      this.#address = FOUNDER;
      // Who we took for that thread is another one, which does not make the link with that thread a bad one.
      // But it may have ended since.
      if (!known.link.shared) this.#propose();
      else if (this.#peer !== undefined && !this.#over) this.#found(agent, this.#peer);
    } else if (kind === LAST) {
      if (this.#link === undefined || this.#link === this.first) return;
      this.first.leave(FOUNDER);
      this.first.retire();
    }
  }
  /** From here on this side sends over the link, and may rest there. */
  #join(link: ThreadLink): void {
    const { words, here } = this.#side;
    this.#link = link;
    if (this.first.endTold) link.endTold = true;
    if (link.end !== undefined) this.seat.take(link.end, this.#channel);
    // Who sleeps on the event loop does so above from here on. It may be in the middle of some other call.
    this.#options.parking.place(words, here + layout.PARK).wake();
    link.rest();
    queueMicrotask(() => this.#channel.arrived());
  }

  // ---- its end ------------------------------------------------------------------------------------------------

  /** A link that was asked for is over, of which nothing else is known. */
  lost(link: ThreadLink): boolean {
    // A founder that is closed before it was answered takes its link along: that thread may live, and ours tell if it does not.
    if (link === this.first || this.#link !== undefined) return false;
    this.#askAgain();
    return true;
  }
  /** @param attached whether a thread has the other end */
  close(attached: boolean): void {
    this.#over = true;
    const { first } = this;
    const link = this.#link;
    this.seat.leave();
    if (link !== undefined) link.leave(this.#address);
    else this.#asked?.link.leave(this.#address);
    this.#waitsFor?.waiting.delete(this.#again);
    // As a link it is there for others, too.
    const shared = link === first || (this.#asked?.link === first && this.#asked.confirmed);
    if (!shared) first.close(attached);
  }
}
