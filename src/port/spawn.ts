// Starts a worker with a channel to it.
import { platformStart } from '#platform';
import { UsageError } from '../errors.ts';
import { DEATH_TEXT_MAX, LIVENESS_SLICE_MS, LIVENESS_SLICE_SPAWNED_MS, START_TIMEOUT_MS_DEFAULT } from '../limits.ts';
import { ATTACHED, CLOSE_CODES, CLOSED, PARK, SIDE_0, SIDE_1 } from '../memory/layout.ts';
import { createLifePage, ERROR_LENGTH, ERROR_TEXT_BYTE, endedOn, tellEnded } from '../memory/life-page.ts';
import { allocateMemory } from '../memory/region.ts';
import { claimSide } from '../memory/sides.ts';
import type { EndReason } from '../outcome.ts';
import type { EndWords } from '../platform/bootstrap.ts';
import type { Start, ThreadEnded } from '../platform/contract.ts';
import type { Href } from '../platform/host-types.ts';
import { agentLinks } from '../transport/thread/agent-links.ts';
import { makeChannel, type Watch } from './channel.ts';
import { makeNativeChannel } from './native-channel.ts';
import {
  CHANNEL_OPTIONS,
  type ChannelOptions,
  checkNames,
  type PortOptions,
  portOptionsOf,
  type Resolved,
  resolveOptions,
} from './options.ts';
import type { Port } from './port.ts';
import type { SpawnedWorker } from './spawned-worker.ts';
import type { SpawnData } from './start-data.ts';

/** What people look for beside the channel's options. */
const OPTIONS_OF_WORKERS: readonly string[] =
  'workerData name type credentials env eval argv execArgv stdin stdout stderr resourceLimits trackUnmanagedFds transferList'.split(
    ' ',
  );

/** For a Worker that the caller makes, with its own options. */
export interface AdoptOptions extends ChannelOptions {
  /**
   * Milliseconds that a blocked call waits for the worker to open its end before it throws a TimeoutError; default 30,000.
   * Infinity: for ever. The promises of an event loop wait for as long as the worker lives.
   */
  readonly startTimeoutMs?: number | undefined;
}

/** Options of the channel, and of the runtime's own Worker (`workerData`, `execArgv`, `name`, ...) under `worker`. */
export interface SpawnOptions extends AdoptOptions {
  readonly worker?: object | undefined;
}

/**
 * Starts a worker thread with a channel to it; over there, `parentPort()` is the other end.
 *
 * A function makes the Worker itself, in the form that bundlers recognise, and posts nothing to it:
 * `spawn(() => new Worker(new URL('./worker.js', import.meta.url), { type: 'module' }))`. It may be one of
 * `node:worker_threads` or the web's. With a URL a blocked thread, too, learns why a worker failed to start.
 * TypeScript infers the type of such a Worker, but not beside the types of messages: `spawn<In, Out, Worker>(() => ...)`.
 * @param start the URL, absolute, of the module to run; or what makes the Worker
 * @throws UsageError ERR_OPTION; what the runtime's Worker throws
 */
export function spawn<In = unknown, Out = unknown, W = { terminate(): unknown }>(
  start: () => W,
  options?: AdoptOptions,
): { readonly port: Port<In, Out>; readonly worker: W };
export function spawn<In = unknown, Out = unknown>(
  start: Href | string,
  options?: SpawnOptions,
): { readonly port: Port<In, Out>; readonly worker: SpawnedWorker };
export function spawn(
  start: Href | string | (() => unknown),
  options: SpawnOptions = {},
): { readonly port: Port; readonly worker: unknown } {
  const { resolved, portOptions, workerOptions, startTimeoutMs } = optionsOf(options);
  if (typeof start === 'function' && workerOptions !== undefined) {
    throw new UsageError('ERR_OPTION', 'Unknown option worker: give it to the Worker that your function makes');
  }
  const module = typeof start === 'function' ? undefined : moduleUrl(start);
  // Made before the channel: a function that throws leaves nothing behind.
  const made = typeof start === 'function' ? start() : undefined;
  const tellsEnd = module !== undefined || platformStart.tellsEnd(made);
  if (tellsEnd === undefined) {
    const hasPort = typeof made === 'object' && made !== null && 'port' in made;
    const hint = hasPort ? '; of what `fork` or `spawn` returns, wrap the `port` that it has' : '';
    throw new UsageError('ERR_OPTION', `Cannot spawn: the function must return a Worker, not ${String(made)}${hint}`);
  }

  const watch: Watch = {
    // While we are blocked nobody can terminate it, and what it does itself its bootstrap tells; terminated before that, or
    // out of memory, it goes in silence. Without a bootstrap it may also fail in silence.
    livenessSliceMs: module === undefined ? LIVENESS_SLICE_MS : LIVENESS_SLICE_SPAWNED_MS,
    peerEndTold: tellsEnd,
    startTimeoutMs,
  };
  const { port, data, transfer, endWords, ended, terminated, forsake } = resolved.memory
    ? throughMemory(resolved, portOptions, watch)
    : overNativePort(resolved, portOptions, tellsEnd);
  try {
    if (module === undefined) platformStart.adopt(made, data, transfer, ended, forsake);
    const worker =
      module === undefined
        ? made
        : platformStart.spawn(module, { data, transfer, end: endWords() }, workerOptions ?? {}, ended);
    tellTerminate(worker, terminated);
    return { port, worker };
  } catch (error) {
    port.close();
    throw error;
  }
}

/** A channel to a thread that is about to be started. */
interface ToSpawned extends Pick<Start, 'transfer'> {
  readonly port: Port;
  readonly data: SpawnData;
  /** Where its bootstrap says how it has ended. */
  endWords(): EndWords;
  readonly ended: ThreadEnded;
  /** It was told to end, which somebody may be blocked for who hears no event of it. */
  terminated(): void;
  /** Whether it has not opened its end; it cannot any more then. */
  forsake(): boolean;
}

function throughMemory(resolved: Resolved, options: PortOptions, watch: Watch): ToSpawned {
  const life = createLifePage();
  const { port, transport, region, remote } = makeChannel(resolved, life, watch);
  // The Worker outlives a port that nobody holds; the other channels with it are to hear of its end all the same. And the lines
  // that lead to it: an end of this channel may have gone over to another thread since.
  const { joining } = transport.lines;
  const tellEnd = (how: EndReason): void => {
    tellEnded(life, how);
    agentLinks().watch?.tellBlocked();
  };
  return {
    port,
    data: { remote, life, options },
    transfer: remote.transfer,
    endWords: () => endWordsOf(region.memory, life),
    ended(how, error) {
      tellEnd(how ?? 'terminated');
      // Terminated while it starts, it ends on Node, and on Bun at times, with the exit code of one that has nothing more to do.
      joining.tellGone(how === 'exit' ? endedOn(life) : how, error);
    },
    terminated: () => tellEnd('terminated'),
    forsake: () => claimSide(region.views.words, 1, 2),
  };
}
function overNativePort(resolved: Resolved, options: PortOptions, tellsEnd: boolean): ToSpawned {
  const { port, remote, stream } = makeNativeChannel(resolved);
  stream.endTold = tellsEnd;
  return {
    port,
    data: { remote, life: null, options },
    transfer: remote.transfer,
    // Nobody looks at them: nobody can be blocked here.
    endWords: () => endWordsOf(allocateMemory(1, 1, 1), createLifePage()),
    ended: (how, error) => stream.gone(how ?? 'terminated', error),
    terminated() {},
    forsake: () => !stream.heard,
  };
}

/**
 * @param more names of options that whoever calls takes beside those of `spawn`
 * @throws UsageError ERR_OPTION for what is no object, or has an option that is not known
 */
export function checkSpawnNames(options: object, more: readonly string[] = []): void {
  for (const name of OPTIONS_OF_WORKERS) {
    if (name in Object(options)) {
      throw new UsageError('ERR_OPTION', `Unknown option ${name}: the Worker's own go into worker: { ${name}: ... }`, {
        option: name,
      });
    }
  }
  checkNames(options, [...CHANNEL_OPTIONS, 'startTimeoutMs', 'worker', ...more]);
}

function optionsOf(options: SpawnOptions): {
  readonly resolved: Resolved;
  readonly portOptions: PortOptions;
  readonly workerOptions: object | undefined;
  readonly startTimeoutMs: number;
} {
  checkSpawnNames(options);
  const { worker: workerOptions, startTimeoutMs = START_TIMEOUT_MS_DEFAULT, ...channelOptions } = options;
  const resolved = resolveOptions(channelOptions);
  if (workerOptions !== undefined && (typeof workerOptions !== 'object' || workerOptions === null)) {
    throw new UsageError('ERR_OPTION', `Option worker cannot be ${String(workerOptions)}: it takes an object`);
  }
  if (!(typeof startTimeoutMs === 'number' && startTimeoutMs >= 0)) {
    const shown = String(startTimeoutMs);
    throw new UsageError('ERR_OPTION', `Option startTimeoutMs cannot be ${shown}: it takes 0 or more, or Infinity`, {
      option: 'startTimeoutMs',
      value: startTimeoutMs,
    });
  }
  return { resolved, portOptions: portOptionsOf(channelOptions), workerOptions, startTimeoutMs };
}

/**
 * Who terminates its own worker and then blocks hears no event of it, and a probe tells on Node only, there not of a worker
 * that was still starting. So the call says it, on the page, for a thread that had not said how it ended itself. What
 * was sent before can be read all the same. The event loop goes by the Worker's events, which know more.
 */
function tellTerminate(worker: unknown, terminated: () => void): void {
  const stoppable = worker as { terminate(...args: unknown[]): unknown };
  const { terminate } = stoppable;
  const value = (...args: unknown[]): unknown => {
    const returned = terminate.apply(stoppable, args);
    terminated();
    return returned;
  };
  Reflect.defineProperty(stoppable, 'terminate', { value, configurable: true, writable: true, enumerable: false });
}

/** Where the bootstrap finds what it has to say of a thread that never opened its end. */
function endWordsOf(memory: SharedArrayBuffer, page: SharedArrayBuffer): EndWords {
  return {
    memory,
    page,
    attached: SIDE_1 + ATTACHED,
    closed: SIDE_1 + CLOSED,
    park: SIDE_0 + PARK,
    exit: CLOSE_CODES.exit,
    crash: CLOSE_CODES.crash,
    errorLength: ERROR_LENGTH,
    errorText: ERROR_TEXT_BYTE,
    errorMax: DEATH_TEXT_MAX,
  };
}

function moduleUrl(url: Href | string): URL {
  try {
    return new URL(typeof url === 'string' ? url : url.href);
  } catch (cause) {
    throw new UsageError(
      'ERR_OPTION',
      `Cannot spawn ${JSON.stringify(String(url))}: expected an absolute URL, as from new URL('./worker.js', import.meta.url), or a function that makes a Worker`,
      { cause },
    );
  }
}
