// Connects to a listener: a promise of a port.
import { TimeoutError, UnsupportedError } from '../errors.ts';
import type { AbortSignalLike } from '../port/events.ts';
import { checkSignal } from '../port/link-choice.ts';
import { givingUp, greeting } from '../port/link-greeting.ts';
import type { LinkedPort } from '../port/port-link.ts';
import { StreamLink } from '../port/stream-link.ts';
import { settleable } from '../port/waiters.ts';
import { addressText, parseAddress } from '../transport/process/address.ts';
import { ownCarrier } from '../transport/process/carrier.ts';
import { dial } from '../transport/process/dial.ts';
import { openPipe, type PipeEnd, pipeAddress, pipeText } from '../transport/process/pipe.ts';
import { memoryMedium } from './memory-medium.ts';
import { type ConnectionChoice, resolveChoice } from './options.ts';

export interface ConnectOptions extends ConnectionChoice {
  /** Gives up; the promise rejects with its reason. */
  readonly signal?: AbortSignalLike | undefined;
}

/**
 * Connects to whoever listens at the address, in this process or another one on this machine.
 *
 * The port is there when the listener has greeted; `port.ready` tells when its program has taken the connection. What is posted before waits, bounded
 * as ever. `port.link` has more channels over the same connection. The port ends as `closed` when either side closes it, with the reason
 * that the other process has ended for where it could say that, and as `lost` where it went without a word.
 * ```ts
 * import { connect, listen } from 'millrace/process';
 * const server = await listen('tcp:127.0.0.1:0');   // in one process
 * const port = await connect(server.address);       // in another one
 * port.postMessage('hello');
 * for await (const client of server) {
 *   console.log(await client.receiveAsync());       // hello
 *   break;
 * }
 * await server.close();
 * ```
 *
 * At a pipe nobody listens: both sides connect, in any order, the process that was started with it by the number of its descriptor, and who has started
 * that with its socket.
 * ```
 * const child = spawn('node', ['child.js'], { stdio: ['inherit', 'inherit', 'inherit', 'pipe'] });
 * const port = await connect(child.stdio[3]);                 // in child.js: const port = await connect('pipe:3');
 * ```
 * @param address `unix:/run/app.sock`, a path with a slash in it, `tcp:host:port`, `pipe:3`; or a socket of `node:net` that is connected and nobody reads
 * @throws (rejects) UsageError ERR_OPTION, ERR_HANDLE for a pipe that has been connected to; AddressError ERR_UNREACHABLE where nobody listens; TimeoutError; RefusedError where the listener has
 *   enough; LayoutError where what listens speaks something else, or another version; ClosedError where it went before it greeted; the signal's reason
 */
export async function connect<In = unknown, Out = unknown>(
  address: string | PipeEnd,
  options: ConnectOptions = {},
): Promise<LinkedPort<In, Out>> {
  const to = pipeAddress(address) ?? parseAddress(address);
  const { channel, connection, memory, timeoutMs, blocking } = resolveChoice(to, options, ['signal']);
  if (blocking && to.kind === 'pipe') {
    throw new UnsupportedError(
      `Cannot connect to ${pipeText(to)} with blocking: no other thread can have a pipe that this one was given; use fork, or an address`,
    );
  }
  const signal = checkSignal(options.signal);
  const where = to.kind === 'pipe' ? pipeText(to) : addressText(to);
  let link: StreamLink | undefined;
  return await givingUp(
    timeoutMs,
    signal,
    () => late(where, timeoutMs, link),
    async (signal) => {
      const { stream, initiator } =
        to.kind === 'pipe'
          ? await openPipe(to, signal)
          : { stream: await (blocking ? ownCarrier().connect(to, signal) : dial(to, signal)), initiator: true };
      const greeted = settleable<void>();
      const medium = memoryMedium({ ...memory, initiator });
      link = new StreamLink(stream, where, { ...connection, initiator }, medium, greeted.resolve);
      const port = link.main(channel) as LinkedPort<In, Out>;
      stream.connect(link.connection);
      await greeting(link, port, greeted.promise, signal);
      return port;
    },
  );
}

function late(where: string, timeoutMs: number, link: StreamLink | undefined): TimeoutError {
  const what =
    link?.connection.peer === undefined
      ? `nobody has greeted in ${timeoutMs} ms; is it a listener of this library, and not too busy?`
      : `it has greeted, and not said in ${timeoutMs} ms whether it shares memory; memory: false does without`;
  const text = `Cannot connect to ${where}: ${what}`;
  return new TimeoutError(text, { address: where, timeoutMs });
}
