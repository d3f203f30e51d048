// What ties one end of a region to the other thread: the lines of its channel (channel-lines.ts), and what goes over them.

import type { SpilledFrame } from '../../lane/left-over.ts';
import type { NativePair } from '../../memory/native-pair.ts';
import type { SideWords } from '../../memory/region.ts';
import type { EndReason } from '../../outcome.ts';
import type { Parking } from '../../wait/parking.ts';
import { agentSelect } from '../agent-select.ts';
import type { OpenEnd } from '../beside/moving-end.ts';
import { Remains } from '../remains.ts';
import { EndTeller } from '../ring/end-teller.ts';
import type { Tie, TieEvents } from '../ring/tie.ts';
import { MarkedTogether } from '../ring/together.ts';
import type { AgentLinks } from './agent-links.ts';
import { ChannelLines } from './channel-lines.ts';
import type { Joining, JoiningOptions } from './joining.ts';
import { type BesideLuggage, NativeBeside } from './native-beside.ts';
import { NativeLeftOver } from './native-left-over.ts';
import { type LendingLuggage, NativeLending } from './native-lending.ts';
import { MEMORY, MEMORY_HELD, SPILL, SPILL_UNSEEN, valueIn } from './native-values.ts';
import type { LinesLuggage, LinesUser } from './stretches.ts';
import type { ThreadLink } from './thread-link.ts';

export interface TieOptions extends JoiningOptions {
  readonly openEnd?: OpenEnd | undefined;
}

/** What a tie takes along. */
export interface TieLuggage {
  readonly lines: LinesLuggage;
  readonly beside: BesideLuggage;
  readonly lending: LendingLuggage;
  readonly spill: readonly SpilledFrame[] | undefined;
}

export class ThreadTie implements Tie, LinesUser {
  readonly parking: Parking;
  readonly peer: ChannelLines;
  readonly beside: NativeBeside;
  readonly lending: NativeLending;
  readonly leftOver: NativeLeftOver;
  readonly together: MarkedTogether;
  readonly teller: EndTeller;
  readonly remains: Remains;
  readonly #events: TieEvents;

  constructor(
    first: ThreadLink,
    agent: AgentLinks | undefined,
    side: SideWords,
    options: TieOptions,
    events: TieEvents,
    luggage?: TieLuggage & { readonly tail: ThreadLink },
  ) {
    this.#events = events;
    const lines = new ChannelLines(
      first,
      agent,
      side,
      options,
      this,
      luggage && { ...luggage.lines, tail: luggage.tail },
    );
    this.parking = options.parking;
    this.peer = lines;
    this.beside = new NativeBeside(lines, options.openEnd);
    this.lending = new NativeLending(lines);
    this.leftOver = new NativeLeftOver(lines);
    this.together = new MarkedTogether(agentSelect, events);
    this.teller = new EndTeller(side, lines, options.parking);
    this.remains = new Remains(this.teller);
    if (luggage === undefined) return;
    this.beside.resume(luggage.beside, this);
    this.lending.resume(luggage.lending);
    this.repeat(lines.joining);
    if (luggage.spill !== undefined) this.leftOver.accept(luggage.spill);
  }

  // ---- as its lines see it ------------------------------------------------------------------------------------

  arrived(): void {
    this.#events.arrived();
  }
  marked(blocked: boolean): void {
    this.together.marked(blocked);
  }
  seated(): void {
    this.together.changed();
  }
  gone(how: EndReason | undefined, error: unknown): void {
    this.lending.peerGone = true;
    this.#events.closed(how, error);
    this.together.changed();
  }
  repeat({ line, address }: Joining): void {
    for (const each of this.lending.lent) line.say([MEMORY, address, ...each]);
  }
  accept(kind: unknown, message: readonly unknown[]): void {
    const [, , second, third, fourth] = message;
    const value = valueIn(message);
    if (value !== undefined) this.beside.arrive(second as number, value, this);
    else if (kind === SPILL || kind === SPILL_UNSEEN) this.leftOver.accept(second);
    else if (kind === MEMORY) this.lending.accept(second, third, fourth);
    else if (kind === MEMORY_HELD) this.lending.acknowledged(second);
  }

  /** This end goes over to another thread. */
  leave(): { readonly natives: NativePair; readonly tail: NativePair; readonly luggage: TieLuggage } {
    const { natives, tail, luggage: lines } = this.peer.leave();
    const { lending, leftOver } = this;
    const luggage = { lines, beside: this.beside.leave(), lending: lending.luggage, spill: leftOver.luggage };
    return { natives, tail, luggage };
  }

  close(attached: boolean): void {
    this.beside.close(() => {
      this.peer.close(attached);
      this.remains.closed();
    });
  }
}
