// What a port needs from the medium under it. Two lanes over one medium, and its life: open, draining, closed.

import type { Mark } from '../lane/outbound.ts';
import type { CloseReason } from '../outcome.ts';
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
}

export type { Mark };

export interface TransportEvents {
  /** Something changed: look at both lanes. Called from the event loop. */
  woken(): void;
  /** A message that was accepted can't be sent any more; the others can. Called in the middle of some call. */
  failed(error: unknown): void;
}

export interface Transport {
  /** Why this end is over, from either side's doing; `undefined` while it is open. What the peer sent may be unread. */
  readonly ended: CloseReason | undefined;
  /** Whether it was this side that ended: its user, its thread, or because it found damage. */
  readonly endedHere: boolean;
  /** What the peer's thread died of, where that is known. */
  readonly error: unknown;
  /** Whether a thread has the other end yet. */
  readonly attached: boolean;
  /** Whether looking again for a while is worth it before the event loop sleeps. */
  readonly spin: Spin;
  /** Whether this thread may block. */
  readonly canBlock: boolean;
  /** Native ports inside the value that `tryReceive` returned last. */
  readonly ports: readonly unknown[];
  /** Whether the outbox is below its mark and a message that was refused would fit now. */
  readonly writable: boolean;
  /** Messages in the outbox. */
  readonly backlog: number;
  /** Whether `tryReceive` may find something, or the end. */
  readonly ready: boolean;
  /** Whether what comes next is on its way, and this thread cannot get it while it is blocked. */
  readonly awaitsEventLoop: boolean;
  /** Whether the peer took something over since the last look that found too little room. */
  readonly progressed: boolean;

  trySend(value: unknown, transfer?: readonly unknown[]): boolean;
  post(value: unknown, transfer?: readonly unknown[]): void;
  cork<R>(body: () => R): R;
  /** The next message, `EMPTY`, or `CLOSED` once the peer is gone and all it sent was read. */
  tryReceive(): unknown;
  /** A point in this end's stream of messages: everything sent so far. */
  mark(): Mark;
  /** Whether the peer has taken over everything up to `mark`. Moves the outbox along. */
  takenUpTo(mark: Mark): boolean;
  /** The same without moving anything, for somebody who cannot be thrown at: damage counts as something to look at. */
  passed(mark: Mark): boolean;
  /** Moves the outbox along; whether it is empty. */
  pump(): boolean;

  /** Blocks until a message may be there, the end, an interrupt if that is wanted, or the time limit (false). */
  waitReadable(timeoutMs: number, interruptible?: boolean): boolean;
  /** Blocks until `done`, setting aside what arrives meanwhile; false at the time limit or the end. */
  waitProgress(done: () => boolean, timeoutMs: number): boolean;
  /**
   * Sleeps with the event loop until the peer does something of interest; false if there is something already.
   * @param taken wakes when the peer has taken over everything up to this mark
   */
  park(data: boolean, space: boolean, taken?: Mark): boolean;
  unpark(): void;

  /** Keeps the process alive, or lets it go. */
  hold(held: boolean): void;
  /**
   * Keeps the port over this transport, though nobody else may hold it; `undefined` lets it go. A port that nobody holds
   * is garbage, and its peer is told (`dropped`).
   */
  keep(port: object | undefined): void;
  interrupt(word: number): void;
  readonly interrupted: number;
  /** Sets the word back to 0, or only if it is `word`; what it was. */
  clearInterrupt(word?: number): number;
  stats(): Stats;
  /** Ends this side. Everything accepted so far still reaches the peer. */
  close(reason: CloseReason): void;
}
