// Joins two ports, of whatever distance each: what comes to one is posted to the other.

import { CodecError, UsageError } from '../errors.ts';
import { CLOSED, EMPTY, type EndReason } from '../outcome.ts';
import { checkNames } from './options.ts';
import { Port } from './port.ts';
import { unread } from './unread.ts';

export interface BridgeOptions {
  /**
   * Told of a message that could not be taken over: one that did not decode, or that the other port does not carry (too long, shared memory over a network). Others go on.
   * Default: it is reported as an uncaught error, and as a warning where it came from another process.
   * @param to the port that it was for
   */
  readonly onError?: ((error: unknown, to: Port) => void) | undefined;
}
/** How two joined ports have ended. */
export interface BridgeEnd {
  /** The one that ended first; the other one was closed for it. */
  readonly port: Port;
  readonly reason: EndReason;
}

/**
 * Joins two ports: a browser's WebSocket to a worker, a name on a server to a thread. What comes to one goes to the other, in order, and a side whose other side is slow is
 * held up as by any reader. When one ends, what it had said goes over, and the other one ends for the same reason. Nobody else is to read them.
 * ```ts
 * import { attach, bridge, channel } from 'millrace';
 * const [here, there] = [channel(), channel()];
 * const [near, far] = [attach(here.remote), attach(there.remote)];
 * const ended = bridge(here.port, there.port);
 * near.postMessage('through both');
 * console.log(await far.receiveAsync());                     // through both
 * near.close();
 * console.log((await ended).reason);                         // closed
 * ```
 * @returns when both have ended
 * @throws UsageError ERR_OPTION for what is no port
 */
export async function bridge(a: Port, b: Port, options: BridgeOptions = {}): Promise<BridgeEnd> {
  checkNames(options, ['onError']);
  for (const port of [a, b])
    if (!(port instanceof Port))
      throw new UsageError('ERR_OPTION', `Cannot bridge ${String(port)}: it takes two ports`, { option: 'port' });
  if (a === b) throw new UsageError('ERR_OPTION', 'Cannot bridge a port to itself', { option: 'port' });
  const { onError } = options;
  const failed = (error: unknown, to: Port): void => {
    if (onError !== undefined) onError(error, to);
    else unread((to === a ? b : a).link, error);
  };
  let first: BridgeEnd | undefined;
  const over = async (from: Port, to: Port): Promise<void> => {
    await forward(from, to, failed);
    const said = await from.closed;
    const reason = said === 'detached' ? 'closed' : said;
    first ??= { port: from, reason };
    to.closeAs(reason);
  };
  await Promise.all([over(a, b), over(b, a)]);
  return first as unknown as BridgeEnd;
}

async function forward(from: Port, to: Port, failed: (error: unknown, to: Port) => void): Promise<void> {
  for (;;) {
    const value = await from.receiveAsync().catch((error: unknown) => {
      if (!(error instanceof CodecError)) return CLOSED;
      failed(error, to);
      return EMPTY;
    });
    // Also where this end was closed by hand.
    if (value === CLOSED) return;
    if (value !== EMPTY) post(value, to, failed);
    // Where the other one has ended, that is what ends this one.
    if (to.full) await to.drained().catch(() => {});
  }
}
function post(value: unknown, to: Port, failed: (error: unknown, to: Port) => void): void {
  try {
    to.postMessage(value);
  } catch (error) {
    failed(error, to);
  }
}
