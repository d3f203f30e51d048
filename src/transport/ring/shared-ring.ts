// Two ring lanes in one region, and what ties its ends together beside it (tie.ts). One end of it as it is before the first value,
// and how it ends (life.ts); what carries values is made when that is asked for (traffic.ts).
//
// Invariants:
// T1. Draining: an end that has seen the peer's CLOSED word looks at the ring once more before it reports the end.
//     The peer publishes before it stores CLOSED, so what it sent is there by then.
// T2. An ending side leaves its outbox in the side channel first, then says how many frames (SPILLED), then CLOSED.
//     A page of a browser, whose reader may be blocked and would not find that, says -1 and lets it follow through the
//     lane; then it says so again.
// T3. Whoever is blocked looks for the peer's end too, and every end rings: by itself (close, thread end), or through
//     the tether, or found in a slice of a blocked wait.
import { platform } from '#platform';
import { packed } from '../../codec/packed.ts';
import { LayoutError } from '../../errors.ts';
import type { Failure } from '../../lane/inbox.ts';
import type { Inbound, Outbound } from '../../lane/lane.ts';
import { LIVENESS_SLICE_DEAF_MS, LIVENESS_SLICE_MS } from '../../limits.ts';
import * as layout from '../../memory/layout.ts';
import type { Region } from '../../memory/region.ts';
import { takenBy, wasTaken } from '../../memory/sides.ts';
import type { CloseReason, EndReason } from '../../outcome.ts';
import type {
  Blocking,
  Interrupts,
  Link,
  LoopWait,
  Snapshot,
  Stats,
  Transport,
  TransportEvents,
} from '../transport.ts';
import { Damage } from './damage.ts';
import { Life } from './life.ts';
import type { RingSelecting } from './selecting.ts';
import { statsOf } from './stats.ts';
import type { Tie, TieEvents } from './tie.ts';
import { type RingLuggage, RingTraffic, type SharedRingOptions, type TrafficParts } from './traffic.ts';

export type { RingLuggage, SharedRingOptions } from './traffic.ts';

/** Ends that are closed and send on what they had accepted. Nobody else may hold them. */
const following = new Set<SharedRingTransport>();

export class SharedRingTransport implements Transport {
  readonly life: Life;
  readonly #words: Int32Array;
  /** Word index of the other side's block. */
  readonly #there: number;
  readonly #tie: Tie;
  /** Made with what may meet it. */
  #damage: Damage | undefined;
  protected readonly region: Region;
  protected readonly side: 0 | 1;
  readonly #options: SharedRingOptions;
  readonly #events: TransportEvents;
  #made: RingTraffic | undefined;
  /** It is closed for who has it, though what it had accepted may still follow. */
  #closing: EndReason | undefined;
  #error: unknown;

  /** @param tieUp ties this end to the other one; called once, before anything is sent */
  constructor(
    region: Region,
    side: 0 | 1,
    tieUp: (events: TieEvents) => Tie,
    options: SharedRingOptions,
    events: TransportEvents,
  ) {
    const { words } = region.views;
    const there = side === 0 ? layout.SIDE_1 : layout.SIDE_0;
    this.#words = words;
    this.#there = there;
    this.#options = options;
    // Before anything can ring: it may, also where what came with this end makes no sense and the rest of this throws.
    this.#events = events;
    const tie = tieUp({
      arrived: () => this.#woken(),
      // Missing where what came with this end made no sense.
      closed: (how, error) => (this.life as Life | undefined)?.peerThreadEnded(how, error),
    });
    this.#tie = tie;
    const { beside, peer } = tie;
    this.life = new Life(words, there, tie, {
      lastWords: (reason) => this.#lastWords(reason),
      woken: () => {
        if (this.life.over) {
          this.#made?.lane.abandon();
          peer.peerOver();
          if (!this.life.endedHere) beside.peerOver();
        }
        this.#woken();
      },
    });
    this.region = region;
    this.side = side;
    checkStart(region, side);
    // What has come along makes sense, or the end is none; and a sender of the newest only says so before anything else.
    if (options.luggage !== undefined || options.overflow === 'latest') void this.#traffic;
    this.life.begin();
  }

  get dormant(): boolean {
    return this.#made === undefined;
  }
  get out(): Outbound {
    return this.#traffic.out;
  }
  get in(): Inbound {
    return this.#traffic.in;
  }
  get loop(): LoopWait {
    return this.#traffic.loop;
  }
  get blocking(): Blocking | undefined {
    return this.#traffic.blocking;
  }
  get selecting(): RingSelecting | undefined {
    return this.#traffic.selecting;
  }
  get interrupts(): Interrupts {
    return this.#traffic.interrupts;
  }
  get #traffic(): RingTraffic {
    this.#made ??= this.#make();
    return this.#made;
  }
  #make(): RingTraffic {
    const region = this.region;
    const side = this.side;
    const damage = new Damage(() => this.#lost());
    this.#damage = damage;
    const parts: TrafficParts = {
      region,
      side,
      tie: this.#tie,
      options: this.#options,
      events: this.#tie.beside.atWill
        ? this.#events
        : { woken: () => this.#woken(), failed: (error) => this.#events.failed(error) },
      life: this.life,
      damage,
      attached: () => this.#met,
      sliceMs: () => this.#sliceMs,
    };
    try {
      return new RingTraffic(parts);
    } catch (error) {
      // What has come along is a matter of who opens this end. Else somebody has written to words of ours meanwhile, and that is damage.
      // It is for who reads here: whoever asks first may be about another channel, which carries this end or is selected with it.
      if (this.#options.luggage !== undefined || !(error instanceof LayoutError)) throw error;
      damage.looked(() => {
        throw error;
      });
      region.views.words[region.lanes[side].block + layout.TAIL] = 0;
      region.views.words[region.lanes[side === 0 ? 1 : 0].block + layout.HEAD] = 0;
      return new RingTraffic(parts);
    }
  }

  get link(): Link | undefined {
    return this.#tie.behind?.link;
  }
  get ended(): CloseReason | undefined {
    return this.#closing ?? this.life.ended;
  }
  get follows(): boolean {
    return this.#closing === undefined && this.life.follows;
  }

  inspect(): Snapshot {
    return {
      attached: this.#met,
      endedHere: this.#closing !== undefined || this.life.endedHere,
      error: this.#errorOfPeer(),
      exit: this.#tie.behind?.exit,
      way: this.#tie.behind?.way,
      stats: () => this.#stats(),
    };
  }
  #stats(): Stats {
    const { outbox, lane } = this.#made ?? NOTHING_SENT;
    const stats = statsOf(this.region, this.side, outbox, lane, this.life.over && this.life.ended !== 'detached');
    const way = this.#tie.behind?.way;
    return way === undefined ? stats : { ...stats, way };
  }
  #errorOfPeer(): unknown {
    if (this.life.ended !== 'crash' || this.life.endedHere) return undefined;
    // The thread's own words come first: the event loop may hear nothing, or less.
    this.#error ??= this.#tie.peer.peerError ?? this.life.error;
    return this.#error;
  }
  /** Whether the other side was taken: 1 by a thread, 2 so that none will ever have it. */
  get #taken(): number {
    // SYNC attach-once: a plain look; pairs with claimSide. What is taken right now closes the native ports itself.
    return takenBy(Atomics.load(this.#words, this.#there + layout.ATTACHED));
  }

  /** Whether a thread has ever had the other side: it may be on its way to the next one. */
  get #met(): boolean {
    // SYNC attach-once: a plain look; pairs with claimSide and giveUpSide.
    return wasTaken(Atomics.load(this.#words, this.#there + layout.ATTACHED));
  }

  /** What is known of who was at the other end first holds for nobody who came after. */
  get #sliceMs(): number {
    const { livenessSliceMs } = this.#options;
    // Who takes nothing in while it is blocked would ask in vain.
    if (!this.#tie.beside.atWill) return Math.max(livenessSliceMs, LIVENESS_SLICE_DEAF_MS);
    // SYNC moved: a plain look; pairs with ChannelLines.leave, which wakes who sleeps by an older answer.
    const moved = Atomics.load(this.#words, this.#there + layout.MOVES) !== 0;
    return moved ? Math.min(livenessSliceMs, LIVENESS_SLICE_MS) : livenessSliceMs;
  }

  hold(held: boolean): void {
    this.#tie.peer.hold(held);
  }
  keep(port: object | undefined): void {
    this.life.keep(port);
  }

  close(reason: EndReason): void {
    if (this.#letFollow(reason)) return;
    this.#end(reason);
  }
  #end(reason: EndReason): void {
    try {
      this.life.end(reason);
    } finally {
      this.#letGo();
    }
  }

  /**
   * A blocked reader finds no left-over where it takes nothing in at will: there what waits goes into the ring as room is made. Only
   * from a thread that never blocks itself, and so comes to do it.
   */
  #letFollow(reason: EndReason): boolean {
    const made = this.#made;
    const blocks = platform.canBlock || this.#tie.beside.atWill;
    if (blocks || reason !== 'closed' || made === undefined || this.#options.overflow === 'latest') return false;
    const { lane, inbound } = made;
    if (lane.busy || this.life.over || this.#damage?.looked(() => lane.pump()) !== false) return false;
    lane.shut();
    lane.sink.publish();
    this.#closing = reason;
    following.add(this);
    this.life.follow(reason);
    inbound.letGo();
    // Whoever closes it may still take back what was announced before.
    platform.turn(() => this.#goOn());
    return true;
  }
  #goOn(): void {
    if (!following.has(this)) return;
    const { lane, loop } = this.#traffic;
    loop.unpark();
    if (this.life.over || this.#damage?.looked(() => lane.pump()) !== false) {
      following.delete(this);
      // Damage has ended it.
      if (!this.life.endedHere) this.#end('closed');
      return;
    }
    lane.sink.publish();
    if (!loop.park(false, true, undefined)) platform.turn(() => this.#goOn());
  }
  #woken(): void {
    if (this.#closing === undefined) this.#events.woken();
    else this.#goOn();
  }

  /** Why this end cannot go over to another thread now, if it cannot. */
  get staysFor(): string | undefined {
    // Damage that can be found is found before anything leaves.
    const { lane } = this.#traffic;
    this.#damage?.looked(() => !lane.pump());
    if (this.life.endedHere) return 'it was closed, or its channel is damaged';
    return lane.busy ? 'a getter of a value that it is sending has asked for it' : undefined;
  }
  /** This end goes over to another thread: what is to go along. Here it does nothing any more. */
  protected pack(owed?: Failure): RingLuggage {
    try {
      const { loop, lane, inbound } = this.#traffic;
      loop.unpark();
      const out = lane.leave();
      const inward = inbound.leave(packed.createEncoder(), packed.kind, owed);
      this.life.leave();
      return { out, in: inward };
    } catch (error) {
      this.#lost();
      throw error;
    }
  }

  /** Damaged memory: nothing is read any more. It breaks the tether too, which the peer hears of even while it does not look. */
  #lost(): void {
    this.life.end('lost');
    this.#letGo();
    this.life.tellLater();
  }

  /** Nothing is read here any more, nor sent. */
  #letGo(): void {
    this.#made?.inbound.letGo();
    this.#made?.lane.abandon();
    this.#tie.close(this.#taken !== 0);
  }

  /** Sends off what this side has accepted and not sent yet; how many frames it left in the side channel (T2). */
  #lastWords(reason: CloseReason): number {
    const lane = this.#made?.lane;
    if (lane === undefined) return 0;
    lane.shut();
    try {
      return reason === 'lost' ? 0 : lane.spill();
    } finally {
      // What cork holds back was sent, too.
      lane.sink.publish();
    }
  }
}

const NOTHING_SENT = { outbox: { drops: 0, bytes: 0, peak: 0 }, lane: { unsent: 0, failures: 0 } };

/** Where this end is to begin makes sense: said now, to who opens it. @throws LayoutError */
function checkStart({ views: { words }, lanes }: Region, side: 0 | 1): void {
  const tail = Atomics.load(words, lanes[side].block + layout.TAIL);
  const head = Atomics.load(words, lanes[side === 0 ? 1 : 0].block + layout.HEAD);
  if (((tail | head) & 7) === 0) return;
  throw new LayoutError(`Cannot begin at TAIL ${tail} and HEAD ${head}: positions are multiples of 8`);
}
