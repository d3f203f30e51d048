// The two halves of a lane as a port uses them, whatever is under them.

import type { OverflowPolicy } from './outbox.ts';

/** A point in one end's stream of messages. The position is known once all before it stands in the lane. */
export interface Mark {
  /** Messages accepted before it. */
  readonly accepted: number;
  /** Bytes before it, which do not wrap. */
  position: number | undefined;
}

/** One direction, out. What it throws of class LayoutError has ended the channel. */
export interface Outbound {
  /** Messages that wait here. */
  readonly backlog: number;
  /** Whether a sender need not wait: the outbox is below its mark, and what was refused last would fit now. */
  readonly writable: boolean;
  /** What becomes of messages that find no room; `undefined` while that is not known. */
  readonly overflow: OverflowPolicy | undefined;
  /** The other side has ended, and only says the rest: what is sent goes nowhere, and is never taken. Not where that cannot be. */
  readonly unheard?: boolean;
  /**
   * Sends now or not at all; false when full. Never blocks.
   * @throws DataCloneError, UsageError ERR_TOO_LARGE, ERR_TRANSFER, ERR_BUSY, LayoutError, ClosedError if a getter of the
   *   value closed this end; nothing was sent
   */
  trySend(value: unknown, transfer?: readonly unknown[]): boolean;
  /**
   * Sends, through the outbox if need be; whether something waits in it now. Never blocks. A value whose getter closes
   * this end counts as one that came after the end.
   * @throws as trySend, and UsageError ERR_OUTBOX_FULL; nothing was sent
   */
  post(value: unknown, transfer?: readonly unknown[]): boolean;
  /** Moves what waits along as far as it fits; whether nothing waits now. @throws LayoutError */
  pump(): boolean;
  /** Publishes what `body` sends together. */
  cork<R>(body: () => R): R;
  /** Everything sent so far. */
  mark(): Mark;
  /** Whether the peer has taken over everything up to `mark`. Moves the outbox along for that. @throws LayoutError */
  taken(mark: Mark): boolean;
}

/** One direction, in. */
export interface Inbound {
  /** Whether `tryReceive` may find something: a message, the end, or damage. */
  readonly ready: boolean;
  /**
   * Whether `tryReceive` will find something: a message, all of it, the end, or damage. Whoever is told so and waits does not
   * wait for a peer. Parts of a message are taken in on the way, for which their sender waits.
   */
  readonly whole: boolean;
  /** Native ports inside the value that `tryReceive` returned last. */
  readonly ports: readonly unknown[];
  /**
   * The next message, EMPTY, or CLOSED once the peer is gone and all it sent was read. Never blocks.
   * @throws CodecError for a message that cannot be decoded, the next call goes on behind it; LayoutError
   */
  tryReceive(): unknown;
}
