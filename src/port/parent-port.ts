// The worker's half of `spawn`.
import { platform } from '#platform';
import { UsageError } from '../errors.ts';
import { START_TIMEOUT_MS_DEFAULT } from '../limits.ts';
import { LateTransport } from '../transport/thread/late.ts';
import type { TransportEvents } from '../transport/transport.ts';
import { attachTransport } from './channel.ts';
import { Port } from './port.ts';
import { type SpawnData, startData, started } from './start-data.ts';

/** Opened when the library is loaded: some runtimes lose messages that come before anybody listens. */
const inbox = startData() === undefined ? platform.openStartInbox() : undefined;

let parent: Port | undefined;

/**
 * The port to the thread that started this one with `spawn`. The same object at every call, and there at once: what is posted
 * goes out when both ends are connected, which is when `port.ready` resolves. After `spawn(url)`, and on Node, that is so
 * from the start; elsewhere a thread whose Worker somebody else made awaits `ready` before its first blocking call.
 *
 * Call it, or at least load this library, before anything that is awaited: some runtimes lose a worker's messages that come
 * before anybody listens, and the one that starts the channel with them.
 * @throws UsageError ERR_HANDLE in a thread that `spawn` cannot have started. In another one that `spawn` did not start, `ready`
 *   and the first receive end with it after 30 seconds
 */
export function parentPort<In = unknown, Out = unknown>(): Port<In, Out> {
  parent ??= open();
  return parent as Port<In, Out>;
}

function open(): Port {
  if (startData() === undefined) {
    if (inbox === undefined) {
      throw new UsageError('ERR_HANDLE', 'Cannot open the parent port: this thread was not started with spawn()');
    }
    const taken = inbox.take() as SpawnData | undefined;
    if (taken === undefined) return late(inbox);
    started(taken);
  }
  return new Port((events) => attached(startData() as SpawnData, events));
}

function late(waited: NonNullable<typeof inbox>): Port {
  return new Port((events) => {
    const connect = (data: unknown) => {
      started(data as SpawnData);
      return attached(data as SpawnData, events);
    };
    return new LateTransport(waited, connect, START_TIMEOUT_MS_DEFAULT, events);
  });
}

/** A worker does not outlive its parent, so a blocked one need not look after it. */
function attached({ remote, options }: SpawnData, events: TransportEvents): ReturnType<typeof attachTransport> {
  return attachTransport(remote, options, Number.POSITIVE_INFINITY, events);
}
