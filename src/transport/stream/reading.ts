// What a port receives over a channel of a connection: its lane, made when the other side takes part, and the end behind it.
import { LayoutError } from '../../errors.ts';
import type { LaneInbound } from '../../lane/inbound.ts';
import type { Inbound } from '../../lane/lane.ts';
import { CLOSED, EMPTY } from '../../outcome.ts';
import type { ChannelTerms, StreamChannel } from './channel.ts';

const NO_PORTS: readonly unknown[] = [];

export class Reading implements Inbound {
  readonly #channel: StreamChannel;
  readonly #makeLane: (terms: ChannelTerms) => LaneInbound;
  readonly #look: () => boolean;
  #lane: LaneInbound | undefined;
  /** Damage was found: nothing more is believed, also where the channel had ended before it was read. */
  #damaged = false;

  /** @param look takes in what has come without the event loop, where the medium can; whether there was something */
  constructor(channel: StreamChannel, makeLane: (terms: ChannelTerms) => LaneInbound, look: () => boolean) {
    this.#channel = channel;
    this.#makeLane = makeLane;
    this.#look = look;
  }

  /** Nothing comes before the peer takes part, and says on what terms. */
  get #open(): LaneInbound | undefined {
    const { peerTerms } = this.#channel;
    if (this.#lane === undefined && peerTerms !== undefined) this.#lane = this.#makeLane(peerTerms);
    return this.#lane;
  }
  get ports(): readonly unknown[] {
    return this.#lane?.ports ?? NO_PORTS;
  }
  get ready(): boolean {
    return this.#open?.ready === true || (this.#channel.ended !== undefined && !this.awaitsSide);
  }
  /** Whether what comes next is a value that is still on its way beside the stream. */
  get awaitsSide(): boolean {
    return this.#lane?.awaitsSide === true;
  }
  get whole(): boolean {
    const { ended } = this.#channel;
    try {
      return this.#isOver || this.#open?.whole === true || ended !== undefined;
    } catch (error) {
      if (!(error instanceof LayoutError)) throw error;
      this.#damaged = true;
      this.#channel.reset(error);
      return true;
    }
  }
  /** Nothing is read any more, though there may be something. */
  get #isOver(): boolean {
    const { ended, endedHere } = this.#channel;
    return this.#damaged || (ended === 'lost' && endedHere);
  }
  /** Takes a message into the inbox; false when there is none. @throws LayoutError */
  stash(): boolean {
    try {
      return !this.#isOver && this.#open?.stash() === true;
    } catch (error) {
      if (error instanceof LayoutError) this.#spoil(error);
      throw error;
    }
  }
  /** Nobody will ask any more for what was taken in. */
  letGo(): void {
    this.#lane?.letGo();
  }
  get stashedBytes(): number {
    return this.#lane?.stashedBytes ?? 0;
  }

  tryReceive(): unknown {
    const value = this.#take();
    return value === EMPTY && this.#look() ? this.#take() : value;
  }
  #take(): unknown {
    const channel = this.#channel;
    if (channel.found !== undefined) {
      const error = channel.found;
      channel.found = undefined;
      throw error;
    }
    if (this.#isOver) return CLOSED;
    const lane = this.#open;
    try {
      const value = lane === undefined ? EMPTY : lane.tryReceive();
      if (value !== EMPTY || channel.ended === undefined) return value;
      // What came before the end may have come since the look above.
      const last = lane === undefined ? EMPTY : lane.tryReceive();
      if (last !== EMPTY || this.awaitsSide) return last;
    } catch (error) {
      if (error instanceof LayoutError) this.#spoil(error);
      throw error;
    }
    // The peer has ended and everything is read: nothing can be said any more, in either direction.
    if (channel.closeCame) channel.finish('closed');
    return CLOSED;
  }

  /** What can be no message ends the channel, and no other. */
  #spoil(error: LayoutError): void {
    this.#damaged = true;
    this.#channel.reset(error);
    // Whoever reads is told now.
    this.#channel.found = undefined;
  }
}
