// The native ways of one end of a channel: the ports that came with its handle, and the link of its two threads once both
// have said that they know it. Leads to no port: see remains.ts.
//
// How a channel joins a link. Whoever attached proposes, over the ports that came with the handle (who holds them holds the
// handle; a number in it could be anybody's):
//
//   no link with that thread yet    FOUND: let these ports be our link; here is its page      -> FOUNDED
//   there is one                    JOIN: there, by that name, this channel has this address  -> JOINED, and its address here
//                                   or the name means nothing over there                      -> DECLINED, then FOUND
//   one was proposed and not heard of   nothing, until it is
//
// An answer repeats the name: the link that was asked for may be gone meanwhile, with its founder, and another one be asked for.
//
// JOINED is the last that the maker of the channel posts on the old ports, and LAST, the answer to it, the last that comes
// back: each side goes on over the link when it has posted its own. So what went over the old ports was taken when the one who
// hears LAST closes them, and each address and page is known to whoever is to use it before it is used.
//
// How a side is woken. Each announcement says how (wait/signal.ts). A side announces ABOVE only once the other one has said
// that it knows the link, with SEAT stored before. One that sleeps on its own is rung by its old ports until SEAT says
// that it has a link, and over the link from then on.
//
// Longer than a file should be: the joining half is to leave, together with a model of it.
import type { EndLines, SideWords } from '../../lane/end-teller.ts';
import * as layout from '../../memory/layout.ts';
import { isLifePage } from '../../memory/life-page.ts';
import type { CloseReason } from '../../outcome.ts';
import {
  type AgentCard,
  type AgentLinks,
  createLinkPage,
  isCard,
  isLinkPage,
  type KnownLink,
  randomName,
  tellWaiting,
} from './agent-links.ts';
import { letGoOfMessage } from './native-values.ts';
import { FOUNDER, type Member, type ThreadLink } from './thread-link.ts';

/** What is said about a channel. Lower numbers are what it sends: native-values.ts. */
const INTRODUCE = 16;
const FOUND = 17;
const FOUNDED = 18;
const JOIN = 19;
const JOINED = 20;
const DECLINED = 21;
const LAST = 22;

/** Whoever uses the lines. Held weakly: a link lives as long as its threads. */
export interface LinesUser {
  /** Something the other side sent came. */
  accept(kind: unknown, message: readonly unknown[]): void;
  /** Something changed: look. Called from the event loop. */
  arrived(): void;
  /** The same for a mark in the ready set; or by a thread that is blocked, and nobody's code may run now. */
  marked(blocked: boolean): void;
  /** Nobody uses the lines any more, and something came for whoever did. */
  gone(how: CloseReason | undefined, error: unknown): void;
}

export interface LinesOptions {
  readonly asyncPark: 'wait-async' | 'doorbell';
  /** The page of this thread's life, if somebody watches it. */
  readonly life: SharedArrayBuffer | null;
}

export class ChannelLines implements Member, EndLines {
  /** What came with the handle. */
  readonly first: ThreadLink;
  readonly #agent: AgentLinks | undefined;
  readonly #side: SideWords;
  readonly #options: LinesOptions;
  readonly #user: WeakRef<LinesUser>;
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
  #seat = 0;
  #held = false;
  #over = false;
  /** Values were posted. */
  #posted = false;
  /** Posts that are under way: a getter of a value may look for messages, and post. */
  #posting = 0;
  readonly #heardMeanwhile: (readonly unknown[])[] = [];

  /** @param agent this thread's links; without them the channel keeps to its own ports */
  constructor(
    first: ThreadLink,
    agent: AgentLinks | undefined,
    side: SideWords,
    options: LinesOptions,
    user: LinesUser,
  ) {
    this.first = first;
    this.#agent = agent;
    this.#side = side;
    this.#options = options;
    this.#user = new WeakRef(user);
    first.found(this);
  }

  // ---- what goes over them ------------------------------------------------------------------------------------

  /** Where what is posted now goes, and the address to write on it. */
  get line(): ThreadLink {
    return this.#link ?? this.first;
  }
  get peerAddress(): number {
    return this.#peerAddress;
  }
  /** 1 once this side posts over a link that is not its own. */
  get generation(): 0 | 1 {
    return this.line === this.first ? 0 : 1;
  }
  /** @throws what the native port throws; nothing was posted then */
  post(message: readonly unknown[], transfer: readonly unknown[]): number {
    this.#posting++;
    try {
      const place = this.line.post(message, transfer);
      this.#posted = true;
      return place;
    } finally {
      // What a getter let us hear while the message was not on its line yet, which is not to be left before it is.
      if (--this.#posting === 0) for (const heard of this.#heardMeanwhile.splice(0)) this.accept(heard[0], heard);
    }
  }
  /** The line of a generation, as the other side counts. It may have gone on before we hear of it. */
  lineOf(generation: number): ThreadLink {
    return generation === 0 ? this.first : (this.#known ?? this.first);
  }
  pull(): void {
    this.first.pull();
    const later = this.lineOf(1);
    if (later !== this.first) later.pull();
  }
  get natives(): readonly unknown[] {
    const later = this.lineOf(1);
    return later === this.first ? this.first.natives : [...this.first.natives, ...later.natives];
  }

  accept(kind: unknown, message: readonly unknown[]): void {
    if (typeof kind === 'number' && kind >= INTRODUCE) {
      if (this.#posting > 0) this.#heardMeanwhile.push(message);
      else if (!this.#over && this.#agent !== undefined) this.#hear(this.#agent, kind, message);
      return;
    }
    const user = this.#user.deref();
    if (user === undefined) letGoOfMessage(message);
    else user.accept(kind, message);
  }
  arrived(): void {
    this.#user.deref()?.arrived();
  }
  marked(blocked: boolean): void {
    this.#user.deref()?.marked(blocked);
  }
  gone(how: CloseReason | undefined, error: unknown, link: ThreadLink): void {
    // A founder that is closed before it was answered takes its link along: that thread may live, and ours tell if it does not.
    if (link !== this.first && this.#link === undefined && how === undefined) this.#askAgain();
    else this.#user.deref()?.gone(how, error);
  }

  // ---- waking and resting -------------------------------------------------------------------------------------

  get linked(): boolean {
    return this.#seat !== 0;
  }
  /** Rings for the other side, which sleeps on its own for a message on a native port. */
  doorbell(): void {
    const seat = this.#seatThere;
    if (this.#link !== undefined && seat >= 0) this.#link.ringOwn(seat);
    else this.first.doorbell();
  }
  /** Rings for the other side, which sleeps above: it knows the link, and we may not have heard that it does. */
  above(): void {
    this.#known?.ring(this.#seatThere);
  }
  /** The other side is to look at our end, however it sleeps. On its old ports it hears of it by their close. */
  tellEnd(): void {
    const seat = this.#seatThere;
    if (seat >= 0) this.#known?.ring(seat);
  }
  /** The other side has ended. What it has not taken by now it is to let go, and it does not look any more. */
  peerOver(): void {
    if (this.#posted) this.line.hearMe();
    this.#posted = false;
  }
  /** The link, as soon as the other side may use it. */
  get #known(): ThreadLink | undefined {
    return this.#link ?? this.#asked?.link;
  }
  get #seatThere(): number {
    // SYNC seat: stored before anybody sleeps by it; pairs with join below.
    return Atomics.load(this.#side.words, this.#side.there + layout.SEAT) - 1;
  }
  /** Rests on the event loop, with all channels of the link. */
  rest(): void {
    this.#link?.rest();
  }
  hold(held: boolean): void {
    if (held === this.#held || (held && this.#over)) return;
    this.#held = held;
    this.#agent?.hold(held);
  }

  // ---- life ---------------------------------------------------------------------------------------------------

  peerGone(): CloseReason | undefined {
    if (this.#link === undefined || this.#link === this.first) return this.first.peerGone();
    this.first.pull();
    return this.#link.peerGone();
  }
  get peerError(): unknown {
    return this.first.peerError ?? this.#link?.peerError;
  }
  /** Whoever saw the other thread end says how. */
  tellGone(how: CloseReason | undefined, error: unknown): void {
    if (this.first.members > 0) this.first.tellGone(how, error);
    if (this.#link !== undefined && this.#link !== this.first) this.#link.tellGone(how, error);
  }
  /** @param attached whether a thread has the other end */
  close(attached: boolean): void {
    this.hold(false);
    if (attached) this.peerOver();
    // What came for a user that is garbage is let go.
    if (this.#user.deref() === undefined) this.pull();
    this.#over = true;
    const { first } = this;
    const link = this.#link;
    if (this.#seat !== 0) link?.end?.remove(this.#seat - 1);
    this.#seat = 0;
    if (link !== undefined) link.leave(this.#address);
    else this.#asked?.link.leave(this.#address);
    this.#waitsFor?.waiting.delete(this.#again);
    // As a link it is there for others, too.
    const shared = link === first || (this.#asked?.link === first && this.#asked.confirmed);
    if (!shared) first.close(attached);
  }

  // ---- joining a link -----------------------------------------------------------------------------------------

  /** This end was attached, of a channel that `maker` has made, or two others for which some third one did. */
  introduce(maker: AgentCard | undefined, proposes: boolean): void {
    this.#peer = maker;
    this.#proposes = proposes;
    if (proposes && maker !== undefined) this.#propose();
    else this.#say(INTRODUCE);
  }
  /** The channel's maker is in this thread, and nothing went over native ports. */
  joinSelf(maker: ChannelLines): void {
    const { self } = this.#agent as AgentLinks;
    this.#peerAddress = maker.joinAs(self.near.link, this.joinAs(self.far.link, FOUNDER));
  }
  /** One half of that; the other end may be another copy's. Returns the address here. */
  joinAs(link: ThreadLink, peerAddress: number): number {
    if (this.#over) return FOUNDER;
    this.first.leave(FOUNDER);
    this.#address = link.enter(this);
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
      this.#address = known.link.enter(this);
      this.#say(JOIN, known.id, this.#address);
    }
  }
  #found(agent: AgentLinks, peer: AgentCard): void {
    const known: KnownLink = { id: randomName(), link: this.first, confirmed: false, waiting: new Set() };
    agent.know(peer.id, known);
    const page = createLinkPage();
    this.#asked = known;
    // Ready to be used by the other side, which may hear of it before we hear that it does.
    this.first.share(page, 0, peer.page, this.#options.asyncPark);
    this.#say(FOUND, known.id, page);
  }

  /** What was asked for is no link. */
  #askAgain(): void {
    this.#asked?.link.leave(this.#address);
    this.#asked = undefined;
    this.#address = FOUNDER;
    this.#propose();
  }

  #hear(agent: AgentLinks, kind: number, message: readonly unknown[]): void {
    const life = message.at(-2);
    const card = message.at(-1);
    if (!isCard(card)) return;
    if (isLifePage(life)) this.first.watchLife(life);
    const [, , name, more] = message;
    if (kind === INTRODUCE) {
      if (!this.#proposes || this.#peer !== undefined) return;
      this.#peer = card;
      this.#propose();
    } else if (kind === FOUND && typeof name === 'string' && isLinkPage(more)) {
      // A name is one link's: whoever learnt it from a proposal cannot take it over.
      if (this.#link !== undefined || this.first.shared || agent.byId(name) !== undefined) return;
      this.first.share(more, 1, card.page, this.#options.asyncPark);
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
      this.#address = known.link.enter(this);
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
    this.#seat = 1 + (link.end?.add(this) ?? 0);
    // SYNC seat: whoever finds us asleep above finds where; pairs with seatThere.
    Atomics.store(words, here + layout.SEAT, this.#seat);
    // Who sleeps on the event loop does so above from here on. It may be in the middle of some other call.
    Atomics.notify(words, here + layout.PARK);
    link.rest();
    queueMicrotask(() => this.arrived());
  }
}
