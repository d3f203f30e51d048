// What `select` needs of a port that nobody else is to see.
import type { Transport } from '../transport/transport.ts';
import type { Ending } from './ending.ts';
import type { Receiving } from './receiving.ts';

/** A port as `select` sees it. */
export interface SelectedPort {
  readonly transport: Transport;
  readonly ending: Ending;
  readonly receiving: Receiving;
  /** When it was handed out last by `selectAsync`, counted in turns. */
  turn: number;
  /** Whether there is something that nobody else here is waiting for. */
  readonly ready: boolean;
  /** As Pump.tire. */
  tire(): boolean;
  /** Calls `tell` once there is something to receive, from the event loop; at once if this port has no more to do there. */
  whenReady(tell: () => void): void;
  /** `tell` is not to be called any more. */
  leave(tell: () => void): void;
}

/** The next receive is to throw, this end was closed, something waits here to be sent: a mark tells of none of them. */
export function selectChanged({ selecting }: Pick<Transport, 'selecting'>): void {
  if (typeof selecting === 'object') selecting.changed();
}
