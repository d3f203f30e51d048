// A region between two threads of one process, tied by native ports and, once both know it, by the link of the two.
import * as layout from '../../memory/layout.ts';
import type { Region } from '../../memory/region.ts';
import { sharedParking } from '../../wait/parking.ts';
import { type SharedRingOptions, SharedRingTransport } from '../ring/shared-ring.ts';
import type { TransportEvents } from '../transport.ts';
import type { AgentCard, AgentLinks } from './agent-links.ts';
import type { ChannelLines } from './channel-lines.ts';
import type { ThreadLink } from './thread-link.ts';
import { ThreadTie } from './thread-tie.ts';

/** How a region's end gets at the other thread. */
export interface Way {
  /** The native ports that came with the handle, or stayed with who made it. */
  readonly first: ThreadLink;
  /** This thread's links; without them the channel keeps to its own ports. */
  readonly agent?: AgentLinks | undefined;
  /** The page that speaks for the life of the other side's thread, if there is one. */
  readonly peerLife: SharedArrayBuffer | null;
  /** The same for this thread. */
  readonly life: SharedArrayBuffer | null;
  /** Whether `tellGone` will be called when the peer's thread ends; who does knows more than the tether. */
  readonly peerEndTold: boolean;
}

export interface ThreadRingOptions extends SharedRingOptions {
  readonly asyncPark: 'wait-async' | 'doorbell';
}

export class ThreadTransport extends SharedRingTransport {
  readonly lines: ChannelLines;

  constructor(region: Region, side: 0 | 1, way: Way, options: ThreadRingOptions, events: TransportEvents) {
    let lines!: ChannelLines;
    const [here, there] = side === 0 ? [layout.SIDE_0, layout.SIDE_1] : [layout.SIDE_1, layout.SIDE_0];
    const { first, agent, life, peerLife, peerEndTold } = way;
    if (peerLife !== null) first.watchLife(peerLife);
    first.endTold = peerEndTold;
    super(
      region,
      side,
      (tieEvents) => {
        const words = { words: region.views.words, here, there };
        const tie = new ThreadTie(first, agent, words, { parking: sharedParking(options.asyncPark), life }, tieEvents);
        lines = tie.peer;
        return tie;
      },
      options,
      events,
    );
    this.lines = lines;
  }

  /** Tells the other side's event loop that this end has been attached, and proposes a link. */
  introduce(maker: AgentCard | undefined, proposes: boolean): void {
    this.lines.joining.introduce(maker, proposes);
  }

  /** The end of a channel that this thread has made and kept: both rest on the thread's link with itself. */
  joinSelf(maker: ChannelLines): void {
    this.lines.joining.joinSelf(maker.joining);
  }
}
