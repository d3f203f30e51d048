// Where ports come from: a channel to hand over, its other end, a worker with a channel to it.

import { platform } from '#platform';
import { CODECS, codecOfName } from '../codec/choose.ts';
import { UsageError } from '../errors.ts';
import { LIVENESS_SLICE_MS, LIVENESS_SLICE_SPAWNED_MS } from '../limits.ts';
import {
  createHandle,
  createNatives,
  type NativePair,
  openHandle,
  type Remote,
  type RemoteHandle,
  type TextBounds,
} from '../memory/handshake.ts';
import { allocateRegion, type Region } from '../memory/region.ts';
import { SharedRingTransport } from '../transport/thread/shared-ring.ts';
import {
  type ChannelOptions,
  type PortOptions,
  portOptionsOf,
  type Resolved,
  resolveOptions,
  resolvePortOptions,
} from './options.ts';
import { Port } from './port.ts';

/** What `spawn` gives the new thread. */
interface SpawnData {
  readonly remote: RemoteHandle;
  /** The word that speaks for the new thread's life; its spawner sets it to 1 when the thread has ended. */
  readonly life: SharedArrayBuffer;
  readonly options: PortOptions;
}

/** The word that speaks for this thread's life, if somebody watches it. */
const ownLife: SharedArrayBuffer | null = (platform.spawnData as SpawnData | undefined)?.life ?? null;

interface Opened {
  readonly port: Port;
  readonly transport: SharedRingTransport;
}

function openPort(
  region: Region,
  side: 0 | 1,
  natives: NativePair,
  peerLife: SharedArrayBuffer | null,
  options: Resolved,
  texts: TextBounds,
  watch: { readonly livenessSliceMs: number; readonly peerEndTold: boolean },
): Opened {
  let transport!: SharedRingTransport;
  const port = new Port((woken) => {
    transport = new SharedRingTransport(
      region,
      side,
      natives,
      peerLife,
      {
        codec: codecOfName(options.codec),
        codecs: CODECS,
        codecOptions: {
          knownTexts: texts.count,
          knownTextBytes: texts.bytes,
          exactArrays: options.arrayProperties === 'always',
        },
        overflow: options.overflow,
        highWaterMark: options.highWaterMarkBytes,
        outboxLimit: options.outboxBytes,
        spinUs: options.spinMicroseconds,
        asyncPark: options.eventLoopWait,
        ...watch,
      },
      { woken },
    );
    return transport;
  });
  return { port, transport };
}

function textsOf(options: Resolved): TextBounds {
  return { count: options.rememberedTexts, bytes: options.rememberedTextBytes };
}

/**
 * Makes a channel: a port for this thread, and a `remote` to hand to another one:
 * `worker.postMessage(remote, remote.transfer)`, then `attach(remote)` over there. What is sent before the other side
 * attaches waits in the ring.
 * ```ts
 * import { attach, channel } from 'millrace';
 * const { port, remote } = channel<string, number>({ capacityBytes: 65536 });
 * const far = attach<number, string>(remote);   // over there, as it arrived
 * port.postMessage(1);
 * console.log(far.receive());                   // 1; blocks until there is a message
 * far.close();
 * ```
 * @throws UsageError ERR_OPTION
 */
export function channel<In = unknown, Out = unknown>(
  options?: ChannelOptions,
): { readonly port: Port<In, Out>; readonly remote: Remote } {
  const resolved = resolveOptions(options);
  const region = allocateRegion(resolved.capacityBytes, resolved.capacityBytes, resolved.maxMessageBytes);
  const { near, far } = createNatives();
  const { port } = openPort(region, 0, near, null, resolved, textsOf(resolved), {
    livenessSliceMs: LIVENESS_SLICE_MS,
    peerEndTold: false,
  });
  return { port: port as Port<In, Out>, remote: createHandle(region, far, ownLife, textsOf(resolved)) };
}

/**
 * Opens the end of a channel that was handed to this thread.
 * @param remote as it arrived
 * @throws UsageError ERR_HANDLE if it is none, was attached before, or came without its transfer list;
 *   LayoutError if it comes from another version; ERR_OPTION
 */
export function attach<In = unknown, Out = unknown>(remote: unknown, options?: PortOptions): Port<In, Out> {
  return attachWatching(remote, options, LIVENESS_SLICE_MS) as Port<In, Out>;
}

function attachWatching(remote: unknown, options: PortOptions | undefined, livenessSliceMs: number): Port {
  const resolved = resolvePortOptions(options);
  const { region, natives, life, texts } = openHandle(remote);
  const watch = { livenessSliceMs, peerEndTold: false };
  const { port, transport } = openPort(region, 1, natives, life, resolved, texts, watch);
  if (ownLife !== null) transport.announceLife(ownLife);
  return port;
}

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
  const region = allocateRegion(resolved.capacityBytes, resolved.capacityBytes, resolved.maxMessageBytes);
  const { near, far } = createNatives();
  const life = new SharedArrayBuffer(4);
  const { port, transport } = openPort(region, 0, near, life, resolved, textsOf(resolved), {
    // While we are blocked nobody can terminate it, and what it does itself it tells; out of memory it goes in silence.
    livenessSliceMs: LIVENESS_SLICE_SPAWNED_MS,
    peerEndTold: true,
  });
  const remote = createHandle(region, far, ownLife, textsOf(resolved));
  const data: SpawnData = { remote, life, options: portOptionsOf(channelOptions) };
  try {
    const { worker } = platform.spawn(module, data, remote.transfer, workerOptions, (how) => {
      // SYNC life: whoever is blocked on the ended thread finds this in its next slice; pairs with SideChannel.peerGone.
      Atomics.store(new Int32Array(life), 0, 1);
      transport.life.peerThreadEnded(how);
    });
    return { port: port as Port<In, Out>, worker: worker as SpawnedWorker };
  } catch (error) {
    port.close();
    throw error;
  }
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

let parent: Port | undefined;

/**
 * The port to the thread that started this one with `spawn`. The same object at every call.
 * @throws UsageError ERR_HANDLE in a thread that `spawn` did not start
 */
export function parentPort<In = unknown, Out = unknown>(): Port<In, Out> {
  const data = platform.spawnData as SpawnData | undefined;
  if (data === undefined) {
    throw new UsageError('ERR_HANDLE', 'Cannot open the parent port: this thread was not started with spawn()');
  }
  // A worker does not outlive its parent, so a blocked one need not look after it.
  parent ??= attachWatching(data.remote, data.options, Number.POSITIVE_INFINITY);
  return parent as Port<In, Out>;
}
