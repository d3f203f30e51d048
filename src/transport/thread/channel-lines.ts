// The native ways of one end of a channel: the ports that came with its handle, and the link of its two threads once both
// have said that they know it (joining.ts). Leads to no port: see transport/remains.ts.
//
// How a side is woken. Each announcement says how (wait/signal.ts). A side announces ABOVE only once the other one has said
// that it knows the link, with SEAT stored before. One that sleeps on its own is rung by its old ports until SEAT says
// that it has a link, and over the link from then on.
import type { EndLines } from '../../lane/end-teller.ts';
import type { SideWords } from '../../memory/region.ts';
import type { EndReason } from '../../outcome.ts';
import type { AgentLinks } from './agent-links.ts';
import { isAboutChannel, type Joiner, Joining, type JoiningOptions } from './joining.ts';
import { letGoOfMessage } from './native-values.ts';
import type { ThreadLink } from './thread-link.ts';

/** Whoever uses the lines. Held weakly: a link lives as long as its threads. */
export interface LinesUser {
  /** Something the other side sent came. */
  accept(kind: unknown, message: readonly unknown[]): void;
  /** Something changed: look. Called from the event loop. */
  arrived(): void;
  /** The same for a mark in the ready set; or by a thread that is blocked, and nobody's code may run now. */
  marked(blocked: boolean): void;
  /** Nobody uses the lines any more, and something came for whoever did. */
  gone(how: EndReason | undefined, error: unknown): void;
}

export class ChannelLines implements Joiner, EndLines {
  readonly joining: Joining;
  readonly #agent: AgentLinks | undefined;
  readonly #user: WeakRef<LinesUser>;
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
   */
  constructor(
    first: ThreadLink,
    agent: AgentLinks | undefined,
    side: SideWords,
    options: JoiningOptions,
    user: LinesUser,
  ) {
    this.#agent = agent;
    this.#user = new WeakRef(user);
    this.joining = new Joining(first, agent, side, options, this);
  }

  // ---- what goes over them ------------------------------------------------------------------------------------

  get #first(): ThreadLink {
    return this.joining.first;
  }
  /** To be written on what is posted now. */
  get address(): number {
    return this.joining.address;
  }
  /** 1 once this side posts over a link that is not its own. */
  get generation(): 0 | 1 {
    return this.joining.line === this.#first ? 0 : 1;
  }
  /** @throws what the native port throws; nothing was posted then */
  post(message: readonly unknown[], transfer: readonly unknown[]): number {
    this.#posting++;
    try {
      const place = this.joining.line.post(message, transfer);
      this.#posted = true;
      return place;
    } finally {
      // What a getter let us hear while the message was not on its line yet, which is not to be left before it is.
      if (--this.#posting === 0) for (const then of this.#afterPosts.splice(0)) then();
    }
  }
  quiet(then: () => void): void {
    if (this.#posting > 0) this.#afterPosts.push(then);
    else then();
  }
  /** The line of a generation, as the other side counts. It may have gone on before we hear of it. */
  lineOf(generation: number): ThreadLink {
    return generation === 0 ? this.#first : (this.joining.reachable ?? this.#first);
  }
  pull(): void {
    this.joining.pull();
  }
  get natives(): readonly unknown[] {
    const later = this.lineOf(1);
    return later === this.#first ? this.#first.natives : [...this.#first.natives, ...later.natives];
  }

  accept(kind: unknown, message: readonly unknown[]): void {
    if (isAboutChannel(kind)) {
      this.quiet(() => this.joining.hear(kind, message));
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
  gone(how: EndReason | undefined, error: unknown, link: ThreadLink): void {
    if (how === undefined && this.joining.lost(link)) return;
    this.#user.deref()?.gone(how, error);
  }

  // ---- waking and resting -------------------------------------------------------------------------------------

  get linked(): boolean {
    return this.joining.seat.taken;
  }
  /** Rings for the other side, which sleeps on its own for a message on a native port. */
  doorbell(): void {
    const { first, link, seat } = this.joining;
    const { there } = seat;
    if (link !== undefined && there >= 0) link.ringOwn(there);
    else first.doorbell();
  }
  /** Rings for the other side, which sleeps above: it knows the link, and we may not have heard that it does. */
  above(): void {
    this.joining.reachable?.ring(this.joining.seat.there);
  }
  /** The other side is to look at our end, however it sleeps. On its old ports it hears of it by their close. */
  tellEnd(): void {
    const { there } = this.joining.seat;
    if (there >= 0) this.joining.reachable?.ring(there);
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
    const { first, line } = this.joining;
    if (line !== first) first.pull();
    return line.peerGone();
  }
  get peerError(): unknown {
    return this.#first.peerError ?? this.joining.link?.peerError;
  }
  /** Whoever saw the other thread end says how. */
  tellGone(how: EndReason | undefined, error: unknown): void {
    const { first, line } = this.joining;
    if (first.members > 0) first.tellGone(how, error);
    if (line !== first) line.tellGone(how, error);
  }
  /** @param attached whether a thread has the other end */
  close(attached: boolean): void {
    this.hold(false);
    if (attached) this.peerOver();
    // What came for a user that is garbage is let go.
    if (this.#user.deref() === undefined) this.pull();
    this.#over = true;
    this.joining.close(attached);
  }
}
