// Ends every open channel of this thread when the thread ends by itself, so that the peers learn at once and get
// what was still in the outbox. The one list in the library that belongs to the thread and not to a channel: the
// runtime's exit hook is one per thread too, and ten thousand ports must not register ten thousand of them.
import { platform } from '#platform';
import type { ThreadEnd } from '../../platform/contract.ts';

interface Ending {
  endThread(how: ThreadEnd): void;
}

const open = new Set<Ending>();
let hooked = false;

export function endWithThread(channel: Ending): void {
  open.add(channel);
  if (hooked) return;
  hooked = true;
  platform.onThreadEnd((how) => {
    for (const each of [...open]) {
      try {
        each.endThread(how);
      } catch {
        // The others must be told all the same. Nobody is left to hear of it, and an exit handler that throws would undo
        // the exit: on Node a worker's process.exit(0) goes on from there.
      }
    }
  });
}

export function forgetThreadEnd(channel: Ending): void {
  open.delete(channel);
}
