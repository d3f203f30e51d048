// Ends every open channel of this thread when the thread ends by itself, so that the peers learn at once and get
// what was still in the outbox. The list belongs to the thread and not to a channel, as the runtime's exit hook does: ten
// thousand ports must not register ten thousand of them, nor two copies of this library two.
import { platform } from '#platform';
import { ofAgent } from '../agent.ts';
import type { ThreadEnd } from '../platform/contract.ts';

interface Ending {
  endThread(how: ThreadEnd): void;
}

let open: Set<Ending> | undefined;

/** Whichever copy makes the list hooks it. */
function hookedList(): Set<Ending> {
  const list = new Set<Ending>();
  platform.onThreadEnd((how) => {
    for (const each of [...list]) {
      try {
        each.endThread(how);
      } catch {
        // The others must be told all the same. Nobody is left to hear of it, and an exit handler that throws would undo
        // the exit: on Node a worker's process.exit(0) goes on from there.
      }
    }
  });
  return list;
}

export function endWithThread(channel: Ending): void {
  open ??= ofAgent('ends/1', hookedList);
  open.add(channel);
}

export function forgetThreadEnd(channel: Ending): void {
  open?.delete(channel);
}
