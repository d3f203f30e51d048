// What this runtime and thread can do, so that nobody has to find out by an exception.
import { platform } from '#platform';
import { NO_SHARED_MEMORY } from '../memory/region.ts';

export interface Features {
  readonly runtime: 'node' | 'bun' | 'deno' | 'browser';
  /** Whether `receive` and `send` may block this thread. */
  readonly blocking: boolean;
  /** How event loops sleep here: by Atomics.waitAsync, for a message on a native port, or for whichever comes first. */
  readonly eventLoopWait: 'wait-async' | 'doorbell' | 'both';
  /** Whether what only the native clone carries can be received by a blocked thread. */
  readonly blockingTransfer: boolean;
  /** Characters from which on a string sent for the first time goes over the native port; Infinity: none does. */
  readonly nativeTextMin: number;
  /** Whether channels go through shared memory here. */
  readonly memory: boolean;
  /** What is missing where they do not, and what brings it: channels go over native MessagePorts then, and threads block only by a service worker (millrace/browser/service-worker). */
  readonly memoryMissing: string | undefined;
  /** Whether a blocked thread finds out by itself that any peer was killed; if not, only of workers from `spawn(url)`. */
  readonly probesPeers: boolean;
  /**
   * Whether an event loop hears of a thread that ends without a word (terminated by somebody else, its page crashed): in browsers by Web Locks, which an opaque
   * origin and an insecure context do not have.
   */
  readonly hearsEnds: boolean;
}

/** What this runtime and thread can do. By what processes can talk here, `features()` of `millrace/process` says as well. */
export function features(): Features {
  return {
    runtime: platform.name,
    blocking: platform.canBlock,
    eventLoopWait: platform.asyncPark,
    blockingTransfer: platform.canTake,
    nativeTextMin: platform.nativeTextMin,
    memory: typeof SharedArrayBuffer !== 'undefined',
    memoryMissing: typeof SharedArrayBuffer === 'undefined' ? NO_SHARED_MEMORY : undefined,
    probesPeers: platform.canProbe(),
    hearsEnds: platform.agentLocks?.available ?? true,
  };
}
