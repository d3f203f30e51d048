// The worker's half of `spawn`.
import { platformStart } from '#platform';
import { ofAgent } from '../agent.ts';
import { UsageError } from '../errors.ts';
import { START_TIMEOUT_MS_DEFAULT } from '../limits.ts';
import { LateTransport } from '../transport/late.ts';
import { BEFORE_ANY_CHANNEL } from '../transport/thread/native-beside.ts';
import type { TransportEvents } from '../transport/transport.ts';
import { attachTransport } from './channels.ts';
import { comingStart } from './coming-start.ts';
import { type PortOptions, resolvePortOptions } from './options.ts';
import { Port } from './port.ts';
import { ownStart, type SpawnData, startData, started } from './start-data.ts';

/** Opened when the library is loaded: some runtimes lose messages that come before anybody listens. */
const { inbox } = ofAgent('inbox/1', () => ({
  inbox: platformStart.data === undefined ? platformStart.openInbox() : undefined,
}));

/**
 * The port to the thread that started this one with `spawn`. The same object at every call, and there at once: what is posted
 * goes out when both ends are connected, which is when `port.ready` resolves. After `spawn(url)`, and on Node, that is so
 * from the start; elsewhere a thread whose Worker somebody else made awaits `ready` before its first blocking call.
 *
 * Call it, or at least load this library, before anything that is awaited: some runtimes lose a worker's messages that come
 * before anybody listens, and the one that starts the channel with them.
 *
 * With `parentPort({ overflow: 'latest' })` every job comes down, and of the progress that goes up only the newest.
 * @param options of this end, in place of those that `spawn` was given for both; the first call chooses them
 * @throws UsageError ERR_HANDLE in a thread that `spawn` cannot have started (in another one that `spawn` did not start, `ready`
 *   and the first receive end with it after 30 seconds); ERR_OPTION, also for what the first call did not choose
 */
export function parentPort<In = unknown, Out = unknown>(options?: PortOptions): Port<In, Out> {
  if (options !== undefined) checkOptions(options);
  const start = ownStart();
  if (start.parent === undefined) {
    start.parent = open(options ?? {});
    start.chosen = { ...options };
  }
  return start.parent as Port<In, Out>;
}

/** @throws UsageError ERR_OPTION for what can be no option, or comes too late */
function checkOptions(options: PortOptions): void {
  const wanted = resolvePortOptions(options);
  const { parent, chosen } = ownStart();
  if (parent === undefined) return;
  const first = resolvePortOptions(chosen);
  for (const name of Object.keys(definedOf(options)) as (keyof PortOptions)[]) {
    if (chosen[name] !== undefined && wanted[name] === first[name]) continue;
    throw new UsageError('ERR_OPTION', `Option ${name} comes too late: the first call of parentPort() chooses it`, {
      option: name,
    });
  }
}

/** Without what is there and undefined, which would hide what `spawn` was given. */
function definedOf(options: PortOptions): PortOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function open(own: PortOptions): Port {
  if (startData() === undefined) {
    if (inbox === undefined) {
      throw new UsageError('ERR_HANDLE', 'Cannot open the parent port: this thread was not started with spawn()');
    }
    const taken = inbox.take() as SpawnData | undefined;
    if (taken === undefined) return late(inbox, own);
    started(taken);
  }
  return new Port((events) => attached(startData() as SpawnData, own, events));
}

function late(waited: NonNullable<typeof inbox>, own: PortOptions): Port {
  return new Port((events) => {
    const open = (data: unknown) => {
      started(data as SpawnData);
      return attached(data as SpawnData, own, events);
    };
    return new LateTransport(comingStart(waited, open, START_TIMEOUT_MS_DEFAULT), BEFORE_ANY_CHANNEL, events);
  });
}

/** A worker does not outlive its parent, so a blocked one need not look after it. */
function attached(
  { remote, options }: SpawnData,
  own: PortOptions,
  events: TransportEvents,
): ReturnType<typeof attachTransport> {
  return attachTransport(remote, { ...options, ...definedOf(own) }, Number.POSITIVE_INFINITY, events);
}
