// Two ring lanes in one region, and what ties its ends together beside it (tie.ts). Put together here; what the parts do stands
// in writing.ts and reading.ts (the lanes as a port uses them), interests.ts and blocking.ts (waiting), life.ts.
//
// Longer than most files: it is a list of what is made of what.
//
// Invariants:
// T1. Draining: an end that has seen the peer's CLOSED word looks at the ring once more before it reports the end.
//     The peer publishes before it stores CLOSED, so what it sent is there by then.
// T2. An ending side leaves its outbox in the side channel first, then says how many frames (SPILLED), then CLOSED.
// T3. Whoever is blocked looks for the peer's end too, and every end rings: by itself (close, thread end), or through
//     the tether, or found in a slice of a blocked wait.
import { platform } from '#platform';
import { Decoders } from '../../codec/choose.ts';
import type { Codec, CodecOptions } from '../../codec/codec.ts';
import { packed } from '../../codec/packed.ts';
import { LaneInbound } from '../../lane/inbound.ts';
import type { Inbound, Outbound } from '../../lane/lane.ts';
import { LatestOutbound } from '../../lane/latest-outbound.ts';
import type { InboundLuggage, OutboundLuggage } from '../../lane/luggage.ts';
import { LaneOutbound } from '../../lane/outbound.ts';
import { Outbox, type OverflowPolicy } from '../../lane/outbox.ts';
import { LatestSource, RingInboundNotes, RingOutboundNotes, RingSink, RingSource } from '../../lane/ring-records.ts';
import { INBOX_BYTES_DEFAULT, LIVENESS_SLICE_MS, ROOM_PATIENCE_MS } from '../../limits.ts';
import * as layout from '../../memory/layout.ts';
import type { Region } from '../../memory/region.ts';
import { takenBy, wasTaken } from '../../memory/sides.ts';
import type { CloseReason, EndReason } from '../../outcome.ts';
import { AboveWait } from '../../wait/async.ts';
import { BlockingWait } from '../../wait/block.ts';
import { DATA, SPACE, Waker } from '../../wait/signal.ts';
import { Spin } from '../../wait/spin.ts';
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
import { RingBlocking } from './blocking.ts';
import { Damage } from './damage.ts';
import { Awaited, RingLoop } from './interests.ts';
import { WordInterrupts } from './interrupts.ts';
import { Jam } from './jam.ts';
import { Life } from './life.ts';
import { Reading } from './reading.ts';
import { RingSelecting } from './selecting.ts';
import { statsOf } from './stats.ts';
import type { Tie, TieEvents } from './tie.ts';
import { type SendingLane, Writing } from './writing.ts';

export interface SharedRingOptions {
  readonly codec: Codec;
  /** Every codec whose payloads this end can read. */
  readonly codecs: readonly Codec[];
  /** The same at both ends, as far as it concerns both. */
  readonly codecOptions: CodecOptions;
  readonly overflow: OverflowPolicy;
  readonly highWaterMark: number;
  readonly outboxLimit: number;
  readonly spinUs: number;
  /**
   * Milliseconds that a blocked thread sleeps before it finds out by itself whether its peer's thread was killed;
   * Infinity where that cannot happen to it.
   */
  readonly livenessSliceMs: number;
  /** Milliseconds that a blocked sender waits for a batch of room before it takes any. */
  readonly roomPatienceMs?: number;
  /** Bytes that are set aside while this thread is blocked in `send`. */
  readonly inboxLimit?: number;
  /** Milliseconds that a blocked call waits for the other end to be opened; Infinity where that may take any time. */
  readonly startTimeoutMs: number;
  /** What the end has taken along that this one goes on for. */
  readonly luggage?: RingLuggage | undefined;
}

/** What an end takes along when it goes over to another thread. */
export interface RingLuggage {
  readonly out: OutboundLuggage;
  readonly in: InboundLuggage;
}

export class SharedRingTransport implements Transport {
  readonly out: Outbound;
  readonly in: Inbound;
  readonly loop: LoopWait;
  readonly blocking: Blocking | undefined;
  readonly selecting: RingSelecting | undefined;
  readonly interrupts: Interrupts;
  readonly life: Life;
  readonly #words: Int32Array;
  /** Word index of the other side's block. */
  readonly #there: number;
  readonly #tie: Tie;
  readonly #damage: Damage;
  readonly #inbound: LaneInbound;
  readonly #lane: SendingLane;
  readonly #counted: { readonly region: Region; readonly side: 0 | 1; readonly outbox: Outbox };
  #error: unknown;

  /** @param tieUp ties this end to the other one; called once, before anything is sent */
  constructor(
    region: Region,
    side: 0 | 1,
    tieUp: (events: TieEvents) => Tie,
    options: SharedRingOptions,
    events: TransportEvents,
  ) {
    const { views } = region;
    const { words } = views;
    const here = side === 0 ? layout.SIDE_0 : layout.SIDE_1;
    const there = side === 0 ? layout.SIDE_1 : layout.SIDE_0;
    const outLane = region.lanes[side];
    const inLane = region.lanes[side === 0 ? 1 : 0];
    this.#words = words;
    this.#there = there;
    const tie = tieUp({
      arrived: () => events.woken(),
      // Missing where what came with this end made no sense.
      closed: (how, error) => (this.life as Life | undefined)?.peerThreadEnded(how, error),
    });
    this.#tie = tie;
    const { parking, beside, lending, leftOver, peer } = tie;
    this.life = new Life(words, there, tie.teller, tie.remains, {
      lastWords: (reason) => this.#lastWords(reason),
      woken: () => {
        if (this.life.over) {
          // Missing where the region was found damaged while this end was made of it.
          (this.#lane as SendingLane | undefined)?.abandon();
          peer.peerOver();
          if (!this.life.endedHere) beside.abandon();
        }
        events.woken();
      },
    });
    const damage = new Damage(() => this.#lost());
    this.#damage = damage;

    const doorbell = (): void => peer.doorbell();
    const sleepsHere = parking.place(words, here + layout.PARK);
    const sleepsThere = parking.place(words, there + layout.PARK);
    const wakes = here + layout.WAKES;
    const above = (): void => peer.above();
    const dataBell = new Waker(sleepsThere, DATA, doorbell, wakes, undefined, above);
    const spaceBell = new Waker(sleepsThere, SPACE, doorbell, wakes, there + layout.AWAITED, above);

    const outbox = new Outbox(options.overflow, options.highWaterMark, options.outboxLimit);
    const { luggage } = options;
    const encoder = options.codec.createEncoder(options.codecOptions, luggage?.out.successor);
    const { kind } = options.codec;
    const failed = (error: unknown): void => events.failed(error);
    const outNotes = new RingOutboundNotes(outLane, there + layout.RELEARN);
    this.#lane =
      options.overflow === 'latest'
        ? new LatestOutbound({
            region,
            lane: outLane,
            notes: outNotes,
            bell: dataBell,
            encoder,
            kind,
            beside,
            lending,
            leftOver,
            outbox,
            awaitedCame: () => this.life.tellLater(),
            failed,
            luggage: luggage?.out,
          })
        : new LaneOutbound({
            sink: new RingSink(outLane, views, dataBell),
            notes: outNotes,
            beside,
            lending,
            leftOver,
            encoder,
            kind,
            messageMax: region.messageMax,
            outbox,
            maySpin: options.spinUs > 0,
            failed,
            luggage: luggage?.out,
          });
    const inNotes = new RingInboundNotes(inLane, here + layout.RELEARN);
    const inbound = new LaneInbound({
      source: new RingSource(inLane, views, spaceBell),
      notes: inNotes,
      beside,
      lending,
      decoders: new Decoders(options.codecs, options.codecOptions, luggage?.in.taught),
      messageMax: region.messageMax,
      latest: (newest) =>
        new LatestSource(
          inLane,
          views,
          spaceBell,
          (number) => {
            beside.letGo(number);
            inNotes.besideTaken(number);
          },
          newest,
        ),
      luggage: luggage?.in,
    });
    this.#inbound = inbound;
    const writing = new Writing(this.#lane, damage);
    const reading = new Reading(inbound, this.#lane, this.life, leftOver, damage);
    this.out = writing;
    this.in = reading;

    const sleeps = here + layout.PARKS;
    const awaited = new Awaited(words, here);
    const spin = new Spin(options.spinUs);
    const rest = parking.onLoop(sleepsHere, sleeps, () => events.woken());
    const restAbove = new AboveWait(sleepsHere, sleeps, () => peer.rest());
    this.loop = new RingLoop(spin, rest, restAbove, peer, awaited, this.#lane, reading, this.life, damage);
    this.interrupts = new WordInterrupts(words, here, there, sleepsThere, doorbell, wakes);
    this.blocking =
      !platform.canBlock || sleepsHere.blocks === 0
        ? undefined
        : new RingBlocking({
            wait: new BlockingWait(
              sleepsHere,
              sleeps,
              spin,
              () => this.#livenessSliceMs(options),
              () => {
                // If it is gone, `closed` has told.
                peer.peerGone();
              },
            ),
            awaited,
            jam: new Jam(words, side, () => spaceBell.ring()),
            lanes: { out: this.#lane, in: inbound },
            writing,
            reading,
            life: this.life,
            damage,
            interrupts: this.interrupts,
            atWill: beside.atWill,
            attached: () => this.#met,
            startTimeoutMs: options.startTimeoutMs,
            roomPatienceMs: options.roomPatienceMs ?? ROOM_PATIENCE_MS,
            inboxLimit: options.inboxLimit ?? INBOX_BYTES_DEFAULT,
          });
    const { together } = tie;
    this.selecting =
      together &&
      new RingSelecting({
        together,
        peer,
        sleeps: sleepsHere,
        awaited,
        lanes: { out: this.#lane, in: inbound },
        writing,
        reading,
        life: this.life,
        damage,
        attached: () => this.#met,
        startTimeoutMs: options.startTimeoutMs,
      });
    this.#counted = { region, side, outbox };
    this.life.begin();
  }

  get link(): Link | undefined {
    return this.#tie.behind?.link;
  }
  get ended(): CloseReason | undefined {
    return this.life.ended;
  }

  inspect(): Snapshot {
    return {
      attached: this.#met,
      endedHere: this.life.endedHere,
      error: this.#errorOfPeer(),
      exit: this.#tie.behind?.exit,
      way: this.#tie.behind?.way,
      stats: () => this.#stats(),
    };
  }
  #stats(): Stats {
    const { region, side, outbox } = this.#counted;
    return statsOf(region, side, outbox, this.#lane, this.life.over && this.life.ended !== 'detached');
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
  #livenessSliceMs({ livenessSliceMs }: SharedRingOptions): number {
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
    try {
      this.life.end(reason);
    } finally {
      this.#letGo();
    }
  }

  /** Why this end cannot go over to another thread now, if it cannot. */
  get staysFor(): string | undefined {
    // Damage that can be found is found before anything leaves.
    this.#damage.looked(() => !this.#lane.pump());
    if (this.life.endedHere) return 'it was closed, or its channel is damaged';
    return this.#lane.busy ? 'a getter of a value that it is sending has asked for it' : undefined;
  }
  /** This end goes over to another thread: what is to go along. Here it does nothing any more. */
  protected pack(): RingLuggage {
    try {
      this.loop.unpark();
      const out = this.#lane.leave();
      const inward = this.#inbound.leave(packed.createEncoder(), packed.kind);
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
    this.#inbound.discard();
    this.#lane.abandon();
    this.#tie.close(this.#taken !== 0);
  }

  /** Sends off what this side has accepted and not sent yet; how many frames it left in the side channel (T2). */
  #lastWords(reason: CloseReason): number {
    this.#lane.shut();
    try {
      return reason === 'lost' ? 0 : this.#lane.spill();
    } finally {
      // What cork holds back was sent, too.
      this.#lane.sink.publish();
    }
  }
}
