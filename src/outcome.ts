// The answers that are no values, and why a channel ends. Symbols of the registry: two copies of this library in one program
// (two doors, two versions) give the same answers. No symbol can be cloned, so no value that arrives is ever equal to one.

/** Nothing there. No value that arrives is ever equal to it. */
export const EMPTY: unique symbol = Symbol.for('millrace.EMPTY');

/** Closed by the peer, and everything it had sent has been read. No value that arrives is ever equal to it. */
export const CLOSED: unique symbol = Symbol.for('millrace.CLOSED');

/** How an end of a channel came to an end, as the other end is told; docs/guarantees.md says when it is which. */
export type EndReason = 'closed' | 'exit' | 'crash' | 'terminated' | 'lost' | 'dropped';

/** Why a port is over: its channel has ended, or goes on in another thread, to which this end was transferred (`detached`). */
export type CloseReason = EndReason | 'detached';
