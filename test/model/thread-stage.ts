// The two ends of a channel in a model: the shipped port over the shipped thread transport, in a block of memory laid out
// as memory/layout.ts says. Only the native ports (native.ts) and the codec are the model's own.
import type { Codec } from '../../src/codec/codec.ts';
import * as layout from '../../src/memory/layout.ts';
import type { NativePair } from '../../src/memory/native-pair.ts';
import type { Region } from '../../src/memory/region.ts';
import type { ThreadRingOptions } from '../../src/transport/thread/thread-ring.ts';
import type { LoopWait, TransportEvents } from '../../src/transport/transport.ts';
import type { Spin } from '../../src/wait/spin.ts';
import type { Actor, Ending, Kit, Model } from '../kit/explore.ts';
import { SIDE_WORDS, SideEnd, TetherEnd, tetherGone } from './native.ts';
import { blocksOf, modelled } from './platform.ts';
import type { Shipped } from './shipped.ts';

/** Bytes a direction: four small records. The largest payload of one record is 24 bytes. */
const CAPACITY = 64;
const CAPACITY_MAX = 256;
const NATIVE = layout.DATA + (2 * CAPACITY_MAX) / 4;
const SIDES = [layout.SIDE_0, layout.SIDE_1] as const;
const LANES = [layout.LANE_0, layout.LANE_1] as const;
const TETHER = [NATIVE, NATIVE + 1] as const;
const SIDE_PORT = [NATIVE + 2, NATIVE + 2 + SIDE_WORDS] as const;
/** How many values the left side knows to be sent. */
export const SENT_BY_LEFT: number = NATIVE + 2 + 2 * SIDE_WORDS;
/** Opened by one side for the other. */
const GATE = SENT_BY_LEFT + 1;
const WORDS = GATE + 1;

const { SENT, STALLS, DROPS, OUTBOX_PEAK, RECEIVED, BAD, PARKS, WAKES } = layout;
const counters = [
  ...LANES.flatMap((lane) => [SENT, STALLS, DROPS, OUTBOX_PEAK, RECEIVED, BAD].map((word) => lane + word)),
  ...SIDES.flatMap((side) => [PARKS, WAKES].map((word) => side + word)),
];
const ignoredFields = [
  '$scratch',
  '$asideBytes',
  'home',
  'words',
  'floats',
  '$spin',
  'spin',
  '$restingSince',
  'peak',
  '$accepted',
  '$moved',
];

const names: Record<number, string> = {};
for (const side of [0, 1] as const) {
  const { PARK, AWAITED, CLOSED, SPILLED, RELEARN, TAIL, HEAD, SIDE_TAKEN, LATEST, TAKEN } = layout;
  const ofSide = { PARK, AWAITED, CLOSED, SPILLED, RELEARN, PARKS, WAKES };
  for (const [name, word] of Object.entries(ofSide)) names[SIDES[side] + word] = `${name} of side ${side}`;
  const ofLane = { TAIL, HEAD, SENT, STALLS, OUTBOX_PEAK, RECEIVED, SIDE_TAKEN, LATEST, TAKEN };
  for (const [name, word] of Object.entries(ofLane)) names[LANES[side] + word] = `${name} of lane ${side}`;
  names[TETHER[side]] = `tether of side ${side}`;
  for (let i = 0; i < SIDE_WORDS; i++) names[SIDE_PORT[side] + i] = `side port of side ${side}, message ${i}`;
}
names[SENT_BY_LEFT] = 'SENT_BY_LEFT';
names[GATE] = 'GATE';
names[layout.JAM] = 'JAM';

/** Message `id`, of `length` bytes (a multiple of 4). From `ASIDE` on the codec refuses it: it takes the side port. */
export function message(id: number, length: number): number {
  return id * 1000 + length;
}
const ASIDE = 1_000_000;
export function aside(id: number): number {
  return ASIDE + message(id, 4);
}

const plain: Codec = {
  name: 'model',
  kind: 4,
  createEncoder: () => ({
    encodeInto(value, memory, offset, limit) {
      if ((value as number) >= ASIDE) return -2;
      const length = (value as number) % 1000;
      if (length > limit) return -1;
      for (let at = 0; at < length; at += 4) memory.words[(offset + at) >>> 2] = (value as number) + at;
      return length;
    },
  }),
  createDecoder: () => ({
    decode(memory, offset, length) {
      const value = memory.words[offset >>> 2] as number;
      if (value % 1000 !== length) throw new Error(`message ${value} came with ${length} bytes`);
      for (let at = 0; at < length; at += 4) {
        const found = memory.words[(offset + at) >>> 2];
        if (found !== value + at) throw new Error(`word ${at} of message ${value} is ${found}`);
      }
      return value;
    },
  }),
};

type Port = InstanceType<Shipped['Port']>;
export type Sleep = 'wait-async' | 'doorbell';

/**
 * Where nothing spins the pump reads no clock, and would pass nothing that `watch` hears of: states that are the same would never meet
 * (six times as many). It asks whether to spin where it begins and before it rests: there it reads one.
 */
function passingBy(shipped: Shipped): Shipped['ThreadTransport'] {
  return class extends shipped.ThreadTransport {
    override get loop(): LoopWait {
      const loop = super.loop;
      const { spin } = loop;
      const get = (): Spin => {
        performance.now();
        return spin;
      };
      return Object.defineProperty(loop, 'spin', { get });
    }
  };
}

export interface Manner {
  /** Lives on its event loop, and sleeps like this. */
  readonly loop?: Sleep;
  readonly watchPeer?: boolean;
  readonly overflow?: ThreadRingOptions['overflow'];
  /** Bytes a direction, the same at both ends: 64 unless told otherwise, at most 256. */
  readonly capacity?: number;
  /** In place of one that teaches nothing. */
  readonly codec?: Codec;
  /** Has time limits: what it does inside a call depends on the time that has passed. */
  readonly limited?: boolean;
  /** Bytes that it sets aside, blocked in `send`; 0 is nothing, 1 is one message. */
  readonly inboxLimit?: number;
  /** Takes any room after a while, blocked in `send`. */
  readonly impatient?: boolean;
  /** May not block, as a page of a browser: what waits when it closes follows through the ring. */
  readonly page?: boolean;
}

/** What is done meanwhile is done by a page. A suspended actor leaves it, too. */
function asPage<T>(page: boolean, body: () => T): T {
  if (!page) return body();
  modelled.canTake = false;
  modelled.canBlock = false;
  try {
    return body();
  } finally {
    modelled.canTake = true;
    modelled.canBlock = true;
  }
}

/** One end, as `channel` and `attach` make it. */
export class End {
  readonly port: Port;
  readonly got: unknown[] = [];
  readonly words: Int32Array;
  readonly #shipped: Shipped;
  readonly #kit: Kit;
  readonly #page: boolean;
  #transport: InstanceType<Shipped['ThreadTransport']> | undefined;
  #phase = 'start';

  constructor(shipped: Shipped, kit: Kit, side: 0 | 1, manner: Manner) {
    const { loop, watchPeer = false, limited = false, impatient = false, page = false } = manner;
    const { overflow = 'wait', capacity = CAPACITY, codec = plain, inboxLimit = 1024 } = manner;
    const other = side === 0 ? 1 : 0;
    const words = kit.words();
    const bytes = kit.bytes();
    this.words = words;
    this.#shipped = shipped;
    this.#kit = kit;
    this.#page = page;
    const data = layout.DATA * 4;
    const region = {
      views: { words, bytes, blocks: blocksOf(bytes) },
      messageMax: 4096,
      lanes: [
        { words, bytes, block: layout.LANE_0, data, capacity },
        { words, bytes, block: layout.LANE_1, data: data + capacity, capacity },
      ],
    } as unknown as Region;
    const natives: NativePair = {
      tether: new TetherEnd(words, TETHER[side], TETHER[other], loop !== undefined, () => this.#inSlice()),
      side: new SideEnd(words, SIDE_PORT[side], SIDE_PORT[other]),
    };
    const options = {
      codec,
      codecs: [codec],
      overflow,
      highWaterMark: 1024,
      outboxLimit: 4096,
      spinUs: 0,
      asyncPark: loop ?? 'wait-async',
      livenessSliceMs: watchPeer ? 5 : Number.POSITIVE_INFINITY,
      startTimeoutMs: Number.POSITIVE_INFINITY,
      roomPatienceMs: impatient ? 1 : Number.POSITIVE_INFINITY,
      inboxLimit,
    } as unknown as ThreadRingOptions;
    if (!limited) kit.watch((where) => kit.checkpoint(where, this.#phase, this.port, this.got));
    const made = (events: TransportEvents): InstanceType<Shipped['ThreadTransport']> => {
      const first = new shipped.ThreadLink(natives);
      const way = { first, peerLife: null, life: null, peerEndTold: false };
      this.#transport = new (passingBy(shipped))(region, side, way, options, events);
      return this.#transport;
    };
    this.port = new shipped.Port((events) => asPage(page, () => made(events)));
  }

  /** A checkpoint between two calls. `phase` tells what comes next. */
  mark(phase: string): void {
    this.#phase = phase;
    this.#kit.checkpoint(phase, this.port, this.got);
  }

  /** A checkpoint inside a call, between two slices of a sleep. */
  #inSlice(): void {
    this.#kit.checkpoint('in a slice of', this.#phase, this.port, this.got);
  }

  send(...values: number[]): boolean {
    for (const value of values) {
      this.mark(`send ${value}`);
      if (!this.#tellsClosed(() => this.port.send(value))) return false;
      Atomics.add(this.words, SENT_BY_LEFT, 1);
    }
    return true;
  }

  /** Lets the other side go on. */
  open(): void {
    this.mark('open');
    Atomics.store(this.words, GATE, 1);
    Atomics.notify(this.words, GATE);
  }
  /** Blocks on something else than the channel. */
  pass(): void {
    this.mark('pass');
    while (Atomics.load(this.words, GATE) === 0) Atomics.wait(this.words, GATE, 0);
  }

  /** The same with its event loop, which goes on. */
  async passAsync(): Promise<void> {
    this.mark('passAsync');
    while (Atomics.load(this.words, GATE) === 0) {
      const next = Atomics.waitAsync(this.words, GATE, 0);
      if (next.async) await next.value;
    }
  }

  /** Sends, and when told that both sides are stuck receives one and tries again. */
  sendOrReceive(...values: number[]): void {
    for (const value of values) {
      for (let sent = false; !sent; ) {
        this.mark(`send or receive ${value}`);
        try {
          sent = this.port.send(value);
        } catch (error) {
          if ((error as { code?: string }).code !== 'ERR_DEADLOCK') throw error;
          this.got.push('told');
          this.receive(1);
        }
      }
    }
  }

  close(): void {
    this.mark('close');
    asPage(this.#page, () => this.port.close());
  }

  /** The thread ends by itself, with the channel open. */
  endThread(): void {
    this.mark('end of thread');
    this.#transport?.life.endThread('exit');
  }

  post(...values: number[]): void {
    for (const value of values) {
      this.mark(`post ${value}`);
      this.port.postMessage(value);
    }
  }

  /** Blocks for `count` values, or for all until the other side has ended. */
  receive(count: number = Number.POSITIVE_INFINITY): void {
    for (const end = this.got.length + count; this.got.length < end; ) {
      this.mark('receive');
      const value = this.port.receive();
      if (value === this.#shipped.CLOSED) break;
      this.got.push(value);
    }
  }

  async receiveAsync(count: number = Number.POSITIVE_INFINITY): Promise<void> {
    for (const end = this.got.length + count; this.got.length < end; ) {
      this.mark('receiveAsync');
      const value = await this.port.receiveAsync();
      if (value === this.#shipped.CLOSED) break;
      this.got.push(value);
    }
  }

  /** What was received, and why the channel ended if it has. */
  get story(): unknown[] {
    return [...this.got, this.#transport?.ended ?? 'open'];
  }

  #tellsClosed(body: () => boolean): boolean {
    try {
      return body();
    } catch (error) {
      if ((error as { code?: string }).code !== 'ERR_CLOSED') throw error;
      return false;
    }
  }
}

export function blocking(shipped: Shipped, side: 0 | 1, act: (end: End) => void, manner: Manner = {}): Actor {
  return {
    name: side === 0 ? 'left' : 'right',
    run(kit) {
      const end = new End(shipped, kit, side, manner);
      act(end);
      return end.story;
    },
  };
}

export function onLoop(
  shipped: Shipped,
  side: 0 | 1,
  sleep: Sleep,
  act: (end: End) => Promise<void>,
  manner: Manner = {},
): Actor {
  return {
    name: side === 0 ? 'left' : 'right',
    async run(kit) {
      const end = new End(shipped, kit, side, { ...manner, loop: sleep });
      await act(end);
      return end.story;
    },
  };
}

/** The runtime: it closes the native ports of a thread that was killed. Blocked threads do not hear it. */
const undertaker: Actor = {
  name: 'runtime',
  afterKill: 'left',
  run: (kit) => tetherGone(kit.words(), TETHER[1]),
};

export function threads(actors: readonly Actor[], final: (ending: Ending) => string | undefined, kills?: 1): Model {
  const killable = kills === 1 ? [{ ...(actors[0] as Actor), killable: true }, ...actors.slice(1), undertaker] : actors;
  return { words: WORDS, names, counters, ignoredFields, kills: kills ?? 0, actors: killable, final };
}

/** The story that `who` must tell; after a death at least what the dead had sent, in order, and the reason. */
export function tells(who: string, story: readonly unknown[]): (ending: Ending) => string | undefined {
  return ({ results, killed, look }) => {
    const told = results[who] as unknown[] | undefined;
    if (told === undefined) return killed === who ? undefined : `${who} has no result`;
    if (killed === undefined) return String(told) === String(story) ? undefined : `${who}: ${told}, not ${story}`;
    const values = told.slice(0, -1);
    if (!['terminated', 'closed', 'open'].includes(told.at(-1) as string)) return `${who} ended: ${told.at(-1)}`;
    if (values.length < look(SENT_BY_LEFT)) return `${look(SENT_BY_LEFT)} were sent, ${who} received ${values}`;
    return values.every((value, i) => value === story[i]) ? undefined : `${who} received ${values} of ${story}`;
  };
}

export function all(...checks: ((ending: Ending) => string | undefined)[]): (ending: Ending) => string | undefined {
  return (ending) => {
    for (const check of checks) {
      const wrong = check(ending);
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  };
}
