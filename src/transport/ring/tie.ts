// What ties the two ends of a region together beside its memory, in parts: each is asked for by who needs it, and a medium
// supplies those that it has. Between threads they go over the lines of a channel (transport/thread/thread-tie.ts); a region
// that two processes have mapped is tied by a socket.
import type { Beside } from '../../lane/beside.ts';
import type { LeftOver } from '../../lane/left-over.ts';
import type { Lending } from '../../lane/lending.ts';
import type { SleepsBy } from '../../link/own-agent.ts';
import type { EndReason } from '../../outcome.ts';
import type { ThreadEnd } from '../../platform/contract.ts';
import type { ParkPlace } from '../../wait/park-place.ts';
import type { Parking } from '../../wait/parking.ts';
import type { ExitStatus, Link, SelectPlace, Way } from '../transport.ts';

/** The other agent: its life, and waking it. */
export interface Peer {
  /** Wakes its event loop, where it sleeps on its own for a message. */
  doorbell(): void;
  /** Wakes it where it sleeps above, on what all channels between the two agents share (wait/signal.ts). */
  above(): void;
  /** Whether it will do so for us: this side may sleep above. */
  readonly linked: boolean;
  /** It has gone over to another agent, and this one has not heard to which: nobody there rings who sleeps above. Not where that is heard in time. */
  readonly moved?: boolean | undefined;
  /** Where a blocked thread sleeps, where it can ask nobody whether this agent lives: so that others can ring it. */
  quietly?(place: ParkPlace): ParkPlace;
  /** As AgentLink's, of the link that this side sleeps above with. */
  readonly sleepsBy?: SleepsBy | undefined;
  /** Sleeps above with the event loop, after this side has announced that. What came before is told of later. */
  rest(): void;
  /** It has ended this channel, as far as we know now. */
  peerOver(): void;
  /**
   * Whether, and how, it is gone, without our event loop; `undefined` when that cannot be known here. If it is, `TieEvents.closed` has told by the
   * time this returns: who blocks here asks for nothing else.
   */
  peerGone(): EndReason | undefined;
  /** What it died of, as far as it could say so. */
  readonly peerError: unknown;
  /** Keeps the process alive for what it may send, or lets it go. */
  hold(held: boolean): void;
}

/** How this end is waited for together with others. */
export interface Together {
  readonly place: SelectPlace;
  /** Told of marks from now on; whether the event loop is to hear of one, too. */
  selected(tell: (blocked: boolean) => boolean): void;
  /** The event loop is to look, as soon as it has a turn. */
  later(): void;
}

/** What the two ends are channels of, where that is a connection of its own. */
export interface Behind {
  readonly link: Link;
  /** How the other process ended, once that is known. */
  readonly exit: ExitStatus | undefined;
  readonly way: Way | undefined;
  /**
   * Nothing more will be heard of the other process. Until then an end that is its process's, and not its channel's alone, waits for what is said of it: with what
   * status, what of.
   */
  readonly silent: boolean;
}

/** Says in the region that this side has ended, and wakes the other one. What was sent must be published by then. */
export interface EndTelling {
  /** @param spilled frames left beside the lane */
  tell(reason: EndReason, spilled: number): void;
}

/** What stays when nobody holds the port any more, and holds it while it has something to do. */
export interface Staying {
  /** From now on this end is over when `sign` is garbage, which this end alone holds, or with its agent, which `living` is told of. */
  watch(sign: object, living: { endThread(how: ThreadEnd): void }): void;
  /** Keeps `port` though nobody else may hold it; `undefined` lets it go. */
  keep(port: object | undefined): void;
  /** The end is over, and whoever knew why has told. */
  over(): void;
}

export interface Tie {
  readonly parking: Parking;
  /** NOTHING_BESIDE where nothing but bytes goes over to the other side. */
  readonly beside: Beside;
  /** None: no message lies beside its ring, and the newest of overflow `latest` is no longer than a slot. */
  readonly lending?: Lending | undefined;
  readonly leftOver: LeftOver;
  readonly peer: Peer;
  /** None: a blocked thread waits for this end alone. */
  readonly together?: Together | undefined;
  /** Not between threads. */
  readonly behind?: Behind | undefined;
  readonly teller: EndTelling;
  readonly remains: Staying;
  /**
   * Nothing is read at this end any more, nor sent.
   * @param attached whether anybody has the other end
   */
  close(attached: boolean): void;
}

export interface TieEvents {
  /** Something arrived; look. */
  arrived(): void;
  /** The other agent, or its end of the tie, is gone; `how` is undefined if only that is known. */
  closed(how: EndReason | undefined, error: unknown): void;
}
