// Ends every open channel of this thread when the thread ends by itself, so that the peers learn at once and get
// what was still in the outbox. The list belongs to the thread and not to a channel, as the runtime's exit hook does: ten
// thousand ports must not register ten thousand of them, nor two copies of this library two.
import { platform } from '#platform';
import { ofAgent } from '../agent.ts';
import { EXIT_WAIT_MS } from '../limits.ts';
import type { ThreadEnd } from '../platform/contract.ts';

/** What is known of the end of a thread beside how it comes. */
export interface LastWords {
  /** Its exit status, where the runtime tells it. */
  readonly code?: number | undefined;
  /** What was thrown, and nobody has caught. */
  readonly thrown?: { readonly error: unknown } | undefined;
  /** `performance.now()` up to which whoever has to may wait with the thread: all of them together. */
  readonly untilMs: number;
}

interface Ending {
  /** @param words not from a copy of the library that does not know them */
  endThread(how: ThreadEnd, words?: LastWords): void;
}

let open: Set<Ending> | undefined;

/** Whichever copy makes the list hooks it. */
function hookedList(): Set<Ending> {
  const list = new Set<Ending>();
  let thrown: LastWords['thrown'];
  platform.onCrash((error) => {
    thrown = { error };
  });
  platform.onThreadEnd((how, code) => {
    const words = { code, thrown: how === 'crash' ? thrown : undefined, untilMs: performance.now() + EXIT_WAIT_MS };
    for (const each of [...list]) {
      try {
        each.endThread(how, words);
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
