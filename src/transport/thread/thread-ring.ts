// A region between two threads of one process, tied by native ports and, once both know it, by the link of the two.
import type { Failure } from '../../lane/inbox.ts';
import { createMovingHandle, type MovingHandle, type TextBounds } from '../../memory/handle.ts';
import * as layout from '../../memory/layout.ts';
import { type NativePair, renewedPair } from '../../memory/native-pair.ts';
import type { Region } from '../../memory/region.ts';
import { giveUpSide } from '../../memory/sides.ts';
import type { LoopWay } from '../../platform/contract.ts';
import { sharedParking } from '../../wait/parking.ts';
import type { OpenEnd } from '../beside/moving-end.ts';
import { type RingLuggage, type SharedRingOptions, SharedRingTransport } from '../ring/shared-ring.ts';
import type { TransportEvents, Travels } from '../transport.ts';
import type { AgentCard, AgentLinks } from './agent-links.ts';
import type { ChannelLines } from './channel-lines.ts';
import { ThreadLink } from './thread-link.ts';
import { ThreadTie, type TieLuggage } from './thread-tie.ts';

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
  readonly asyncPark: LoopWay;
  readonly moving: Moving;
  readonly openEnd?: OpenEnd | undefined;
}

/** What stands in the handle of an end, should it go over to another thread. */
export interface Moving {
  readonly texts: TextBounds;
  /** With what that thread is to open it. Structured clone carries it. */
  readonly portOptions: unknown;
}

/** What an end takes along when it goes over to another thread. */
export interface ThreadLuggage {
  readonly portOptions: unknown;
  readonly ring: RingLuggage;
  readonly tie: TieLuggage;
  /** How what still comes for this end follows. */
  readonly tail: NativePair;
}

export class ThreadTransport extends SharedRingTransport implements Travels {
  readonly lines: ChannelLines;
  readonly travels: Travels = this;
  readonly #tie: ThreadTie;
  readonly #agent: AgentLinks | undefined;
  readonly #moves: Pick<ThreadRingOptions, 'moving'>;

  constructor(
    region: Region,
    side: 0 | 1,
    way: Way,
    options: ThreadRingOptions,
    events: TransportEvents,
    luggage?: ThreadLuggage,
  ) {
    let tie!: ThreadTie;
    const [here, there] = side === 0 ? [layout.SIDE_0, layout.SIDE_1] : [layout.SIDE_1, layout.SIDE_0];
    const { first, agent, life, peerLife, peerEndTold } = way;
    const { words: all } = region.views;
    // Of who was at the other end when this one left.
    const moves = luggage?.tie.lines.moves ?? 0;
    if (peerLife !== null) first.watchLife(peerLife, () => Atomics.load(all, there + layout.MOVES) === moves);
    first.endTold = peerEndTold;
    super(
      region,
      side,
      (tieEvents) => {
        const words = { words: region.views.words, here, there };
        const parking = sharedParking(options.asyncPark);
        const came = luggage && { ...luggage.tie, tail: new ThreadLink(renewedPair(luggage.tail)) };
        tie = new ThreadTie(first, agent, words, { parking, life, openEnd: options.openEnd }, tieEvents, came);
        return tie;
      },
      options,
      events,
    );
    this.lines = tie.peer;
    this.#tie = tie;
    this.#moves = options;
    this.#agent = agent;
  }

  get memory(): unknown {
    return this.region.memory;
  }
  leave(owed?: Failure): MovingHandle {
    const { texts, portOptions } = this.#moves.moving;
    const { first, line } = this.lines.joining;
    const life = line.peerLife ?? first.peerLife;
    const ring = this.pack(owed);
    const { natives, tail, luggage: tie } = this.#tie.leave();
    const moved = [
      tail.tether,
      tail.side,
      ...ring.out.waiting.flatMap(({ held }) => held?.transfer ?? []),
      ...ring.in.aside.flatMap((each) => ('native' in each ? each.native.ports : [])),
      ...tie.beside.values.flatMap(([, { ports }]) => ports),
    ];
    const luggage: ThreadLuggage = { portOptions, ring, tie, tail };
    const ticket = giveUpSide(this.region, this.side);
    return createMovingHandle(this.region, this.side, natives, life, texts, luggage, moved, ticket);
  }

  whenWatched(then: () => void): void {
    const watch = this.#agent?.watch;
    if (watch === undefined) then();
    // Until both know the link, this side does not know whose end to hear of, either.
    else this.lines.onceLinked(() => watch.whenWatched(this.lines.joining.link, then));
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
