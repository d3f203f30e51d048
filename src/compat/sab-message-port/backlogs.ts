// The senders of this thread whose queues have not all gone into their rings. They go on when the event loop runs; while
// the thread is blocked on one pipe, somebody has to move along what it wrote to the others.
import type { Sender } from './sender.ts';

const waiting = new Set<Sender>();

export function noteBacklog(sender: Sender): void {
  waiting.add(sender);
}
export function forgetBacklog(sender: Sender): void {
  waiting.delete(sender);
}

/** Moves along all but `own`, which has somebody to wake it; whether nothing of the others waits any more. */
export function moveBacklogs(own: Sender | null): boolean {
  let done = true;
  for (const sender of waiting) {
    if (sender === own) continue;
    try {
      if (!sender.pump()) done = false;
    } catch (error) {
      sender.dispose(() => error as Error);
    }
  }
  return done;
}
