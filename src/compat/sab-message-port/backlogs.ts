// The ends of this thread whose queues have not all gone into their rings. They go on when the event loop runs; while the
// thread is blocked on one pipe, somebody has to move along what it wrote to the others.

export interface Backlog {
  /** Moves its queue along, or gives it up if nobody reads any more; whether anything still waits. */
  moveOn(): boolean;
}

const waiting = new Set<Backlog>();

export function noteBacklog(backlog: Backlog): void {
  waiting.add(backlog);
}
export function forgetBacklog(backlog: Backlog): void {
  waiting.delete(backlog);
}

/** Moves along all but `own`, which has somebody to wake it; whether any of the others still waits. */
export function moveBacklogs(own: Backlog): boolean {
  let more = false;
  for (const backlog of waiting) if (backlog !== own && backlog.moveOn()) more = true;
  return more;
}
