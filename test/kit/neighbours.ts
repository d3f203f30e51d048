// Other channels on the links that a test's channels use, so that whatever a suite does is done beside them:
// `npm test -- --neighbours 100`, or MILLRACE_TEST_NEIGHBOURS=100. Most of them carry numbered messages both ways for as long as
// the test runs; some are full, closed, damaged, slow, idle, or carry what cannot be decoded. They must not disturb the suite,
// and the suite must not disturb them: a message that is missing, too many or late is an error outside of every test.
//
// Whoever tests ports over threads imports this: then both ends in this thread have neighbours. `startThread` and `spawnThread`
// give some to each of their threads.
import process from 'node:process';
import { setInterval } from 'node:timers';
import { isMainThread } from 'node:worker_threads';
import {
  attach,
  type ChannelOptions,
  CLOSED,
  type CloseReason,
  channel,
  MillraceError,
  type Port,
  type Remote,
} from '../../src/index.ts';
import { LANE_0, LANE_1, TAIL } from '../../src/memory/layout.ts';
import { openRegion } from '../../src/memory/region.ts';
import { hasUnreadable, unreadable } from './unreadable-value.ts';

/** How many there are on each link; 0 without the switch. */
export const neighbourCount: number = Number(process.env['MILLRACE_TEST_NEIGHBOURS'] ?? 0);

export type Manner = 'busy' | 'idle' | 'slow' | 'full' | 'closed' | 'damaged' | 'undecodable';
/** What some of every twenty are like; the others are busy. */
const MANNERS: readonly Manner[] = ['busy', 'full', 'busy', 'closed', 'slow', 'busy', 'damaged', 'idle', 'undecodable'];
const mannerOf = (index: number): Manner => MANNERS[index % 20] ?? 'busy';
/** Those whose end is the other thread's. */
const LASTING: readonly Manner[] = ['busy', 'idle', 'slow', 'full'];

const OPTIONS: ChannelOptions = { capacityBytes: 2048, outboxBytes: 8192 };
const TICK_MS = 2;
/** Of one link, in one tick. */
const SPEAKERS = 5;
/** A tick is a turn of the event loop: what takes so many of them, here in this thread, does not come. */
const TURNS_MAX = 2_000;

/** What one side does with one neighbour. */
class Inhabitant {
  readonly port: Port;
  readonly manner: Manner;
  readonly #memory: SharedArrayBuffer;
  readonly #side: 0 | 1;
  sent = 0;
  heard = 0;

  constructor(port: Port, { memory }: Pick<Remote, 'memory'>, side: 0 | 1, manner: Manner) {
    this.port = port;
    this.manner = manner;
    this.#memory = memory;
    this.#side = side;
    port.unref();
    // What may have gone wrong there is this neighbour's own affair.
    const errs = manner === 'undecodable' || manner === 'damaged';
    port.onmessageerror = ({ data }) => this.#expect(errs && data instanceof MillraceError, data);
    if (manner === 'busy' || manner === 'damaged' || manner === 'undecodable')
      port.on('message', (value) => this.#hear(value));
    if (manner === 'closed' && side === 1) port.close();
  }

  #expect(fine: boolean, found: unknown): void {
    if (!fine)
      wrong(`a ${this.manner} neighbour, side ${this.#side}, after ${this.heard} messages met ${String(found)}`);
  }
  #hear(value: unknown): void {
    if (this.manner !== 'busy') return;
    const number = value instanceof ArrayBuffer ? new Int32Array(value)[0] : (value as { number?: unknown }).number;
    this.#expect(number === this.heard, number);
    this.heard++;
    heardInAll++;
  }

  speak(): void {
    const { port, manner, sent } = this;
    if (port.reason !== undefined || manner === 'closed' || manner === 'idle') return;
    if (manner === 'damaged' && sent > 3) {
      port.trySend('is it lost?');
      Atomics.store(new Int32Array(this.#memory), this.#lane + TAIL, 12345);
      return;
    }
    if (manner === 'slow' && sent % 16 === 15 && port.tryReceive() === CLOSED) return;
    if (manner === 'undecodable' && sent > 3) this.#sendBroken();
    else if (!this.#send()) return;
    this.sent++;
  }
  #send(): boolean {
    const { port, sent } = this;
    // Every now and then over the native ports of the link.
    if (sent % 8 !== 7) return port.trySend({ number: sent, text: 'neighbour' });
    const moves = Int32Array.of(sent).buffer;
    return port.trySend(moves, [moves]);
  }
  #sendBroken(): void {
    const { lanes, views } = openRegion(this.#memory);
    if (hasUnreadable && this.sent % 2 === 0) return void this.port.trySend(unreadable(), [new ArrayBuffer(1)]);
    const { words } = views;
    const tail = this.#lane + TAIL;
    const from = Atomics.load(words, tail);
    if (!this.port.trySend({ some: 'value that nobody can read' })) return void this.port.tryReceive();
    const { data, capacity } = lanes[this.#side];
    for (let at = from + 8; at !== Atomics.load(words, tail); at++) views.bytes[data + (at & (capacity - 1))] = 255;
  }
  get #lane(): number {
    return this.#side === 0 ? LANE_0 : LANE_1;
  }
}

/** One side of all neighbours on one link. */
class Neighbourhood {
  readonly #all: readonly Inhabitant[];
  #next = 0;
  #live = true;

  constructor(all: readonly Inhabitant[]) {
    this.#all = all;
    neighbourhoods.add(this);
  }
  tick(): void {
    for (let i = 0; i < SPEAKERS; i++) {
      this.#next = (this.#next + 1) % this.#all.length;
      try {
        if (this.#live) (this.#all[this.#next] as Inhabitant).speak();
      } catch (error) {
        // Between the end and its being told.
        if (!(error instanceof MillraceError)) throw error;
      }
    }
  }
  /** The other thread is to end: all that lasts ends with it, for one reason. */
  async untilEnd(): Promise<void> {
    const lasting = this.#all.filter(({ manner }) => LASTING.includes(manner));
    const reasons = new Set<CloseReason>(await Promise.all(lasting.map(({ port }) => port.closed)));
    if (reasons.size !== 1) wrong(`the neighbours on one link have ended for several reasons: ${[...reasons]}`);
    this.#live = false;
    neighbourhoods.delete(this);
    for (const { port } of this.#all) port.close();
  }
}

const neighbourhoods = new Set<Neighbourhood>();
let heardInAll = 0;
/** Messages that busy neighbours in this thread have heard. */
export function neighboursHeard(): number {
  return heardInAll;
}

let ticking = false;
function tick(): void {
  for (const each of neighbourhoods) each.tick();
}
function beginTicking(): void {
  if (ticking) return;
  ticking = true;
  setInterval(tick, TICK_MS).unref();
}

function wrong(what: string): void {
  queueMicrotask(() => {
    throw new Error(what);
  });
}

/** Handles for another thread to attach, and what `settleIn` needs of it. */
export interface Neighbours {
  readonly remotes: readonly Remote[];
  readonly transfer: readonly unknown[];
}

/** Neighbours on the link with a thread that is about to be started; `undefined` without the switch. */
export function neighboursFor(): Neighbours | undefined {
  if (neighbourCount === 0) return undefined;
  const made = Array.from({ length: neighbourCount }, () => channel(OPTIONS));
  const all = made.map(({ port, remote }, i) => new Inhabitant(port, remote, 0, mannerOf(i)));
  void new Neighbourhood(all).untilEnd();
  beginTicking();
  const remotes = made.map(({ remote }) => remote);
  return { remotes, transfer: remotes.flatMap(({ transfer }) => transfer) };
}

/** The other thread's side of them. */
export function settleIn(remotes: readonly Remote[]): void {
  new Neighbourhood(remotes.map((remote, i) => new Inhabitant(attach(remote), remote, 1, mannerOf(i))));
  tick();
  beginTicking();
}

/** Both sides here. */
if (neighbourCount > 0 && isMainThread) {
  const made = Array.from({ length: neighbourCount }, () => channel(OPTIONS));
  const near = made.map(({ port, remote }, i) => new Inhabitant(port, remote, 0, mannerOf(i)));
  const far = made.map(({ remote }, i) => new Inhabitant(attach(remote), remote, 1, mannerOf(i)));
  new Neighbourhood(near);
  new Neighbourhood(far);
  beginTicking();
  let turns = 0;
  let heard = 0;
  setInterval(() => {
    if (heardInAll !== heard) turns = 0;
    heard = heardInAll;
    if (++turns > TURNS_MAX) wrong('the neighbours hear nothing any more');
  }, TICK_MS).unref();
}
