// Doors that ask for channels in one call, as one between processes will: over a control connection each channel is opened with an offer; where both
// make it, one side names a region, and the other maps it or says that it cannot. Then the records go through that, or over the connection.
import { codecOfName } from '../../src/codec/choose.ts';
import type { ChannelOptions, Port as PublicPort } from '../../src/index.ts';
import { HeldCopies } from '../../src/lane/held-copies.ts';
import { type Resolved, resolveOptions } from '../../src/port/options.ts';
import { Port } from '../../src/port/port.ts';
import { streamTransportOptions, streamWish } from '../../src/port/stream-options.ts';
import { Asked, AskedTransport } from '../../src/transport/asked.ts';
import type { StreamChannel } from '../../src/transport/stream/channel.ts';
import { StreamConnection } from '../../src/transport/stream/connection.ts';
import type { Opening } from '../../src/transport/stream/opening.ts';
import { StreamTransport } from '../../src/transport/stream/stream-transport.ts';
import type { Transport, TransportEvents } from '../../src/transport/transport.ts';
import { mappedPair } from './mapped-pair.ts';
import { Random, seed } from './prng.ts';
import { Wire } from './wire.ts';

/** The frame of the feature: what is said, and the region's number. */
const MAP = 70;
const OFFER = 0x20000;
const HERE_IS = 1;
const MAPPED = 2;
const NOT_MAPPED = 3;

type OpenRing = (events: TransportEvents) => Transport;

interface Pending {
  readonly asked: Asked;
  readonly options: ChannelOptions;
  readonly resolved: Resolved;
  readonly events: TransportEvents;
}

/** How the two sides stand to memory in common. */
export interface AskedScript {
  /** Each side's offer. */
  readonly offers?: readonly [boolean, boolean];
  /** Whether the region that is named can be mapped. */
  readonly maps?: boolean;
  /** Whether threads that are blocked can take in what comes. */
  readonly pulls?: boolean;
}

export class Door {
  readonly connection: StreamConnection;
  readonly openings: Opening[] = [];
  /** What the ways of its channels were, in the order in which they were settled. */
  readonly ways: string[] = [];
  readonly #side: 0 | 1;
  readonly #world: AskedWorld;
  readonly #pending = new Map<StreamChannel, Pending>();

  constructor(side: 0 | 1, world: AskedWorld) {
    this.#side = side;
    this.#world = world;
    this.connection = new StreamConnection(
      world.wire.ends[side],
      {
        initiator: side === 0,
        featureFrames: [
          {
            type: MAP,
            flag: OFFER,
            bytesMin: 8,
            bytesMax: 8,
            came: ([what, region], channel) => this.#heard(channel as StreamChannel, what as number, region as number),
          },
        ],
      },
      { opened: (opening) => void this.openings.push(opening), ended() {} },
    );
    world.wire.connect(side, this.connection);
  }

  /** The port of that name: at once. */
  channel(name: string, options: ChannelOptions = {}): Port {
    const { offers = [true, true], pulls = false } = this.#world.script;
    const flags = offers[this.#side] ? OFFER : 0;
    const resolved = resolveOptions(options);
    const channel = this.connection.open(name, { ...streamWish(resolved), flags });
    const { connection } = this;
    const asked = new Asked({
      link: connection,
      hold: (held) => connection.hold(held),
      withdraw: (reason) => channel.end(reason),
      pull: pulls ? () => this.#world.pull() : undefined,
    });
    const { codec, arrayProperties, maxMessageBytes } = resolved;
    const held = new HeldCopies(codecOfName(codec), { exactArrays: arrayProperties === 'always' }, maxMessageBytes);
    const port = new Port((events) => {
      this.#pending.set(channel, { asked, options, resolved, events });
      channel.owner = {
        changed() {},
        drain() {},
        turned: () => this.#overStream(channel),
        joined: () => this.#joined(channel),
        close: (reason) => channel.end(reason),
      };
      // It has crossed an opening that was here before.
      if (channel.attached) this.#joined(channel);
      return new AskedTransport(asked, held, events);
    });
    this.#world.made.push(port);
    return port;
  }

  #joined(channel: StreamChannel): void {
    if ((channel.flags & OFFER) === 0) this.#overStream(channel);
    else if (this.#side === 0)
      this.connection.say(MAP, [HERE_IS, this.#world.offer(this.#pending.get(channel)?.options)], channel);
  }
  #heard(channel: StreamChannel, what: number, region: number): void {
    if (what === HERE_IS) {
      const { maps = true } = this.#world.script;
      this.connection.say(MAP, [maps ? MAPPED : NOT_MAPPED, region], channel);
      if (maps) this.#overMemory(channel, region);
      else this.#overStream(channel);
    } else if (what === MAPPED) this.#overMemory(channel, region);
    else this.#overStream(channel);
  }
  #settle(channel: StreamChannel, way: string, open: (pending: Pending) => Transport): void {
    const pending = this.#pending.get(channel);
    if (pending === undefined || !this.#pending.delete(channel)) return;
    this.ways.push(way);
    pending.asked.settle(() => open(pending));
  }
  #overMemory(channel: StreamChannel, region: number): void {
    const open = this.#world.region(region, this.#side);
    this.#settle(channel, 'memory', ({ events }) => open(events));
  }
  #overStream(channel: StreamChannel): void {
    this.#settle(
      channel,
      'stream',
      ({ resolved, events }) => new StreamTransport(this.connection, channel, streamTransportOptions(resolved), events),
    );
  }
}

export class AskedWorld {
  readonly wire: Wire = new Wire({ random: new Random(seed), chunkMax: 100 });
  readonly script: AskedScript;
  readonly doors: readonly [Door, Door];
  readonly made: Port[] = [];
  #pulling = false;
  readonly #regions: (readonly [OpenRing, OpenRing])[] = [];

  /** Nothing goes over the wire before `go`, or `step` of it. */
  constructor(script: AskedScript = {}) {
    this.script = script;
    this.wire.delayed = true;
    this.doors = [new Door(0, this), new Door(1, this)];
  }

  /** One thread has both sides here: what one pulls, the other looks at. */
  pull(): void {
    if (this.#pulling) return;
    this.#pulling = true;
    this.wire.step();
    for (const port of this.made) void port.reason;
    this.#pulling = false;
  }
  offer(options: ChannelOptions = {}): number {
    return this.#regions.push(mappedPair().channel(options)) - 1;
  }
  region(number: number, side: 0 | 1): OpenRing {
    return (this.#regions[number] as readonly [OpenRing, OpenRing])[side];
  }

  /** Everything that is on its way arrives, and is heard. */
  async go(): Promise<void> {
    for (let i = 0; i < 5; i++) {
      while (this.wire.step());
      for (let j = 0; j < 5; j++) await null;
    }
  }
  /** Both ends of a channel, connected. */
  async ports(options: ChannelOptions = {}): Promise<{ a: PublicPort; b: PublicPort }> {
    const [a, b] = this.doors.map((door) => door.channel('x', options)) as [Port, Port];
    await this.go();
    await Promise.all([a.ready, b.ready]);
    this.wire.delayed = false;
    return { a, b };
  }
}
