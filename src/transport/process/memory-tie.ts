// What ties the ends of a region together that two processes have mapped, beside its memory: their link, and the channel of their connection that
// it belongs to. It brings no values but those that codecs write.
import { LayoutError } from '../../errors.ts';
import { type Beside, NOTHING_BESIDE } from '../../lane/beside.ts';
import type { LeftOver, SpilledFrame } from '../../lane/left-over.ts';
import type { Marked } from '../../link/link-end.ts';
import { Seat } from '../../link/seat.ts';
import type { SideWords } from '../../memory/region.ts';
import { MEMORY_BYTES_MAX, type Primitives } from '../../native/primitives.ts';
import type { EndReason } from '../../outcome.ts';
import type { Parking } from '../../wait/parking.ts';
import { agentSelect } from '../agent-select.ts';
import { Remains } from '../remains.ts';
import { type EndLines, EndTeller } from '../ring/end-teller.ts';
import type { Behind, Peer, Tie, TieEvents } from '../ring/tie.ts';
import { MarkedTogether } from '../ring/together.ts';
import type { StreamChannel } from '../stream/channel.ts';
import type { Said } from './descriptor-line.ts';
import { LEFT, type MemoryLink, type MemoryMember } from './memory-link.ts';

/** The lines of one end: there before the end is, for what comes early. */
export class MemoryLines implements Peer, EndLines, MemoryMember, Marked {
  readonly link: MemoryLink;
  readonly channel: StreamChannel;
  readonly leftOver: MemoryLeftOver;
  /** Once there is an end. */
  user: MemoryTie | undefined;
  #seat: Seat | undefined;
  #held = false;

  constructor(link: MemoryLink, channel: StreamChannel) {
    this.link = link;
    this.channel = channel;
    this.leftOver = new MemoryLeftOver(this);
    link.enter(channel.number, this);
  }
  begin(user: MemoryTie, side: SideWords): void {
    this.user = user;
    this.#seat = new Seat(side);
    // Both processes know their link before there is a channel.
    this.#seat.take(this.link.end, this);
    this.link.rest();
  }

  get linked(): boolean {
    return true;
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
    this.hold(false);
    this.#seat?.leave();
    this.link.leave(this.channel.number);
    // The reason stands in the region.
    this.channel.end(this.channel.ended ?? 'closed');
  }

  said({ kind, words, descriptors }: Said): void {
    const { native } = this.link;
    const [bytes, frames] = words as unknown as [number, number];
    const [descriptor] = descriptors;
    try {
      if (kind !== LEFT || descriptor === undefined || descriptors.length > 1)
        throw new LayoutError(`Cannot take what was said of a channel: kind ${kind}`, { kind });
      this.leftOver.came(framesIn(native, descriptor, bytes, frames));
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

/** Two words of each frame: its tag, and its length; then its payload, to a multiple of 8. */
const HEAD_BYTES = 8;
function frameBytes(payload: Uint8Array): number {
  return HEAD_BYTES + ((payload.length + 7) & -8);
}

/** @throws LayoutError */
function framesIn(native: Primitives, descriptor: number, bytes: number, count: number): SpilledFrame[] {
  let buffer: ArrayBuffer;
  try {
    ({ buffer } = native.map(descriptor, bytes));
  } catch (cause) {
    throw new LayoutError('Cannot map what a channel has left over', { cause });
  }
  const words = new Int32Array(buffer);
  const frames: SpilledFrame[] = [];
  let at = 0;
  for (let i = 0; i < count; i++) {
    const [tag = 0, length = -1] = words.subarray(at >> 2, (at >> 2) + 2);
    if (length < 0 || length > bytes - at - HEAD_BYTES)
      throw new LayoutError(`Cannot read what a channel has left over: a frame of ${length} bytes`, { length });
    const payload = new Uint8Array(buffer, at + HEAD_BYTES, length);
    frames.push([tag, payload]);
    at += frameBytes(payload);
  }
  return frames;
}

class MemoryLeftOver implements LeftOver {
  readonly #lines: MemoryLines;
  #frames: readonly SpilledFrame[] | undefined;

  constructor(lines: MemoryLines) {
    this.#lines = lines;
  }
  /** In memory of its own. @throws Error of the system, where there is none to be had: they are lost then, and counted */
  leave(frames: readonly SpilledFrame[]): void {
    const { link, channel } = this.#lines;
    const { native } = link;
    const bytes = frames.reduce((sum, [, payload]) => sum + frameBytes(payload), 0);
    if (bytes > MEMORY_BYTES_MAX) throw new LayoutError(`Cannot leave ${bytes} bytes over`, { length: bytes });
    const descriptor = native.createMemory(bytes);
    const { buffer, place } = native.map(descriptor, bytes);
    const words = new Int32Array(buffer);
    const memory = new Uint8Array(buffer);
    let at = 0;
    for (const [tag, payload] of frames) {
      words[at >> 2] = tag;
      words[(at >> 2) + 1] = payload.length;
      memory.set(payload, at + HEAD_BYTES);
      at += frameBytes(payload);
    }
    native.unmap(place);
    link.say(LEFT, channel.number, [bytes, frames.length], [descriptor]);
  }
  get late(): boolean {
    return this.#frames === undefined && this.#lines.link.open;
  }
  came(frames: readonly SpilledFrame[]): void {
    this.#frames ??= frames;
  }
  lookForSpill(): readonly SpilledFrame[] | undefined {
    if (this.#frames === undefined) this.#lines.link.pull();
    return this.#frames;
  }
  takeSpill(): readonly SpilledFrame[] | undefined {
    const frames = this.lookForSpill();
    this.#frames = undefined;
    return frames;
  }
  get spillArrived(): boolean {
    return this.lookForSpill() !== undefined;
  }
}

export class MemoryTie implements Tie {
  readonly parking: Parking;
  readonly beside: Beside = NOTHING_BESIDE;
  readonly leftOver: LeftOver;
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
  }
}
