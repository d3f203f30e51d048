// What carries values at one end of a region: its two lanes, and the ways to wait for them. Made when the first value is sent or asked
// for: most of what an end takes is here, and of ten thousand channels few are busy at a time (docs/decisions/0034).
//
// Longer than most files: it is a list of what is made of what.
import { platform } from '#platform';
import { Decoders } from '../../codec/choose.ts';
import type { Codec, CodecOptions } from '../../codec/codec.ts';
import { LaneInbound } from '../../lane/inbound.ts';
import type { Inbound, Outbound } from '../../lane/lane.ts';
import { LatestOutbound } from '../../lane/latest-outbound.ts';
import type { InboundLuggage, OutboundLuggage } from '../../lane/luggage.ts';
import { LaneOutbound } from '../../lane/outbound.ts';
import { Outbox, type OverflowPolicy } from '../../lane/outbox.ts';
import { LatestSource, RingInboundNotes, RingOutboundNotes, RingSink, RingSource } from '../../lane/ring-records.ts';
import { INBOX_BYTES_DEFAULT, ROOM_PATIENCE_MS } from '../../limits.ts';
import * as layout from '../../memory/layout.ts';
import type { Region } from '../../memory/region.ts';
import { AboveWait } from '../../wait/async.ts';
import { BlockingWait } from '../../wait/block.ts';
import { DATA, SPACE, Waker } from '../../wait/signal.ts';
import { Spin } from '../../wait/spin.ts';
import type { Blocking, Interrupts, LoopWait, TransportEvents } from '../transport.ts';
import { RingBlocking } from './blocking.ts';
import type { Damage } from './damage.ts';
import { Awaited, RingLoop } from './interests.ts';
import { WordInterrupts } from './interrupts.ts';
import { Jam } from './jam.ts';
import type { Life } from './life.ts';
import { Reading } from './reading.ts';
import { RingSelecting } from './selecting.ts';
import type { Tie } from './tie.ts';
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

/** What the end that it is made for knows. */
export interface TrafficParts {
  readonly region: Region;
  readonly side: 0 | 1;
  readonly tie: Tie;
  readonly options: SharedRingOptions;
  readonly events: TransportEvents;
  readonly life: Life;
  readonly damage: Damage;
  /** Whether anybody has, or has had, the other end. */
  readonly attached: () => boolean;
  /** How long a blocked thread sleeps by now before it asks for the other agent. */
  readonly sliceMs: () => number;
}

export class RingTraffic {
  readonly out: Outbound;
  readonly in: Inbound;
  readonly loop: LoopWait;
  readonly blocking: Blocking | undefined;
  readonly selecting: RingSelecting | undefined;
  readonly interrupts: Interrupts;
  readonly lane: SendingLane;
  readonly inbound: LaneInbound;
  readonly outbox: Outbox;

  /** @throws LayoutError if the region, or what has come along, makes no sense */
  constructor({ region, side, tie, options, events, life, damage, attached, sliceMs }: TrafficParts) {
    const { views } = region;
    const { words } = views;
    const here = side === 0 ? layout.SIDE_0 : layout.SIDE_1;
    const there = side === 0 ? layout.SIDE_1 : layout.SIDE_0;
    const outLane = region.lanes[side];
    const inLane = region.lanes[side === 0 ? 1 : 0];
    const { parking, beside, lending, leftOver, peer } = tie;
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
    const lane =
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
            looked: (look) => damage.looked(look),
            awaitedCame: () => life.tellLater(),
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
            beside.letGoBefore(number);
            inNotes.besideTaken(number);
          },
          newest,
        ),
      luggage: luggage?.in,
    });
    this.lane = lane;
    this.inbound = inbound;
    this.outbox = outbox;
    const writing = new Writing(lane, damage);
    const reading = new Reading(inbound, lane, life, leftOver, damage);
    this.out = writing;
    this.in = reading;

    const sleeps = here + layout.PARKS;
    const awaited = new Awaited(words, here);
    const spin = new Spin(options.spinUs);
    const rest = parking.onLoop(sleepsHere, sleeps, () => events.woken());
    const restAbove = new AboveWait(sleepsHere, sleeps, () => peer.rest());
    this.loop = new RingLoop(spin, rest, restAbove, peer, awaited, lane, reading, life, damage);
    this.interrupts = new WordInterrupts(words, here, there, sleepsThere, doorbell, wakes, above);
    this.blocking =
      !platform.canBlock || sleepsHere.blocks === 0
        ? undefined
        : new RingBlocking({
            wait: new BlockingWait(peer.quietly?.(sleepsHere) ?? sleepsHere, sleeps, spin, sliceMs, () => {
              // If it is gone, `closed` has told.
              peer.peerGone();
            }),
            awaited,
            jam: new Jam(words, side, () => spaceBell.ring()),
            lanes: { out: lane, in: inbound },
            writing,
            reading,
            life: life,
            damage,
            interrupts: this.interrupts,
            atWill: beside.atWill,
            attached,
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
        out: lane,
        writing,
        reading,
        damage,
        atWill: beside.atWill,
        attached,
        startTimeoutMs: options.startTimeoutMs,
      });
  }
}
