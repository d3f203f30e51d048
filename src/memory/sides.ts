// Who has a side of a channel: ATTACHED says so, and changes hands by one compare-exchange, so that no two ever have it (V1).
import { ATTACHED, MOVES, SIDE_0, SIDE_1 } from './layout.ts';
import type { Region } from './region.ts';

/** In ATTACHED of a side that no thread has had. */
export const NOT_TAKEN = 0;
const TICKET_FIRST = 16;
const TICKET_MASK = 0xffffff;

/** Word index of its block. */
export function blockOf(end: 0 | 1): number {
  return end === 0 ? SIDE_0 : SIDE_1;
}

/** The thread that makes a channel takes a side of it itself. */
export function takeSide({ views }: Region, end: 0 | 1): void {
  Atomics.store(views.words, blockOf(end) + ATTACHED, 1);
}

/** An end that was taken goes over to another thread, which is to take it: by a ticket that this end has never had. */
export function giveUpSide({ views }: Region, end: 0 | 1): number {
  const ticket = TICKET_FIRST + (Atomics.load(views.words, blockOf(end) + MOVES) & TICKET_MASK);
  // SYNC attach-once: all that this thread did at the side is done; pairs with claimSide.
  Atomics.compareExchange(views.words, blockOf(end) + ATTACHED, 1, ticket);
  return ticket;
}

/**
 * Takes a side for this thread, or, with 2, so that nobody will ever have it; false if it is taken.
 * @param ticket of the handle, if the end was open before
 */
export function claimSide(words: Int32Array, end: 0 | 1, by: 1 | 2 = 1, ticket: number = NOT_TAKEN): boolean {
  // SYNC attach-once: whoever changes 0, or the ticket, owns the side (V1); pairs with the same exchange in any other thread.
  return Atomics.compareExchange(words, blockOf(end) + ATTACHED, ticket, by) === ticket;
}

/** What ATTACHED says of a side: 0 that nobody has it, or not yet again, 1 that a thread does, 2 that none ever will. */
export function takenBy(attached: number): 0 | 1 | 2 {
  return attached === 1 || attached === 2 ? attached : 0;
}
/** Whether a thread has it, or has had it before it went on its way. */
export function wasTaken(attached: number): boolean {
  return attached === 1 || attached >= TICKET_FIRST;
}
