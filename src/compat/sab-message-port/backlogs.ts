// The ends of this thread whose queues have not all gone into their rings. They go on when the event loop runs; while the
// thread is blocked on one pipe, somebody has to move along what it wrote to the others.
import { ofAgent } from '../../agent.ts';

export interface Waiting {
  /** Moves its queue along, or gives it up if nobody reads any more; whether anything still waits. */
  moveOn(): boolean;
}

let own: Set<Waiting> | undefined;
const waitingHere = (): Set<Waiting> => (own ??= ofAgent('backlogs/1', () => new Set()));

export function noteBacklog(backlog: Waiting): void {
  waitingHere().add(backlog);
}
export function forgetBacklog(backlog: Waiting): void {
  waitingHere().delete(backlog);
}

/** Moves along all but `own`, which has somebody to wake it; whether any of the others still waits. */
export function moveBacklogs(own: Waiting): boolean {
  let more = false;
  for (const backlog of waitingHere()) if (backlog !== own && backlog.moveOn()) more = true;
  return more;
}
