// What ties the ends of a region together that two processes have mapped, beside its memory: their link, and the channel of their connection that
// it belongs to. It brings no values but those that codecs write.
import { LayoutError } from '../../errors.ts';
import { type Beside, NOTHING_BESIDE } from '../../lane/beside.ts';
import type { LeftOver } from '../../lane/left-over.ts';
import type { Lending } from '../../lane/lending.ts';
import type { Marked } from '../../link/link-end.ts';
import type { SleepsBy } from '../../link/own-agent.ts';
import { Seat } from '../../link/seat.ts';
import type { SideWords } from '../../memory/region.ts';
import type { EndReason } from '../../outcome.ts';
import type { Parking } from '../../wait/parking.ts';
import { agentSelect } from '../agent-select.ts';
import { Remains } from '../remains.ts';
import { type EndLines, EndTeller } from '../ring/end-teller.ts';
import type { Behind, Peer, Tie, TieEvents } from '../ring/tie.ts';
import { MarkedTogether } from '../ring/together.ts';
import type { StreamChannel } from '../stream/channel.ts';
import type { Said } from './descriptor-line.ts';
import { MemoryLeftOver } from './memory-left-over.ts';
import { MemoryLending } from './memory-lending.ts';
import { DONE, LEFT, LENT, type MemoryLink, type MemoryMember } from './memory-link.ts';

/** The lines of one end: there before the end is, for what comes early. */
export class MemoryLines implements Peer, EndLines, MemoryMember, Marked {
  readonly link: MemoryLink;
  readonly channel: StreamChannel;
  readonly leftOver: MemoryLeftOver;
  readonly lending: MemoryLending;
  /** Once there is an end. */
  user: MemoryTie | undefined;
  #seat: Seat | undefined;
  #held = false;
  /** The other side says nothing more. */
  #done = false;
  #closed = false;
  /** Frames that came as left over. */
  #left = 0;

  constructor(link: MemoryLink, channel: StreamChannel) {
    this.link = link;
    this.channel = channel;
    const mayCome = (): boolean => !this.#done && link.open;
    this.leftOver = new MemoryLeftOver(link, channel.number, mayCome);
    this.lending = new MemoryLending(link, channel.number, mayCome);
    link.enter(channel.number, this);
  }
  begin(user: MemoryTie, side: SideWords): void {
    this.user = user;
    this.#seat = new Seat(side);
    if (this.#done) return;
    // Both processes know their link before there is a channel.
    this.#seat.take(this.link.end, this);
    this.link.rest();
  }

  get linked(): boolean {
    return true;
  }
  get sleepsBy(): SleepsBy {
    return this.link.sleepsBy;
  }
  rest(): void {
    this.link.rest();
  }
  above(): void {
    const there = this.#seat?.there ?? -1;
    if (there >= 0) this.link.resting.ring(there);
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
    return this.link.peerGone();
  }
  get peerError(): unknown {
    return this.link.peerError;
  }
  hold(held: boolean): void {
    if (held === this.#held) return;
    this.link.link.hold(held);
    // Not before: where the stack has ended on the way there, it is to be said again.
    this.#held = held;
  }
  /** Nothing is read at this end any more, nor sent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.hold(false);
    this.link.countLeft(-this.#left);
    this.#letGo();
    // The connection may end with this channel, and the line with it: not before what was said on that is out.
    const { link } = this.link;
    link.hold(true);
    this.channel.ended ??= 'closed';
    this.link.say(DONE, this.channel.number, [], [], () => {
      // The reason stands in the region.
      this.channel.end(this.channel.ended ?? 'closed');
      link.hold(false);
    });
  }
  /** Nothing comes for this end any more: whoever knows it is to hold it no longer. */
  #letGo(): void {
    this.#seat?.leave();
    this.link.leave(this.channel.number);
    this.user?.remains.closed();
  }

  said({ kind, words, descriptors }: Said): void {
    const { native } = this.link;
    const [bytes, one, other] = words as unknown as [number, number, number];
    const [descriptor] = descriptors;
    try {
      if (kind === DONE && descriptors.length === 0) {
        this.#done = true;
        this.#letGo();
      } else if ((kind !== LEFT && kind !== LENT) || descriptor === undefined || descriptors.length > 1)
        throw new LayoutError(`Cannot take what was said of a channel: kind ${kind}`, { kind });
      else if (kind === LEFT) {
        if (this.#left > 0) throw new LayoutError('Cannot take what a channel has left over twice');
        const left = Math.max(1, one);
        this.link.countLeft(left);
        this.#left = left;
        this.leftOver.came(descriptor, bytes, one);
      } else this.lending.came(descriptor, bytes, one, other);
    } finally {
      for (const each of descriptors) native.close(each);
    }
  }
  arrived(): void {
    this.user?.events.arrived();
  }
  marked(blocked: boolean): void {
    this.user?.together.marked(blocked);
  }
  gone(how: EndReason, error?: unknown): void {
    this.user?.gone(how, error);
  }
}

export class MemoryTie implements Tie {
  readonly parking: Parking;
  readonly beside: Beside = NOTHING_BESIDE;
  readonly leftOver: LeftOver;
  readonly lending: Lending;
  readonly peer: MemoryLines;
  readonly together: MarkedTogether;
  readonly behind: Behind;
  readonly teller: EndTeller;
  readonly remains: Remains;
  readonly events: TieEvents;

  constructor(lines: MemoryLines, side: SideWords, parking: Parking, events: TieEvents) {
    this.parking = parking;
    this.peer = lines;
    this.leftOver = lines.leftOver;
    this.lending = lines.lending;
    this.behind = lines.link;
    this.events = events;
    this.together = new MarkedTogether(agentSelect, events);
    this.teller = new EndTeller(side, lines, parking);
    this.remains = new Remains(this.teller);
    lines.begin(this, side);
  }
  close(): void {
    this.peer.close();
  }
  gone(how: EndReason, error: unknown): void {
    this.events.closed(how, error);
    this.together.changed();
    // There is nobody to be told any more: what is watched would be kept by what is told of it.
    this.remains.closed();
  }
}
