// Channels in shared memory: one to hand over, and its other end.
import { platform } from '#platform';
import { CODECS, codecOfName } from '../codec/choose.ts';
import type { Codec, CodecOptions } from '../codec/codec.ts';
import { LayoutError } from '../errors.ts';
import { LIVENESS_SLICE_MS } from '../limits.ts';
import {
  createHandle,
  type MovingHandle,
  openHandle,
  type Remote,
  type RemoteHandle,
  type TextBounds,
} from '../memory/handle.ts';
import { createNatives, type NativePair } from '../memory/native-pair.ts';
import { allocateRegion, type Region } from '../memory/region.ts';
import { takeSide } from '../memory/sides.ts';
import { endUnused, HandleLines, NO_LINES } from '../transport/beside/unopened-end.ts';
import type { RingLuggage, SharedRingOptions } from '../transport/ring/shared-ring.ts';
import { agentLinks } from '../transport/thread/agent-links.ts';
import { watchHandle } from '../transport/thread/dropped-handles.ts';
import { Invitation } from '../transport/thread/invitation.ts';
import { ThreadLink } from '../transport/thread/thread-link.ts';
import {
  type Moving,
  type ThreadLuggage,
  type ThreadRingOptions,
  ThreadTransport,
  type Way,
} from '../transport/thread/thread-ring.ts';
import type { TransportEvents } from '../transport/transport.ts';
import { type ChannelOptions, type PortOptions, type Resolved, resolveOptions, resolvePortOptions } from './options.ts';
import { Port } from './port.ts';
import { ownLife } from './start-data.ts';

interface Opened {
  readonly port: Port;
  readonly transport: ThreadTransport;
}

/** How one end looks after the thread at the other. */
export type Watch = Pick<SharedRingOptions, 'livenessSliceMs' | 'startTimeoutMs'> & Pick<Way, 'peerEndTold'>;

/** Whoever has the other end may take it any time, and may be killed in any way. */
const WATCH_ANYBODY: Watch = {
  livenessSliceMs: LIVENESS_SLICE_MS,
  peerEndTold: false,
  startTimeoutMs: Number.POSITIVE_INFINITY,
};

/** A channel's end that stays in the thread that makes it, and what goes with the handle of the other one. */
export interface Made extends Opened {
  readonly remote: Remote;
  readonly region: Region<SharedArrayBuffer>;
}

/** @param peerLife the page that will speak for the life of the thread that gets the handle, if there is one */
export function makeChannel(options: Resolved, peerLife: SharedArrayBuffer | null, watch: Watch = WATCH_ANYBODY): Made {
  const region = allocateRegion(options.capacityBytes, options.capacityBytes, options.maxMessageBytes);
  takeSide(region, 0);
  const agent = agentLinks();
  const texts = textsOf(options);
  const invitation = new Invitation(texts, agent);
  let transport!: ThreadTransport;
  const port = new Port((events) => {
    const way: Way = { ...watch, first: invitation.near!, agent, peerLife, life: ownLife() };
    transport = openTransport(region, 0, way, options, texts, watch, events);
    return transport;
  });
  invitation.keep(transport.lines);
  const remote = watchHandle(createHandle(region, 1, invitation, ownLife(), texts, agent.card), invitation);
  return { port, transport, region, remote };
}

/** What an end is made with. What few ends ever need, or none before its first value, is made when it is asked for. */
class EndOptions implements ThreadRingOptions {
  readonly codecs: readonly Codec[] = CODECS;
  readonly openEnd: typeof openEnd = openEnd;
  readonly luggage: RingLuggage | undefined;
  readonly #options: Resolved;
  readonly #texts: TextBounds;
  readonly #watch: Watch;
  readonly #messageMax: number;

  constructor(
    options: Resolved,
    texts: TextBounds,
    watch: Watch,
    messageMax: number,
    luggage: RingLuggage | undefined,
  ) {
    this.#options = options;
    // A copy: whoever holds those of a handle keeps the handle, whose end is watched.
    this.#texts = { ...texts };
    this.#watch = watch;
    this.#messageMax = messageMax;
    this.luggage = luggage;
  }
  get codec(): Codec {
    return codecOfName(this.#options.codec);
  }
  get codecOptions(): CodecOptions {
    return {
      knownTexts: this.#texts.count,
      knownTextBytes: this.#texts.bytes,
      exactArrays: this.#options.arrayProperties === 'always',
      besideTextMin: platform.nativeMemberTextMin,
      besideWideTextMin: platform.nativeWideTextMin,
      besideTextMax: this.#messageMax,
    };
  }
  get moving(): Moving {
    const { overflow, highWaterMarkBytes, outboxBytes, spinMicroseconds, codec, arrayProperties } = this.#options;
    return {
      texts: this.#texts,
      portOptions: { overflow, highWaterMarkBytes, outboxBytes, spinMicroseconds, codec, arrayProperties },
    };
  }
  get overflow(): Resolved['overflow'] {
    return this.#options.overflow;
  }
  get highWaterMark(): number {
    return this.#options.highWaterMarkBytes;
  }
  get outboxLimit(): number {
    return this.#options.outboxBytes;
  }
  get spinUs(): number {
    return this.#options.spinMicroseconds;
  }
  get asyncPark(): Resolved['eventLoopWait'] {
    return this.#options.eventLoopWait;
  }
  get livenessSliceMs(): number {
    return this.#watch.livenessSliceMs;
  }
  get startTimeoutMs(): number {
    return this.#watch.startTimeoutMs;
  }
}

function openTransport(
  region: Region,
  side: 0 | 1,
  way: Way,
  options: Resolved,
  texts: TextBounds,
  watch: Watch,
  events: TransportEvents,
  luggage?: ThreadLuggage,
): ThreadTransport {
  return new ThreadTransport(
    region,
    side,
    way,
    new EndOptions(options, texts, watch, region.messageMax, luggage?.ring),
    events,
    luggage,
  );
}

/** Opens an end that came in a message. @throws LayoutError if what it has taken along makes no sense; its peer is told then */
function openEnd(handle: MovingHandle): Port {
  return new Port((events) => {
    const { end, region, natives, life: peerLife, texts, luggage } = openHandle(handle);
    try {
      const came = luggage as ThreadLuggage;
      const { tether, side } = came.tail;
      if (!platform.isNativePort(tether) || !platform.isNativePort(side)) throw new LayoutError('The tail is missing');
      const resolved = { ...resolvePortOptions(came.portOptions as PortOptions) };
      const first = new ThreadLink(natives as NativePair);
      const way: Way = { first, agent: agentLinks(), peerLife, life: ownLife(), peerEndTold: false };
      const transport = openTransport(region, end, way, resolved, texts, WATCH_ANYBODY, events, came);
      // Where the other side is it says itself, when it hears of us.
      transport.introduce(undefined, true);
      return transport;
    } catch (cause) {
      endUnused(region.views.words, end, new HandleLines(natives as NativePair), 'lost');
      throw new LayoutError('Cannot open a Port that was transferred: what it has taken along makes no sense', {
        cause,
      });
    }
  });
}

export function textsOf(options: Resolved): TextBounds {
  return { count: options.rememberedTexts, bytes: options.rememberedTextBytes };
}

/** A channel in shared memory: as `channel` of channels.ts. */
export function memoryChannel<In = unknown, Out = unknown>(
  options?: ChannelOptions,
): { readonly port: Port<In, Out>; readonly remote: Remote } {
  const { port, remote } = makeChannel(resolveOptions(options), null);
  return { port: port as Port<In, Out>, remote };
}

export function memoryPair(resolved: Resolved): [Remote, Remote] {
  const region = allocateRegion(resolved.capacityBytes, resolved.capacityBytes, resolved.maxMessageBytes);
  const natives = createNatives();
  // Neither end is in this thread: who attaches tells the other one of its life, and of its links.
  const remoteOf = (end: 0 | 1, ports: NativePair): Remote => {
    const texts = textsOf(resolved);
    const invitation = new Invitation(texts, undefined, ports);
    return watchHandle(createHandle(region, end, invitation, null, texts, null), invitation);
  };
  return [remoteOf(0, natives.near), remoteOf(1, natives.far)];
}

/** The other end of a channel in shared memory: as `attach` of channels.ts. */
export function memoryAttach<In = unknown, Out = unknown>(remote: unknown, options?: PortOptions): Port<In, Out> {
  return new Port((events) => attachTransport(remote, options, LIVENESS_SLICE_MS, events)) as Port<In, Out>;
}

const nearNatives = (): NativePair => createNatives().near;

/** The transport of an end that was handed to this thread. @throws as attach */
export function attachTransport(
  remote: unknown,
  options: PortOptions | undefined,
  livenessSliceMs: number,
  events: TransportEvents,
): ThreadTransport {
  const resolved = resolvePortOptions(options);
  const agent = agentLinks();
  const own = agent.unsent.get((remote as Partial<RemoteHandle> | undefined)?.texts as object);
  const { end, region, natives, life: peerLife, texts, agent: told } = openHandle(remote, 1, own !== undefined);
  const first = new ThreadLink(natives ?? nearNatives);
  const watch: Watch = { ...WATCH_ANYBODY, livenessSliceMs };
  const way: Way = { first, agent, peerLife, life: ownLife(), peerEndTold: false };
  let transport: ThreadTransport;
  try {
    transport = openTransport(region, end, way, resolved, texts, watch, events);
  } catch (cause) {
    // Its memory is damaged. The end is claimed, and nobody's: who has the other one is told.
    const lines = natives === undefined ? own?.takeBack() : new HandleLines(natives);
    endUnused(region.views.words, end, lines ?? NO_LINES, 'lost');
    throw cause;
  }
  const maker = own?.spend();
  if (maker !== undefined) transport.joinSelf(maker);
  else transport.introduce(agent.cardIn(told), end === 1);
  return transport;
}
