// What console.log tells of a port: how it stands, and what of its counters is worth a look.
import type { CloseReason } from '../outcome.ts';
import type { Stats } from '../transport/transport.ts';

/** What is looked at for that, as the port shows it to everybody. */
interface Shown {
  readonly reason: CloseReason | undefined;
  readonly error: unknown;
  readonly interrupted: number;
  stats(): Stats;
  eventNames(): string[];
}

/**
 * @param attached whether anybody has the other end
 * @param pendingReceives of readers in line
 */
export function factsOf(port: Shown, attached: boolean, pendingReceives: number): object {
  const { sent, received, outboxBytes, dropped, undelivered, undecodable } = port.stats();
  const { reason } = port;
  const worthALook = {
    peer: reason === undefined ? (attached ? 'attached' : 'not attached yet') : undefined,
    error: port.error,
    sent,
    received,
    outboxBytes: outboxBytes || undefined,
    dropped: dropped || undefined,
    undelivered: undelivered || undefined,
    undecodable: undecodable || undefined,
    interrupted: port.interrupted || undefined,
    pendingReceives: (reason === undefined && pendingReceives) || undefined,
    listensTo: port.eventNames().join(', ') || undefined,
  };
  const facts = Object.entries(worthALook).filter(([, value]) => value !== undefined);
  return { state: reason === undefined ? 'open' : `ended: ${reason}`, ...Object.fromEntries(facts) };
}
