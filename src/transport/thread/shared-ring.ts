// Two ring lanes in one region, and a native port beside them: threads of one process.
//
// Invariants:
// T1. Draining: an end that has seen the peer's CLOSED word looks at the ring once more before it reports the end.
//     The peer publishes before it stores CLOSED, so what it sent is there by then.
// T2. An ending side leaves its outbox in the side channel first, then says how many frames (SPILLED), then CLOSED.
// T3. Whoever is blocked looks for the peer's end too, and every end rings: by itself (close, thread end), or through
//     the tether, or found in a slice of a blocked wait.
import { platform } from '#platform';
import type { Codec, CodecOptions } from '../../codec/codec.ts';
import { LayoutError } from '../../errors.ts';
import { Outbox, type OverflowPolicy } from '../../lane/outbox.ts';
import { EMPTY, RingInbound } from '../../lane/ring-inbound.ts';
import { RingOutbound } from '../../lane/ring-outbound.ts';
import { SideChannel } from '../../lane/side-channel.ts';
import { INBOX_BYTES_DEFAULT } from '../../limits.ts';
import type { NativePair } from '../../memory/handshake.ts';
import * as layout from '../../memory/layout.ts';
import { CLOSE_CODES, type CloseReason, closeReason } from '../../memory/layout.ts';
import type { Region } from '../../memory/region.ts';
import type { ThreadEnd } from '../../platform/contract.ts';
import { Consumer } from '../../ring/consumer.ts';
import { Producer } from '../../ring/producer.ts';
import { AsyncWait, DoorbellWait, type EventLoopWait } from '../../wait/async.ts';
import { BlockingWait } from '../../wait/block.ts';
import { ANYTHING, DATA, SPACE, Waker } from '../../wait/signal.ts';
import { Spin } from '../../wait/spin.ts';
import { CLOSED, type Mark, type Stats, type Transport, type TransportEvents } from '../transport.ts';
import { endWithThread, forgetThreadEnd } from './thread-end.ts';

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
  /** Whether `peerThreadEnded` will be called when the peer's thread ends; it knows more than the tether. */
  readonly peerEndTold: boolean;
}

export class SharedRingTransport implements Transport {
  readonly canBlock: boolean = platform.canBlock;
  /** Shared by blocked waits and the event loop: what one learns of the traffic holds for the other. */
  readonly spin: Spin;
  readonly #words: Int32Array;
  readonly #region: Region;
  /** Word indexes of this side's and the other side's block. */
  readonly #here: number;
  readonly #there: number;
  readonly #out: RingOutbound;
  readonly #outbox: Outbox;
  readonly #in: RingInbound;
  readonly #side: SideChannel;
  readonly #blocking: BlockingWait;
  readonly #loop: EventLoopWait;
  readonly #events: TransportEvents;
  readonly #outLane: number;
  readonly #inLane: number;
  #ended: CloseReason | undefined;
  /** The region cannot be trusted any more: nothing in it is looked at again. */
  #damaged = false;
  /** Damage found while nobody was there to throw at; the next `tryReceive` throws it. */
  #damageFound: unknown;
  #leftOverTaken = false;
  #spilled = 0;

  readonly #inboundReady = (): boolean => this.#in.ready;
  readonly #readable = (): boolean => this.#damaged || this.#looked(this.#inboundReady) || this.#peerEnded();

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
    this.#region = region;
    this.#words = words;
    this.#here = here;
    this.#there = there;
    this.#events = events;
    this.#outLane = outLane.block;
    this.#inLane = inLane.block;
    this.spin = new Spin(options.spinUs);
    const rungHere = here + layout.PROBES;
    const rungThere = there + layout.PROBES;
    this.#side = new SideChannel(natives, words, rungHere, rungThere, {
      arrived: () => events.woken(),
      closed: () => {
        if (!options.peerEndTold || this.#peerEnded()) this.#tetherClosed();
      },
    });
    if (peerLife !== null) this.#side.watchLife(peerLife);
    const doorbell = (): void => this.#side.doorbell();
    const park = there + layout.PARK;
    const wakes = here + layout.WAKES;
    const producer = new Producer(outLane, new Waker(words, park, DATA, doorbell, wakes));
    const consumer = new Consumer(inLane, new Waker(words, park, SPACE, doorbell, wakes));
    this.#outbox = new Outbox(options.overflow, options.highWaterMark, options.outboxLimit);
    this.#out = new RingOutbound(
      region.views,
      outLane,
      producer,
      options.codec.createEncoder(options.codecOptions),
      options.codec.kind,
      this.#side,
      region.messageMax,
      this.#outbox,
      options.spinUs > 0,
    );
    const decoders = new Map(options.codecs.map((codec) => [codec.kind, codec.createDecoder(options.codecOptions)]));
    this.#in = new RingInbound(region.views, inLane, consumer, decoders, this.#side, region.messageMax);
    const sleeps = here + layout.PARKS;
    const sliceMs = options.livenessSliceMs;
    this.#blocking = new BlockingWait(words, here + layout.PARK, sleeps, this.spin, sliceMs, () => {
      if (this.#side.peerGone()) this.#peerVanished();
    });
    this.#loop =
      options.asyncPark === 'wait-async'
        ? new AsyncWait(words, here + layout.PARK, sleeps, () => events.woken())
        : new DoorbellWait(words, here + layout.PARK, sleeps);
    endWithThread(this);
  }

  get ended(): CloseReason | undefined {
    this.#peerEnded();
    return this.#ended;
  }
  get ports(): readonly unknown[] {
    return this.#in.ports;
  }
  get writable(): boolean {
    try {
      return this.#out.writable;
    } catch (error) {
      throw this.#judged(error);
    }
  }
  get backlog(): number {
    return this.#out.backlog;
  }
  get ready(): boolean {
    return this.#readable();
  }

  get progressed(): boolean {
    return this.#out.producer.headMoved;
  }

  trySend(value: unknown, transfer?: readonly unknown[]): boolean {
    try {
      return this.#out.trySend(value, transfer);
    } catch (error) {
      throw this.#judged(error);
    }
  }
  post(value: unknown, transfer?: readonly unknown[]): void {
    try {
      this.#out.post(value, transfer);
    } catch (error) {
      throw this.#judged(error);
    }
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
    try {
      const value = this.#in.tryReceive();
      if (value !== EMPTY) return value;
      // Somebody who only polls has no other moment for what waits in the outbox.
      if (this.#out.backlog > 0) this.#out.pump();
      if (!this.#peerEnded()) return EMPTY;
      // The end was seen after the ring was found empty: what came in between is there now (T1).
      const last = this.#in.tryReceive();
      return last !== EMPTY ? last : this.#leftOver();
    } catch (error) {
      throw this.#judged(error);
    }
  }

  mark(): Mark {
    const accepted = this.#out.accepted;
    return { accepted, position: this.#out.backlog === 0 ? this.#out.producer.position : undefined };
  }
  takenUpTo(mark: Mark): boolean {
    if (this.#damaged) return false;
    if (mark.position === undefined) {
      this.pump();
      if (((this.#out.moved - mark.accepted) | 0) < 0) return false;
      mark.position = this.#out.producer.position;
    }
    try {
      return this.#out.producer.releasedUpTo(mark.position);
    } catch (error) {
      throw this.#judged(error);
    }
  }
  pump(): boolean {
    try {
      return this.#out.pump();
    } catch (error) {
      throw this.#judged(error);
    }
  }

  waitReadable(timeoutMs: number): boolean {
    // Inside cork too: the answer may be to what the peer cannot see yet.
    this.#out.producer.publish();
    if (this.#out.backlog === 0) return this.#blocking.wait(DATA, this.#readable, timeoutMs);
    // What waits in the outbox goes on while this thread is blocked.
    const look = (): boolean => {
      this.pump();
      return this.#readable();
    };
    return this.#blocking.wait(ANYTHING, look, timeoutMs);
  }

  waitProgress(done: () => boolean, timeoutMs: number): boolean {
    const start = performance.now();
    this.#out.producer.publish();
    for (;;) {
      // Two threads that send to each other would wait for ever if neither took in what the other has sent.
      let roomAside = true;
      while ((roomAside = this.#in.stashedBytes < INBOX_BYTES_DEFAULT) && this.#stash());
      const look = (): boolean => done() || this.#peerEnded() || (roomAside && this.#looked(() => this.#in.stashable));
      const left = timeoutMs - (performance.now() - start);
      const changed = this.#blocking.wait(roomAside ? ANYTHING : SPACE, look, left);
      if (done()) return true;
      if (!changed || this.#peerEnded()) return false;
    }
  }

  park(data: boolean, space: boolean): boolean {
    const interest = (data ? DATA : 0) | (space ? SPACE : 0);
    return this.#loop.park(interest, () => {
      if (data ? this.#readable() : this.#peerEnded()) return true;
      return space && this.#out.producer.headMoved;
    });
  }
  unpark(): void {
    this.#loop.unpark();
  }

  hold(held: boolean): void {
    this.#side.hold(held);
  }

  interrupt(word: number): void {
    // SYNC interrupt: pairs with interrupted, a single load.
    Atomics.store(this.#words, this.#there + layout.INTERRUPT, word);
  }
  get interrupted(): number {
    return Atomics.load(this.#words, this.#here + layout.INTERRUPT);
  }
  clearInterrupt(): number {
    // SYNC interrupt: pairs with interrupt; an interrupt that comes in between is not lost, it is returned.
    return Atomics.exchange(this.#words, this.#here + layout.INTERRUPT, 0);
  }

  announceLife(life: SharedArrayBuffer): void {
    this.#side.announceLife(life);
  }

  stats(): Stats {
    const { lanes } = this.#region;
    const read = (index: number): number => Atomics.load(this.#words, index) >>> 0;
    return {
      sent: read(this.#outLane + layout.SENT),
      received: read(this.#inLane + layout.RECEIVED),
      sentBytes: read(this.#outLane + layout.TAIL),
      receivedBytes: read(this.#inLane + layout.HEAD),
      dropped: this.#outbox.drops,
      undecodable: read(this.#inLane + layout.BAD),
      stalls: read(this.#outLane + layout.STALLS),
      outboxBytes: this.#outbox.bytes,
      outboxBytesPeak: this.#outbox.peak,
      parks: read(this.#here + layout.PARKS),
      wakes: read(this.#here + layout.WAKES),
      capacityBytes: lanes[0].capacity,
    };
  }

  close(reason: CloseReason): void {
    if (this.#ended === undefined) this.#end(reason);
    this.#side.close();
  }

  /** This thread ends by itself: say so, and leave what has not gone out yet. */
  endThread(how: ThreadEnd): void {
    if (this.#ended === undefined) this.#end(how);
  }

  /** Somebody else saw the peer's thread end. */
  peerThreadEnded(how: ThreadEnd | undefined): void {
    this.#tetherClosed(how);
  }

  /** Ends this side and tells the other. */
  #end(reason: CloseReason): void {
    this.#ended = reason;
    forgetThreadEnd(this);
    const spilled = reason === 'lost' ? 0 : this.#out.spill();
    // What cork holds back was sent, too.
    this.#out.producer.publish();
    Atomics.store(this.#words, this.#here + layout.SPILLED, spilled);
    // SYNC closed: everything sent before is published, and the left-over posted (T2); pairs with #peerEnded.
    Atomics.store(this.#words, this.#here + layout.CLOSED, CLOSE_CODES[reason]);
    const wakes = this.#here + layout.WAKES;
    new Waker(this.#words, this.#there + layout.PARK, ANYTHING, () => this.#side.doorbell(), wakes).ring();
  }

  #peerEnded(): boolean {
    if (this.#ended !== undefined) return true;
    // SYNC closed: what the peer sent before it ended is visible after this load (T1); pairs with #end.
    const code = Atomics.load(this.#words, this.#there + layout.CLOSED);
    if (code === 0) return false;
    this.#peerGone(closeReason(code));
    return true;
  }

  /** The native port closed, or a watcher saw the thread end: if the peer said nothing, it was killed. */
  #tetherClosed(how?: ThreadEnd): void {
    this.#peerVanished(how);
    this.#events.woken();
  }
  #peerVanished(how?: ThreadEnd): void {
    if (!this.#peerEnded()) this.#peerGone(how ?? 'terminated');
  }

  #peerGone(reason: CloseReason): void {
    this.#ended = reason;
    this.#spilled = Atomics.load(this.#words, this.#there + layout.SPILLED);
    forgetThreadEnd(this);
    this.#tellLater();
  }

  /** The end was met in the middle of some call: whoever waits elsewhere learns it as soon as that has returned. */
  #tellLater(): void {
    queueMicrotask(() => this.#events.woken());
  }

  /** What the peer left beside the ring when it ended, then `CLOSED`. */
  #leftOver(): unknown {
    if (!this.#leftOverTaken) {
      const frames = this.#spilled > 0 ? this.#side.takeSpill() : [];
      if (frames === undefined && !platform.canTake) return EMPTY;
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

  #stash(): boolean {
    try {
      return this.#in.stash();
    } catch (error) {
      throw this.#judged(error);
    }
  }

  /** Damaged memory ends the channel, whatever was being done; every other error is its caller's alone. */
  #judged(error: unknown): unknown {
    if (error instanceof LayoutError) {
      this.#damaged = true;
      if (this.#ended === undefined) this.#end('lost');
      // Nothing is read any more. It breaks the tether too, which the peer hears of even while it does not look.
      this.#side.close();
      this.#tellLater();
    }
    return error;
  }
}
