// Two ring lanes in one region, and a native port beside them: threads of one process.
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
import { LayoutError, TimeoutError, UsageError } from '../../errors.ts';
import { latestInbound } from '../../lane/latest-inbound.ts';
import { LatestOutbound } from '../../lane/latest-outbound.ts';
import type { Outbound } from '../../lane/outbound.ts';
import { Outbox, type OverflowPolicy } from '../../lane/outbox.ts';
import { RingInbound } from '../../lane/ring-inbound.ts';
import { RingOutbound } from '../../lane/ring-outbound.ts';
import { SideChannel } from '../../lane/side-channel.ts';
import { INBOX_BYTES_DEFAULT, ROOM_PATIENCE_MS } from '../../limits.ts';
import type { NativePair } from '../../memory/handshake.ts';
import * as layout from '../../memory/layout.ts';
import type { Region } from '../../memory/region.ts';
import type { CloseReason } from '../../outcome.ts';
import { CLOSED, EMPTY } from '../../outcome.ts';
import { Consumer } from '../../ring/consumer.ts';
import { Producer } from '../../ring/producer.ts';
import { AsyncWait, DoorbellWait, type EventLoopWait } from '../../wait/async.ts';
import { BlockingWait } from '../../wait/block.ts';
import { ANYTHING, awaitPosition, DATA, INTERRUPT, PASSED, SPACE, Waker } from '../../wait/signal.ts';
import { Spin } from '../../wait/spin.ts';
import type { Mark, Stats, Transport, TransportEvents } from '../transport.ts';
import { Jam } from './jam.ts';
import { Life } from './life.ts';
import { EndTeller } from './remains.ts';
import { statsOf } from './stats.ts';

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
  readonly asyncPark: 'wait-async' | 'doorbell';
  /**
   * Milliseconds that a blocked thread sleeps before it finds out by itself whether its peer's thread was killed;
   * Infinity where that cannot happen to it.
   */
  readonly livenessSliceMs: number;
  /** Milliseconds that a blocked sender waits for a batch of room before it takes any. */
  readonly roomPatienceMs?: number;
  /** Bytes that are set aside while this thread is blocked in `send`. */
  readonly inboxLimit?: number;
  /** Whether `life.peerThreadEnded` will be called when the peer's thread ends; it knows more than the tether. */
  readonly peerEndTold: boolean;
  /** Milliseconds that a blocked call waits for the other end to be opened; Infinity where that may take any time. */
  readonly startTimeoutMs: number;
}

export class SharedRingTransport implements Transport {
  readonly canBlock: boolean = platform.canBlock;
  /** Shared by blocked waits and the event loop: what one learns of the traffic holds for the other. */
  readonly spin: Spin;
  readonly life: Life;
  readonly stats: () => Stats;
  readonly #words: Int32Array;
  /** Word indexes of this side's and the other side's block. */
  readonly #here: number;
  readonly #there: number;
  readonly #out: Outbound;
  readonly #in: RingInbound;
  readonly #side: SideChannel;
  readonly #blocking: BlockingWait;
  readonly #loop: EventLoopWait;
  /** Wakes a peer that sleeps until it is interrupted. */
  readonly #caller: Waker;
  readonly #startTimeoutMs: number;
  /** The region cannot be trusted any more: nothing in it is looked at again. */
  #damaged = false;
  readonly #roomPatienceMs: number;
  readonly #inboxLimit: number;
  readonly #jam: Jam;
  /** Damage found while nobody was there to throw at; the next `tryReceive` throws it. */
  #damageFound: unknown;
  #leftOverTaken = false;
  #error: unknown;
  /** The left-over was asked for and has not come: only the event loop can take it in. */
  #leftOverAwaited = false;

  readonly #inboundReady = (): boolean => this.#in.ready;
  readonly #readable = (): boolean =>
    this.#damaged || this.#looked(this.#inboundReady) || (this.life.over && !this.awaitsEventLoop);

  constructor(
    region: Region,
    side: 0 | 1,
    natives: NativePair,
    peerLife: SharedArrayBuffer | null,
    options: SharedRingOptions,
    events: TransportEvents,
  ) {
    const { words } = region.views;
    const here = side === 0 ? layout.SIDE_0 : layout.SIDE_1;
    const there = side === 0 ? layout.SIDE_1 : layout.SIDE_0;
    const outLane = region.lanes[side];
    const inLane = region.lanes[side === 0 ? 1 : 0];
    this.#words = words;
    this.#here = here;
    this.#there = there;
    this.spin = new Spin(options.spinUs);
    this.#roomPatienceMs = options.roomPatienceMs ?? ROOM_PATIENCE_MS;
    this.#side = new SideChannel(natives, {
      arrived: () => events.woken(),
      closed: () => {
        if (!options.peerEndTold || this.life.over) this.life.peerThreadEnded();
      },
    });
    if (peerLife !== null) this.#side.watchLife(peerLife);
    const teller = new EndTeller(words, here, there, this.#side.natives);
    this.life = new Life(words, there, teller, {
      lastWords: (reason) => this.#lastWords(reason),
      woken: () => events.woken(),
    });
    const doorbell = (): void => this.#side.doorbell();
    const park = there + layout.PARK;
    const wakes = here + layout.WAKES;
    const dataBell = new Waker(words, park, DATA, doorbell, wakes);
    const spaceBell = new Waker(words, park, SPACE, doorbell, wakes, there + layout.AWAITED);
    this.#caller = new Waker(words, park, INTERRUPT, doorbell, wakes);
    this.#inboxLimit = options.inboxLimit ?? INBOX_BYTES_DEFAULT;
    this.#jam = new Jam(words, side, () => spaceBell.ring());
    const outbox = new Outbox(options.overflow, options.highWaterMark, options.outboxLimit);
    const encoder = options.codec.createEncoder(options.codecOptions);
    const failed = (error: unknown): void => events.failed(error);
    this.#out =
      options.overflow === 'latest'
        ? new LatestOutbound(
            region,
            side,
            dataBell,
            encoder,
            options.codec.kind,
            this.#side,
            outbox,
            () => this.life.tellLater(),
            failed,
          )
        : new RingOutbound(
            region.views,
            outLane,
            new Producer(outLane, dataBell, true),
            encoder,
            options.codec.kind,
            this.#side,
            region.messageMax,
            outbox,
            options.spinUs > 0,
            there + layout.RELEARN,
            failed,
          );
    const decoders = new Decoders(options.codecs, options.codecOptions);
    this.#in = new RingInbound(
      region.views,
      inLane,
      new Consumer(inLane, spaceBell),
      decoders,
      this.#side,
      region.messageMax,
      here + layout.RELEARN,
      () => latestInbound(inLane, spaceBell, this.#side),
    );
    const sleeps = here + layout.PARKS;
    this.#startTimeoutMs = options.startTimeoutMs;
    const sliceMs = options.livenessSliceMs;
    this.#blocking = new BlockingWait(words, here + layout.PARK, sleeps, this.spin, sliceMs, () => {
      const how = this.#side.peerGone();
      if (how !== undefined) this.life.peerVanished(how);
    });
    this.#loop =
      options.asyncPark === 'wait-async'
        ? new AsyncWait(words, here + layout.PARK, sleeps, () => events.woken())
        : new DoorbellWait(words, here + layout.PARK, sleeps);
    this.stats = () => statsOf(region, side, outbox, this.#out, this.life.over);
    this.life.begin(this);
  }

  get ended(): CloseReason | undefined {
    return this.life.ended;
  }
  get endedHere(): boolean {
    return this.life.endedHere;
  }
  get error(): unknown {
    if (this.ended !== 'crash' || this.life.endedHere) return undefined;
    // The thread's own words come first: the event loop may hear nothing, or less.
    this.#error ??= this.#side.peerError ?? this.life.error;
    return this.#error;
  }
  get attached(): boolean {
    return this.#taken === 1;
  }
  /** Whether the other side was taken: 1 by a thread, 2 so that none will ever have it. */
  get #taken(): number {
    // SYNC attach-once: a plain look; pairs with claimSide. What is taken right now closes the native ports itself.
    return Atomics.load(this.#words, this.#there + layout.ATTACHED);
  }
  get ports(): readonly unknown[] {
    return this.#in.ports;
  }
  get writable(): boolean {
    return this.#judging(() => this.#out.writable);
  }
  get backlog(): number {
    return this.#out.backlog;
  }
  get ready(): boolean {
    return this.#readable();
  }

  get awaitsEventLoop(): boolean {
    return this.#in.awaitsSide || (this.#leftOverAwaited && !this.#side.spillArrived);
  }

  get progressed(): boolean {
    return this.#out.progressed;
  }

  trySend(value: unknown, transfer?: readonly unknown[]): boolean {
    return this.#judging(() => this.#out.trySend(value, transfer));
  }
  post(value: unknown, transfer?: readonly unknown[]): void {
    this.#judging(() => this.#out.post(value, transfer));
  }
  cork<R>(body: () => R): R {
    return this.#out.producer.cork(body);
  }

  tryReceive(): unknown {
    if (this.#damaged) {
      const error = this.#damageFound;
      this.#damageFound = undefined;
      if (error !== undefined) throw error;
      return CLOSED;
    }
    return this.#judging(() => this.#receive());
  }

  mark(): Mark {
    return this.#out.mark();
  }
  takenUpTo(mark: Mark): boolean {
    if (this.#damaged) return false;
    if (mark.position === undefined) this.pump();
    return this.#judging(() => this.#out.isTaken(mark));
  }
  passed(mark: Mark): boolean {
    return this.#damaged || this.#looked(() => this.#out.isTaken(mark));
  }
  pump(): boolean {
    return this.#judging(() => this.#out.pump());
  }

  waitReadable(timeoutMs: number, interruptible = false): boolean {
    // Inside cork too: the answer may be to what the peer cannot see yet.
    this.#out.producer.publish();
    const moves = this.#out.backlog > 0;
    if (!moves && !interruptible) return this.#wait(DATA, this.#readable, timeoutMs);
    const look = (): boolean => {
      if (moves) {
        // What waits in the outbox goes on while this thread is blocked.
        this.pump();
        // Also inside cork: nobody would make room for the rest.
        this.#out.producer.publish();
      }
      return this.#readable() || (interruptible && this.interrupted !== 0);
    };
    return this.#wait((moves ? ANYTHING : DATA) | (interruptible ? INTERRUPT : 0), look, timeoutMs);
  }

  waitProgress(done: () => boolean, timeoutMs: number): boolean {
    try {
      return this.#waitProgress(done, timeoutMs);
    } finally {
      this.#jam.leave();
    }
  }
  #waitProgress(done: () => boolean, timeoutMs: number): boolean {
    const start = performance.now();
    const tried = (): boolean => {
      this.#judging(() => this.#out.look());
      const yes = done();
      // What it moved in, also inside cork: nobody would make room for the rest.
      this.#out.producer.publish();
      return yes;
    };
    // While traffic flows, room comes a quarter of the ring at once; a wake-up for every message would cost more than the
    // messages. But the peer may take one and then wait for us: after a while any room will do.
    let patient = true;
    while (!tried()) {
      // Two threads that send to each other would wait for ever if neither took in what the other has sent.
      let roomAside = true;
      while ((roomAside = this.#in.stashedBytes < this.#inboxLimit) && this.#judging(() => this.#in.stash()));
      // Who has a time limit goes on at the end of it, and takes in what is there then.
      const jams = !roomAside && timeoutMs === Number.POSITIVE_INFINITY;
      const next = jams ? this.#jam.next() : 'sleep';
      if (next === 'again') continue;
      if (next === 'jammed') throw deadlock();
      const batches = patient;
      const look = (): boolean => {
        const room = batches ? this.#out.progressed : tried();
        return room || this.life.over || (roomAside ? this.#looked(() => this.#in.stashable) : jams && this.#jam.news);
      };
      const left = timeoutMs - (performance.now() - start);
      if (left <= 0) return tried();
      const interest = (roomAside ? ANYTHING : SPACE) | (batches ? 0 : this.#await(this.#out.untaken));
      const slice = batches ? Math.min(left, this.#roomPatienceMs) : left;
      if (this.#wait(interest, look, slice)) {
        if (this.life.over) return tried();
      } else if (slice < left) patient = false;
      else return tried();
    }
    return true;
  }

  park(data: boolean, space: boolean, taken?: Mark): boolean {
    let interest = (data ? DATA : 0) | (space ? SPACE : 0);
    if (taken !== undefined) interest |= this.#await(this.#out.awaits(taken));
    return this.#loop.park(interest, () => {
      if (data ? this.#readable() : this.life.over) return true;
      return (space && this.#out.progressed) || (taken !== undefined && this.passed(taken));
    });
  }
  /** What to announce in order to be rung when the peer has taken everything before `position`. */
  #await(position: number | undefined): number {
    if (position === undefined) return SPACE;
    awaitPosition(this.#words, this.#here + layout.AWAITED, position);
    return PASSED;
  }
  unpark(): void {
    this.#loop.unpark();
  }

  hold(held: boolean): void {
    this.#side.hold(held);
  }
  keep(port: object | undefined): void {
    this.life.keep(port);
  }

  interrupt(word: number): void {
    // SYNC interrupt: there before the ring below; a word and nothing else; pairs with interrupted.
    Atomics.store(this.#words, this.#there + layout.INTERRUPT, word);
    this.#caller.ring();
  }
  get interrupted(): number {
    return Atomics.load(this.#words, this.#here + layout.INTERRUPT);
  }
  clearInterrupt(word?: number): number {
    const at = this.#here + layout.INTERRUPT;
    // SYNC interrupt: pairs with interrupt; one that comes in between is not lost, it is returned, or it stays.
    if (word !== undefined) return Atomics.compareExchange(this.#words, at, word, 0);
    return Atomics.exchange(this.#words, at, 0);
  }

  /** Tells the other side's event loop that this end has been opened. */
  hello(): void {
    this.#side.doorbell();
  }

  announceLife(life: SharedArrayBuffer): void {
    this.#side.announceLife(life);
  }

  close(reason: CloseReason): void {
    try {
      this.life.end(reason);
    } finally {
      this.#side.close(this.#taken !== 0);
    }
  }

  /**
   * Blocks; as BlockingWait does it.
   * @throws TimeoutError if the other end has not been opened in time
   */
  #wait(interest: number, look: () => boolean, timeoutMs: number): boolean {
    const startMs = this.#startTimeoutMs;
    if (timeoutMs <= startMs || this.attached) return this.#blocking.wait(interest, look, timeoutMs);
    if (this.#blocking.wait(interest, look, startMs)) return true;
    if (this.attached) return this.#blocking.wait(interest, look, timeoutMs - startMs);
    throw new TimeoutError(
      `Cannot wait any longer: the worker has not opened its end of the channel in ${startMs} ms; see whether its module loads at all (\`await port.ready\` tells), call parentPort() in it before anything that takes long, or raise startTimeoutMs`,
      { timeoutMs: startMs },
    );
  }

  /** Sends off what this side has accepted and not sent yet; how many frames it left in the side channel (T2). */
  #lastWords(reason: CloseReason): number {
    this.#out.shut();
    try {
      return reason === 'lost' ? 0 : this.#out.spill();
    } finally {
      // What cork holds back was sent, too.
      this.#out.producer.publish();
    }
  }

  #receive(): unknown {
    const value = this.#in.tryReceive();
    if (value !== EMPTY) return value;
    // Somebody who only polls has no other moment for what waits in the outbox, or for what cork holds back.
    if (this.#out.backlog > 0) this.#out.pump();
    this.#out.producer.publish();
    if (this.#in.awaitsSide || !this.life.over) return EMPTY;
    // The end was seen after the ring was found empty: what came in between is there now (T1).
    const last = this.#in.tryReceive();
    return last !== EMPTY || this.#in.awaitsSide ? last : this.#leftOver();
  }

  /** What the peer left beside the ring when it ended, then `CLOSED`. */
  #leftOver(): unknown {
    if (!this.#leftOverTaken) {
      const frames = this.life.spilled > 0 ? this.#side.takeSpill() : [];
      this.#leftOverAwaited = frames === undefined && !platform.canTake;
      if (this.#leftOverAwaited) return EMPTY;
      this.#leftOverTaken = true;
      this.#in.takeLeftOver(frames ?? []);
    }
    const value = this.#in.tryReceive();
    return value === EMPTY ? CLOSED : value;
  }

  /** A look at the ring by somebody who cannot be thrown at. Damage counts as something to be read. */
  #looked(look: () => boolean): boolean {
    try {
      return look();
    } catch (error) {
      this.#damageFound = this.#judged(error);
      return true;
    }
  }

  /** Damaged memory ends the channel, whatever was being done; every other error is its caller's alone. */
  #judging<R>(body: () => R): R {
    try {
      return body();
    } catch (error) {
      throw this.#judged(error);
    }
  }
  #judged(error: unknown): unknown {
    if (error instanceof LayoutError) {
      this.#damaged = true;
      this.life.end('lost');
      // Nothing is read any more. It breaks the tether too, which the peer hears of even while it does not look.
      this.#side.close(this.#taken !== 0);
      this.life.tellLater();
    }
    return error;
  }
}

function deadlock(): UsageError {
  return new UsageError(
    'ERR_DEADLOCK',
    'Cannot send: both sides are blocked in send(), and each has set aside as much as it may of what the other sent; receive first, then send again',
  );
}
