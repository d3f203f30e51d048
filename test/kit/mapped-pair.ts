// Ports over regions that two agents have mapped, both ends here.
import { CODECS, codecOfName } from '../../src/codec/choose.ts';
import type { ChannelOptions, Port as PublicPort } from '../../src/index.ts';
import * as layout from '../../src/memory/layout.ts';
import { capacityFor, openMapped, regionBytes, writeHeader } from '../../src/memory/region.ts';
import { takeSide } from '../../src/memory/sides.ts';
import { resolveOptions } from '../../src/port/options.ts';
import { Port } from '../../src/port/port.ts';
import { type SharedRingOptions, SharedRingTransport } from '../../src/transport/ring/shared-ring.ts';
import type { TieEvents } from '../../src/transport/ring/tie.ts';
import type { TransportEvents } from '../../src/transport/transport.ts';
import { MAPPED, type MappedAgent, mappedAgents, type ScriptedAgent } from './mapped-agents.ts';
import { type MappedMeans, MappedTie } from './mapped-tie.ts';
import { Random, seed } from './prng.ts';

export interface MappedScript extends MappedMeans {
  /** What comes over the control socket needs the event loop. */
  readonly late?: boolean;
}

export interface MappedPair {
  readonly agents: readonly [ScriptedAgent, ScriptedAgent];
  /** The memory of the channel that was made last. */
  readonly memory: ArrayBuffer;
  /** Makes a channel: what opens each of its ends. */
  channel(options?: ChannelOptions): readonly [Open, Open];
  /** Ports of one. */
  ports(options?: ChannelOptions): { readonly a: PublicPort; readonly b: PublicPort };
}
type Open = (events: TransportEvents) => SharedRingTransport;

function endOptions(options: ChannelOptions): SharedRingOptions {
  const resolved = resolveOptions(options);
  return {
    codec: codecOfName(resolved.codec),
    codecs: CODECS,
    codecOptions: {
      knownTexts: resolved.rememberedTexts,
      knownTextBytes: resolved.rememberedTextBytes,
      exactArrays: resolved.arrayProperties === 'always',
    },
    overflow: resolved.overflow,
    highWaterMark: resolved.highWaterMarkBytes,
    outboxLimit: resolved.outboxBytes,
    spinUs: resolved.spinMicroseconds,
    livenessSliceMs: 5,
    startTimeoutMs: Number.POSITIVE_INFINITY,
  };
}

/** One end of a channel in memory that a header was written to. */
export function openEnd(
  agent: MappedAgent,
  address: number,
  memory: ArrayBuffer,
  side: 0 | 1,
  means: Required<MappedMeans>,
  options: ChannelOptions,
  events: TransportEvents,
): SharedRingTransport {
  const region = openMapped(memory);
  takeSide(region, side);
  const [here, there] = side === 0 ? [layout.SIDE_0, layout.SIDE_1] : [layout.SIDE_1, layout.SIDE_0];
  const words = { words: region.views.words, here, there };
  const tieUp = (each: TieEvents): MappedTie => new MappedTie(agent, address, words, means, each);
  return new SharedRingTransport(region, side, tieUp, endOptions(options), events);
}

export function mappedPair({
  late = false,
  lends = true,
  parking = MAPPED,
  descriptors = false,
}: MappedScript = {}): MappedPair {
  const agents = mappedAgents(new Random(seed), late);
  let memory = new ArrayBuffer(0);
  let count = 0;
  const channel = (options: ChannelOptions = {}): readonly [Open, Open] => {
    const { capacityBytes, maxMessageBytes } = resolveOptions(options);
    const capacity = capacityFor(capacityBytes);
    const made = new ArrayBuffer(regionBytes(capacity, capacity));
    memory = made;
    writeHeader(made, capacity, capacity, maxMessageBytes);
    const address = count++;
    const open =
      (side: 0 | 1): Open =>
      (events) => {
        return openEnd(agents[side], address, made, side, { lends, parking, descriptors }, options, events);
      };
    return [open(0), open(1)];
  };
  return {
    agents,
    get memory() {
      return memory;
    },
    channel,
    ports(options) {
      const [a, b] = channel(options);
      return { a: new Port(a), b: new Port(b) };
    },
  };
}
