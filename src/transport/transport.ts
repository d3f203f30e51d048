// What a port needs of the medium under it. Two lanes over one medium, and its life: open, draining, closed.

import type { TimeoutError } from '../errors.ts';
import type { Failure } from '../lane/inbox.ts';
import type { Inbound, Mark, Outbound } from '../lane/lane.ts';
import type { Selectable, Watch } from '../link/selector.ts';
import type { MovingHandle } from '../memory/handle.ts';
import type { CloseReason, EndReason } from '../outcome.ts';
import type { Spin } from '../wait/spin.ts';

/** Counters of one end. Those of the peer's half are read from shared memory and may be a little late. */
export interface Stats {
  /** Messages that left this end for the peer, and arrived from it here. */
  readonly sent: number;
  readonly received: number;
  /** Bytes ever written to, and read from, the rings, headers and pads included (modulo 2^32). */
  readonly sentBytes: number;
  readonly receivedBytes: number;
  /** Messages dropped by this end's overflow policy: those that `latest` replaced before they were taken are not in `sent`. */
  readonly dropped: number;
  /**
   * Messages that were sent or posted and that the peer has not taken over, as `flush` understands it; those that were
   * posted after the end included, those that the overflow policy dropped not. While the channel is open it counts only
   * those that could not be sent after all, because what was to move with them has closed meanwhile. After the peer's end it
   * grows by late posts only; after this end's own `close` the peer may go on reading, and it falls as it does.
   */
  readonly undelivered: number;
  /** Messages that could not be decoded here. */
  readonly undecodable: number;
  /** Times a message found no room in the ring. */
  readonly stalls: number;
  /** Bytes in this end's outbox now, and at the most so far. */
  readonly outboxBytes: number;
  readonly outboxBytesPeak: number;
  /** Times this end went to sleep. */
  readonly parks: number;
  /** Times this end woke the other one. */
  readonly wakes: number;
  /** Bytes a direction. */
  readonly capacityBytes: number;
  /** By what it goes, where there was a choice: not between threads. */
  readonly way?: Way | undefined;
}

export interface TransportEvents {
  /** Something changed: look at both lanes. Called from the event loop. */
  woken(): void;
  /** A message that was accepted can't be sent any more; the others can. Called in the middle of some call. */
  failed(error: unknown): void;
}

/** How the peer's process ended, once that is known. */
export interface ExitStatus {
  readonly code: number | undefined;
  readonly signal: string | undefined;
}

/** By what a channel goes, where there was a choice. */
export interface Way {
  readonly name: string;
  /** Why it is no better one. */
  readonly why?: string | undefined;
  /** Why no thread can wait for it without its event loop, and what to do, where it is not as everywhere. */
  readonly blocking?: string | undefined;
}

/** A side of a connection begins nothing new, and ends when the channels that there are have ended. */
export interface Leaving {
  /** Milliseconds in which it ends at the latest, counted from when it said so; `undefined` where it has not said. */
  readonly timeoutMs: number | undefined;
  /** Why, for people. */
  readonly text: string;
}

export interface CloseOptions {
  readonly drain?: boolean;
  readonly reason?: EndReason;
  /** Why, for people over there. */
  readonly text?: string;
}

/** What stands behind the channels of one connection to one peer: they end with it. */
export interface Link {
  /** Why it is over; `undefined` while it is open. */
  readonly ended: CloseReason | undefined;
  /** What it ended of, where that is known. */
  readonly error: unknown;
  /** What this side has said as it began to leave, and the other one. */
  readonly leaving?: Leaving | undefined;
  readonly peerLeaving?: Leaving | undefined;
  /**
   * Begins to leave: from here on neither side opens a channel or accepts one, and what was not answered is refused. The channels that there
   * are go on, in both directions; the connection ends as `closed` with the last of them, or after the time limit. Keeps the process alive until
   * then. Said again it has another limit. Not where the peer cannot be told.
   * @throws UsageError ERR_OPTION
   */
  leave?(options?: { timeoutMs?: number | undefined; text?: string }): void;
  /** Ends it, and with it all its channels; with `drain` when the peer has taken what they had accepted. */
  close(options?: CloseOptions): void;
}

/** What is asked of a transport now and then. */
export interface Snapshot {
  /** Whether a thread has the other end yet. */
  readonly attached: boolean;
  /** Whether it was this side that ended: its user, its thread, or because it found damage. */
  readonly endedHere: boolean;
  /** What the peer's thread died of, or what else the channel ended of, where that is known. */
  readonly error: unknown;
  /** Not between threads. */
  readonly exit?: ExitStatus | undefined;
  /** Not where there is only one. */
  readonly way?: Way | undefined;
  /** Reads the counters, those of the peer's half as they happen to be. */
  stats(): Stats;
}

/** How an event loop rests between messages. At most one sleep at a time. */
export interface LoopWait {
  /** Whether looking again for a while is worth it before the event loop sleeps. */
  readonly spin: Spin;
  /**
   * Whether there is something to do now: something to receive if `data`, room gained since the last look that found too
   * little if `space`, everything before `taken` taken over. Damage counts; it is not thrown.
   */
  stirs(data: boolean, space: boolean, taken: Mark | undefined): boolean;
  /** Sleeps until the peer does something of that kind, of which `woken` tells; false if there is something already. */
  park(data: boolean, space: boolean, taken: Mark | undefined): boolean;
  unpark(): void;
}

/** Waiting with the thread. What moves in the outbox meanwhile moves by itself. */
export interface Blocking {
  /** Whether what comes next is on its way, and this thread cannot get it while it is blocked. */
  readonly awaitsEventLoop: boolean;
  /** Blocks until a message may be there, the end, an interrupt if that is wanted, or the time limit (false). */
  readable(timeoutMs: number, interruptible: boolean): boolean;
  /** Blocks until `done`, setting aside what arrives meanwhile; false at the time limit or the end. */
  progress(done: () => boolean, timeoutMs: number): boolean;
}

/** Waits for many ends at once with the thread. Ends that have the same place can be waited for together. */
export interface SelectPlace {
  watch(end: Selectable): Watch;
  /** As Selector.select. */
  select(ends: readonly Watch[], timeoutMs: number, again: boolean): Watch | undefined;
  /** What the caller keeps until the next call, at most until this thread's event loop has a turn. */
  kept: object | undefined;
}

/** How an end is waited for together with others. */
export interface Selecting {
  readonly place: SelectPlace;
  readonly watch: Watch;
  /** Milliseconds that a blocked call waits for the other end to be opened; Infinity once it is, or where that may take any time. */
  readonly startMs: number;
  /** What such a call throws then. */
  notOpened(): TimeoutError;
  /** Something has changed here that the other side does not tell of. */
  changed(): void;
  /** How many calls of `cork` are open: what is sent meanwhile goes out before this thread sleeps. */
  corks: number;
}

/** A word for the peer that passes by the queue. */
export interface Interrupts {
  /** The word that the peer has set, 0 if none. */
  readonly word: number;
  /** Sets the peer's word, and wakes a peer that wants to be interrupted. */
  raise(word: number): void;
  /** Sets the word back to 0, or only if it is `word`; what it was. */
  clear(word?: number): number;
}

/** How an end goes over to another thread, in a message. */
export interface Travels {
  /** What is its channel's alone: no end travels over itself. */
  readonly memory: unknown;
  /** Why it cannot go now, if it cannot. */
  readonly staysFor: string | undefined;
  /**
   * Makes it what stands in the message in its stead. From here on this transport does nothing, and has ended as `detached`.
   * @param owed what the next receive was to throw, over there now
   */
  leave(owed?: Failure): MovingHandle;
}

/**
 * What a port needs of the medium under it: a direction each way, one life, and ways to wait. What a medium cannot do it
 * leaves out, and the port says what to use instead.
 */
export interface Transport {
  /** Nothing was sent or asked for yet, and nothing waits: `out`, `in`, and what waits for them, are made when they are asked for. */
  readonly dormant?: boolean;
  readonly out: Outbound;
  readonly in: Inbound;
  /** Why this end is over, from either side's doing; `undefined` while it is open. What the peer sent may be unread. */
  readonly ended: CloseReason | undefined;
  /** The peer has ended, and what it had accepted still comes as ever: who waits for it sleeps for it. */
  readonly follows?: boolean;
  readonly loop: LoopWait;
  /** Not where this thread may not block, or nothing would come to it then. */
  readonly blocking?: Blocking | undefined;
  /** Not where nothing tells a blocked thread which of several ends has something; `'later'` before the channel is there. */
  readonly selecting?: Selecting | 'later' | undefined;
  readonly interrupts?: Interrupts | undefined;
  /** Where further channels to the same peer come from. Not between threads: a channel is made before anybody knows its peer. */
  readonly link?: Link | undefined;
  /** Not where the end belongs to this thread, or process, for good. */
  readonly travels?: Travels | undefined;
  /** Keeps the process alive, or lets it go. */
  hold(held: boolean): void;
  /**
   * Keeps the port over this transport, though nobody else may hold it; `undefined` lets it go. A port that nobody holds
   * is garbage, and its peer is told (`dropped`).
   */
  keep(port: object | undefined): void;
  inspect(): Snapshot;
  /** Calls `then` once the other side would hear of this agent's end, even if this one blocks from then on; none where it always would. */
  whenWatched?(then: () => void): void;
  /** Ends this side. Everything accepted so far still reaches the peer. */
  close(reason: EndReason): void;
}
