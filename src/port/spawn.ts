// Starts a worker with a channel to it.
import { platform } from '#platform';
import { UsageError } from '../errors.ts';
import { DEATH_TEXT_MAX, LIVENESS_SLICE_SPAWNED_MS } from '../limits.ts';
import { createHandle, takeSide } from '../memory/handshake.ts';
import { ATTACHED, CLOSE_CODES, CLOSED, PARK, SIDE_0, SIDE_1 } from '../memory/layout.ts';
import { createLifePage, ERROR_LENGTH, ERROR_TEXT_BYTE, tellEnded } from '../memory/life-page.ts';
import type { Region } from '../memory/region.ts';
import type { EndWords } from '../platform/bootstrap.ts';
import type { Start } from '../platform/contract.ts';
import { makeChannel, openPort, ownLife, type SpawnData, textsOf } from './channel.ts';
import { type ChannelOptions, portOptionsOf, resolveOptions } from './options.ts';
import type { Port } from './port.ts';

/** The runtime's own Worker (of `node:worker_threads`, on Bun and Deno too), as far as a caller usually needs it. */
export interface SpawnedWorker {
  /** Ends the thread at once, wherever it is; `port.closed` says `terminated`. */
  terminate(): Promise<unknown>;
  /** `error` is what the thread threw and nobody caught: without a listener the process crashes of it. */
  on(event: string, listener: (...values: never[]) => unknown): unknown;
  /** A thread that runs keeps the process alive, whatever its port does; `unref` lets the process go. */
  ref(): void;
  unref(): void;
}

/** What people look for beside the channel's options. */
const OPTIONS_OF_WORKERS: readonly string[] =
  'workerData name env argv execArgv stdin stdout stderr resourceLimits transferList'.split(' ');

/** Options of the channel, and of the runtime's own Worker (`workerData`, `execArgv`, `name`, ...) under `worker`. */
export interface SpawnOptions extends ChannelOptions {
  readonly worker?: object;
}

/**
 * Starts a worker thread with a channel to it; over there, `parentPort()` is the other end.
 * @param url of the module to run, absolute
 * @throws UsageError ERR_OPTION; what the runtime's Worker throws
 */
export function spawn<In = unknown, Out = unknown>(
  url: URL | string,
  options: SpawnOptions = {},
): { readonly port: Port<In, Out>; readonly worker: SpawnedWorker } {
  // What is no object is told of by resolveOptions; taken apart here it would pass for an empty one.
  const { worker: workerOptions = {}, ...channelOptions } = typeof options === 'object' ? (options ?? {}) : {};
  if (typeof options !== 'object' || options === null) resolveOptions(options);
  for (const name of OPTIONS_OF_WORKERS) {
    if (name in channelOptions) {
      throw new UsageError('ERR_OPTION', `Unknown option ${name}: the Worker's own go into worker: { ${name}: ... }`, {
        option: name,
      });
    }
  }
  const resolved = resolveOptions(channelOptions);
  const module = moduleUrl(url);
  if (typeof workerOptions !== 'object' || workerOptions === null) {
    throw new UsageError('ERR_OPTION', `Option worker cannot be ${String(workerOptions)}: it takes an object`);
  }
  const { region, near, far } = makeChannel(resolved);
  takeSide(region, 0);
  const life = createLifePage();
  const { port, transport } = openPort(region, 0, near, life, resolved, textsOf(resolved), {
    // While we are blocked nobody can terminate it, and what it does itself it tells; out of memory it goes in silence.
    livenessSliceMs: LIVENESS_SLICE_SPAWNED_MS,
    peerEndTold: true,
  });
  const remote = createHandle(region, 1, far, ownLife, textsOf(resolved));
  const data: SpawnData = { remote, life, options: portOptionsOf(channelOptions) };
  try {
    const start: Start = { data, transfer: remote.transfer, end: endWordsOf(region, life) };
    const worker = platform.spawn(module, start, workerOptions, (how, error) => {
      tellEnded(life, how ?? 'terminated');
      transport.life.peerThreadEnded(how, error);
    });
    return { port: port as Port<In, Out>, worker: worker as SpawnedWorker };
  } catch (error) {
    port.close();
    throw error;
  }
}

/** Where the bootstrap finds what it has to say of a thread that never opened its end. */
function endWordsOf(region: Region, page: SharedArrayBuffer): EndWords {
  return {
    memory: region.memory,
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

function moduleUrl(url: URL | string): URL {
  try {
    return new URL(url);
  } catch (cause) {
    throw new UsageError(
      'ERR_OPTION',
      `Cannot spawn ${JSON.stringify(String(url))}: expected an absolute URL, as from new URL('./worker.js', import.meta.url)`,
      { cause },
    );
  }
}
