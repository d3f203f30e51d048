// Where ports come from: a channel to hand over, and its other end.
import { platform } from '#platform';
import { CODECS, codecOfName } from '../codec/choose.ts';
import { LIVENESS_SLICE_MS } from '../limits.ts';
import {
  createHandle,
  createNatives,
  type NativePair,
  openHandle,
  type Remote,
  type TextBounds,
  takeSide,
} from '../memory/handshake.ts';
import { allocateRegion, type Region } from '../memory/region.ts';
import type { SharedRingOptions } from '../transport/ring/shared-ring.ts';
import { watchHandle } from '../transport/thread/remains.ts';
import { ThreadTransport } from '../transport/thread/thread-ring.ts';
import type { TransportEvents } from '../transport/transport.ts';
import {
  type ChannelOptions,
  type PairOptions,
  type PortOptions,
  type Resolved,
  resolveOptions,
  resolvePairOptions,
  resolvePortOptions,
} from './options.ts';
import { Port } from './port.ts';
import { ownLife } from './start-data.ts';

interface Opened {
  readonly port: Port;
  readonly transport: ThreadTransport;
}

/** How one end looks after the thread at the other. */
export type Watch = Pick<SharedRingOptions, 'livenessSliceMs' | 'peerEndTold' | 'startTimeoutMs'>;

/** Whoever has the other end may take it any time, and may be killed in any way. */
const WATCH_ANYBODY: Watch = {
  livenessSliceMs: LIVENESS_SLICE_MS,
  peerEndTold: false,
  startTimeoutMs: Number.POSITIVE_INFINITY,
};

export function openPort(
  region: Region,
  side: 0 | 1,
  natives: NativePair,
  peerLife: SharedArrayBuffer | null,
  options: Resolved,
  texts: TextBounds,
  watch: Watch,
): Opened {
  let transport!: ThreadTransport;
  const port = new Port((events) => {
    transport = openTransport(region, side, natives, peerLife, options, texts, watch, events);
    return transport;
  });
  return { port, transport };
}

function openTransport(
  region: Region,
  side: 0 | 1,
  natives: NativePair,
  peerLife: SharedArrayBuffer | null,
  options: Resolved,
  texts: TextBounds,
  watch: Watch,
  events: TransportEvents,
): ThreadTransport {
  return new ThreadTransport(
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
        besideTextMin: platform.nativeMemberTextMin,
        besideWideTextMin: platform.nativeWideTextMin,
        besideTextMax: region.messageMax,
      },
      overflow: options.overflow,
      highWaterMark: options.highWaterMarkBytes,
      outboxLimit: options.outboxBytes,
      spinUs: options.spinMicroseconds,
      asyncPark: options.eventLoopWait,
      ...watch,
    },
    events,
  );
}

export function textsOf(options: Resolved): TextBounds {
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
  const { region, near, far } = makeChannel(resolved);
  takeSide(region, 0);
  const { port } = openPort(region, 0, near, null, resolved, textsOf(resolved), WATCH_ANYBODY);
  return {
    port: port as Port<In, Out>,
    remote: watchHandle(createHandle(region, 1, far, ownLife(), textsOf(resolved))),
  };
}

/**
 * Makes a channel for two other threads: a `remote` for each. Both are handed over and attached like that of `channel`,
 * in any order; what the first one sends waits for the second. The thread that calls this is no part of the channel.
 * ```ts
 * import { attach, pair } from 'millrace';
 * const [one, other] = pair({ capacityBytes: 65536 });
 * const left = attach(one);                 // each in the thread that it was handed to
 * left.postMessage('direct');
 * const right = attach(other);
 * console.log(right.receive());             // direct
 * left.close();
 * ```
 * @param options of the channel; each end gives its own to `attach`
 * @throws UsageError ERR_OPTION
 */
export function pair(options?: PairOptions): [Remote, Remote] {
  const resolved = resolvePairOptions(options);
  const { region, near, far } = makeChannel(resolved);
  const texts = textsOf(resolved);
  // Neither end is in this thread: who attaches tells the other one of its life.
  return [
    watchHandle(createHandle(region, 0, near, null, texts)),
    watchHandle(createHandle(region, 1, far, null, texts)),
  ];
}

export function makeChannel(options: Resolved): {
  readonly region: Region;
  readonly near: NativePair;
  readonly far: NativePair;
} {
  const region = allocateRegion(options.capacityBytes, options.capacityBytes, options.maxMessageBytes);
  return { region, ...createNatives() };
}

/**
 * Opens the end of a channel that was handed to this thread.
 * @param remote as it arrived
 * @throws UsageError ERR_HANDLE if it is none, was attached before or handed on, or came without its transfer list;
 *   LayoutError if it comes from another version; ERR_OPTION
 */
export function attach<In = unknown, Out = unknown>(remote: unknown, options?: PortOptions): Port<In, Out> {
  return new Port((events) => attachTransport(remote, options, LIVENESS_SLICE_MS, events)) as Port<In, Out>;
}

/** The transport of an end that was handed to this thread. @throws as attach */
export function attachTransport(
  remote: unknown,
  options: PortOptions | undefined,
  livenessSliceMs: number,
  events: TransportEvents,
): ThreadTransport {
  const resolved = resolvePortOptions(options);
  const { end, region, natives, life, texts } = openHandle(remote);
  const watch: Watch = { ...WATCH_ANYBODY, livenessSliceMs };
  const transport = openTransport(region, end, natives, life, resolved, texts, watch, events);
  const own = ownLife();
  if (own !== null) transport.announceLife(own);
  transport.hello();
  return transport;
}
