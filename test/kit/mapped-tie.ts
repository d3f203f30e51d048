// What ties the two ends of a mapped region together: a seat in the link of its agents, and their control socket. It brings no
// values but those that codecs write, unless it is to hand descriptors over.
import { type Beside, NOTHING_BESIDE } from '../../src/lane/beside.ts';
import type { LeftOver, SpilledFrame } from '../../src/lane/left-over.ts';
import type { Lending } from '../../src/lane/lending.ts';
import type { Marked } from '../../src/link/link-end.ts';
import { Seat } from '../../src/link/seat.ts';
import { type SideWords, type Views, viewsOf } from '../../src/memory/region.ts';
import type { EndReason } from '../../src/outcome.ts';
import { Remains } from '../../src/transport/remains.ts';
import { type EndLines, EndTeller } from '../../src/transport/ring/end-teller.ts';
import type { Behind, Peer, Tie, TieEvents } from '../../src/transport/ring/tie.ts';
import { MarkedTogether } from '../../src/transport/ring/together.ts';
import type { Parking } from '../../src/wait/parking.ts';
import type { MappedAgent, Member, Said } from './mapped-agents.ts';
import { MappedBeside } from './mapped-beside.ts';

/** Whoever uses the lines; held weakly by what lives as long as the link. */
interface User {
  accept(said: Said): void;
  arrived(): void;
  marked(blocked: boolean): void;
  gone(how: EndReason): void;
}

class MappedLines implements Peer, EndLines, Member, Marked {
  readonly agent: MappedAgent;
  readonly address: number;
  readonly peerError = undefined;
  readonly #seat: Seat;
  readonly #user: WeakRef<User>;
  #held = false;

  constructor(agent: MappedAgent, address: number, side: SideWords, user: User) {
    this.agent = agent;
    this.address = address;
    this.#user = new WeakRef(user);
    this.#seat = new Seat(side);
    agent.enter(address, this);
    // Both agents know their link before there is a channel.
    this.#seat.take(agent.end, this);
    agent.rest();
  }

  get linked(): boolean {
    return this.#seat.taken;
  }
  rest(): void {
    this.agent.rest();
  }
  above(): void {
    if (this.#seat.there >= 0) this.agent.resting.ring(this.#seat.there);
  }
  /** Nobody sleeps on its own; who writes that it does is rung all the same. */
  doorbell(): void {
    this.above();
  }
  tellEnd(): void {
    this.above();
  }
  peerOver(): void {}
  peerGone(): EndReason | undefined {
    return this.agent.peerGone();
  }
  hold(held: boolean): void {
    if (held === this.#held) return;
    this.#held = held;
    this.agent.held += held ? 1 : -1;
  }
  close(): void {
    this.hold(false);
    this.#seat.leave();
    this.agent.letGo(this.address);
  }

  accept(said: Said): void {
    this.#user.deref()?.accept(said);
  }
  arrived(): void {
    this.#user.deref()?.arrived();
  }
  marked(blocked: boolean): void {
    this.#user.deref()?.marked(blocked);
  }
  gone(how: EndReason): void {
    this.#user.deref()?.gone(how);
  }
}

/** What a medium has. */
export interface MappedMeans {
  /** Whether there is memory beside the ring. */
  readonly lends?: boolean;
  readonly parking?: Parking;
  /** Whether descriptors can be handed over with a value. */
  readonly descriptors?: boolean;
}

class MappedLending implements Lending {
  readonly held = true;
  readonly #lines: MappedLines;
  readonly #memories: { readonly number: number; readonly views: Views }[] = [];

  constructor(lines: MappedLines) {
    this.#lines = lines;
  }
  get late(): boolean {
    return this.#lines.agent.late;
  }
  lend(bytes: number, number: number, slot: number): Views {
    const memory = new ArrayBuffer(bytes);
    this.#lines.agent.say({ address: this.#lines.address, memory: { number, slot, memory } });
    return viewsOf(memory);
  }
  accept({ number, slot, memory }: Required<Said>['memory']): void {
    this.#memories[slot] = { number, views: viewsOf(memory) };
  }
  borrowed(number: number): Views | undefined {
    this.#lines.agent.pull();
    return this.#memories.find((it) => it?.number === number)?.views;
  }
}

class MappedLeftOver implements LeftOver {
  readonly #lines: MappedLines;
  #left: readonly SpilledFrame[] | undefined;

  constructor(lines: MappedLines) {
    this.#lines = lines;
  }
  get late(): boolean {
    return this.#lines.agent.late;
  }
  leave(frames: readonly SpilledFrame[]): void {
    this.#lines.agent.say({ address: this.#lines.address, left: frames.map(([tag, bytes]) => [tag, bytes.slice()]) });
  }
  accept(frames: readonly SpilledFrame[]): void {
    this.#left = frames;
  }
  lookForSpill(): readonly SpilledFrame[] | undefined {
    this.#lines.agent.pull();
    return this.#left;
  }
  takeSpill(): readonly SpilledFrame[] | undefined {
    return this.lookForSpill();
  }
  get spillArrived(): boolean {
    return this.#left !== undefined;
  }
}

export class MappedTie implements Tie, User {
  readonly parking: Parking;
  readonly beside: Beside;
  readonly lending: MappedLending | undefined;
  readonly leftOver: MappedLeftOver;
  readonly peer: MappedLines;
  readonly together: MarkedTogether;
  readonly behind: Behind;
  readonly teller: EndTeller;
  readonly remains: Remains;
  readonly #events: TieEvents;

  constructor(
    agent: MappedAgent,
    address: number,
    side: SideWords,
    { lends, parking, descriptors }: Required<MappedMeans>,
    events: TieEvents,
  ) {
    this.#events = events;
    this.parking = parking;
    this.behind = agent;
    this.beside = descriptors ? new MappedBeside(agent, address) : NOTHING_BESIDE;
    const lines = new MappedLines(agent, address, side, this);
    this.peer = lines;
    this.lending = lends ? new MappedLending(lines) : undefined;
    this.leftOver = new MappedLeftOver(lines);
    this.together = new MarkedTogether(() => agent.select, events);
    this.teller = new EndTeller(side, lines, parking);
    this.remains = new Remains(this.teller);
  }
  close(): void {
    this.peer.close();
  }

  accept({ memory, left, value }: Said): void {
    if (value !== undefined && this.beside instanceof MappedBeside) this.beside.accept(value);
    if (memory !== undefined) this.lending?.accept(memory);
    if (left !== undefined) this.leftOver.accept(left);
  }
  arrived(): void {
    this.#events.arrived();
  }
  gone(how: EndReason): void {
    this.#events.closed(how, undefined);
    this.together.changed();
  }
  marked(blocked: boolean): void {
    this.together.marked(blocked);
  }
}
