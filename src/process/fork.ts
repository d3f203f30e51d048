// A child process with a port to it, and the child's end of that.
import { platform } from '#platform';
import { UsageError } from '../errors.ts';
import { CHILD_END_MS, SOCKET_CLOSE_MS } from '../limits.ts';
import type { EndReason } from '../outcome.ts';
import type { ChannelOptions } from '../port/options.ts';
import type { LinkedPort } from '../port/port-link.ts';
import { StreamLink } from '../port/stream-link.ts';
import type { LinkOptions } from '../port/stream-options.ts';
import type { CarriedStream } from '../transport/process/carried-stream.ts';
import { ownCarrier } from '../transport/process/carrier.ts';
import {
  type ChildEnd,
  type ChildOptions,
  type ChildProcess,
  endedNow,
  parentDescriptor,
  pathOf,
  startChild,
  startWith,
  whenEnded,
} from '../transport/process/child.ts';
import { ofDescriptor, type SocketStream, type WhyGone } from '../transport/process/socket-stream.ts';
import { memoryMedium } from './memory-medium.ts';
import { type BlockingChoice, type ResolvedChoice, resolveChoice } from './options.ts';

/** Those of a channel are for the port; others of the link have their own. */
export interface ParentPortOptions extends ChannelOptions, BlockingChoice {
  /** What the other side may have of this one, over all channels of the connection. */
  readonly link?: LinkOptions | undefined;
  /** Whether values may go through memory that both processes map, where both can; default true. */
  readonly memory?: boolean | undefined;
}

export interface ForkOptions extends ParentPortOptions {
  /** The program's arguments. */
  readonly args?: readonly string[] | undefined;
  /** How the process is started: as `child_process.spawn` takes it, and `execPath`, `execArgv`. */
  readonly child?: ChildOptions | undefined;
}

export interface Forked<In = unknown, Out = unknown> {
  readonly port: LinkedPort<In, Out>;
  /** As `child_process.spawn` gives it. */
  readonly child: ChildProcess;
}

/**
 * Starts a program in a process of its own, with the runtime that runs this one, and a port to it. There `parentPort()` of `millrace/process` is the
 * other end. What is posted before it is there waits. The port ends with the process: as `exit`, as `crash` with the error that it
 * died of, as `terminated` when it was killed; `port.link.exit` has code or signal.
 * ```
 * const { port, child } = fork(new URL('./child.js', import.meta.url));   // there: const port = parentPort();
 * ```
 * @param file a path, or a `file:` URL
 * With `blocking: true` this call waits until the thread has begun that has the pipe: 30 to 150 ms for the first such connection of this thread.
 * @throws UsageError ERR_OPTION; what `child_process.spawn` throws; with `blocking` TimeoutError, and what the system says to a pair of sockets. What it says later, as where there is no such program, ends the port as `lost`
 *   with that as `port.error`
 */
export function fork<In = unknown, Out = unknown>(file: string | URL, options: ForkOptions = {}): Forked<In, Out> {
  const { args = [], child: how = {} } = options;
  const choice = resolveChoice(PIPE, options, ['args', 'child']);
  const path = pathOf(file);
  const { child, stream } = choice.blocking ? carriedChild(path, args, how) : startChild(path, args, how);
  return { port: portTo(child, stream, choice) as LinkedPort<In, Out>, child };
}

/** Of a process that this one has started, whoever did. */
export function portTo(
  child: ChildProcess,
  stream: SocketStream | CarriedStream,
  { channel, connection, memory }: ResolvedChoice,
): LinkedPort {
  const link = new StreamLink(
    stream,
    `pipe:${child.pid}`,
    { ...connection, initiator: true },
    memoryMedium({ ...memory, initiator: true, silentEnd: 'terminated' }),
    () => {},
  );
  const port = link.main(channel);
  stream.connect(link.connection, Object.assign(endsWith(child, link, stream), { now: endsNowWith(child, link) }));
  return port;
}

/** With a pipe of which the carrier has the one end, and the child the other. */
function carriedChild(
  path: string,
  args: readonly string[],
  how: ChildOptions,
): { readonly child: ChildProcess; readonly stream: CarriedStream } {
  const { given, stream } = ownCarrier().pair((fd) => startWith(fd, path, args, how));
  return { child: given, stream };
}

/** For who blocks, whom no event reaches: as far as the system says by itself. */
function endsNowWith(child: ChildProcess, link: StreamLink): () => EndReason {
  return () => {
    const end = endedNow(child);
    if (end !== undefined) link.connection.exit ??= end.exit;
    return end?.reason ?? 'lost';
  };
}

/** Its pipe ends before anybody knows how it has ended, which is waited for a little. */
function endsWith(child: ChildProcess, link: StreamLink, stream: { destroy(): void }): WhyGone {
  let end: ChildEnd | undefined;
  let told: (() => void) | undefined;
  whenEnded(child, (it) => {
    end = it;
    link.connection.exit ??= it.exit;
    told?.();
    // What it has said is still in the pipe; and whom it has started may have that, too, and keep it open.
    platform.later(() => stream.destroy(), SOCKET_CLOSE_MS);
  });
  child.on('error', (error) => {
    // Of one that lives it tells that a signal or a message could not be sent.
    if (child.pid === undefined) link.connection.closed('lost', error);
  });
  return (tell) => {
    // Behind a turn: where this thread was busy, the event is there by then, and the timer comes before it.
    const timer = setTimeout(() => platform.turn(() => told?.()), CHILD_END_MS);
    told = () => {
      clearTimeout(timer);
      told = undefined;
      tell(end?.reason ?? 'lost');
    };
    if (end !== undefined) told();
  };
}

let parent: LinkedPort | undefined;

/**
 * In a process that `fork` or `clusterFork` has started: the port to whoever did, the same one each time; there at once, in the main thread.
 * @param options the first call's count
 * @throws UsageError ERR_HANDLE in any other process or thread; ERR_OPTION
 */
export function parentPort<In = unknown, Out = unknown>(options: ParentPortOptions = {}): LinkedPort<In, Out> {
  if (parent === undefined) {
    const { channel, connection, memory, blocking } = resolveChoice(PIPE, options, []);
    const fd = parentDescriptor();
    if (fd === undefined) {
      throw new UsageError(
        'ERR_HANDLE',
        'Cannot get a port to the parent: neither fork nor clusterFork of millrace/process has started this process, or this is another one of its threads',
      );
    }
    const stream = blocking ? ownCarrier().open(fd) : ofDescriptor(fd);
    const medium = memoryMedium({ ...memory, initiator: false });
    const link = new StreamLink(stream, 'pipe:parent', { ...connection, initiator: false }, medium, () => {});
    parent = link.main(channel);
    stream.connect(link.connection);
  }
  return parent as LinkedPort<In, Out>;
}

/** Of one user, as a unix socket. */
export const PIPE = { kind: 'pipe' } as const;
