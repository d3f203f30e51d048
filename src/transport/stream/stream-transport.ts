// A port's transport over one channel of a connection: nothing is shared, and whether somebody can be waited for with the thread is the medium's
// to say. What only a native clone carries is refused.
import type { Codec, CodecOptions, Encoder } from '../../codec/codec.ts';
import { Join } from '../../frame/join.ts';
import { type Beside, NOTHING_BESIDE } from '../../lane/beside.ts';
import { LaneInbound } from '../../lane/inbound.ts';
import type { Inbound, Mark } from '../../lane/lane.ts';
import { LaneOutbound } from '../../lane/outbound.ts';
import { Outbox, type OverflowPolicy } from '../../lane/outbox.ts';
import { STREAM_JOIN_FIRST } from '../../limits.ts';
import type { EndReason } from '../../outcome.ts';
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
  Way,
} from '../transport.ts';
import { StreamBlocking } from './blocking.ts';
import type { ChannelOwner, ChannelTerms, StreamChannel } from './channel.ts';
import type { StreamConnection } from './connection.ts';
import { LateEncoder } from './late-encoder.ts';
import { Reading } from './reading.ts';
import { Writing } from './writing.ts';

export interface StreamOptions {
  readonly codec: Codec;
  /** Every codec whose payloads this end can read. */
  readonly codecs: readonly Codec[];
  /** Beside what the channel was opened with. */
  readonly codecOptions: Pick<CodecOptions, 'exactArrays'>;
  /** What needs memory that its reader can look at has no place here. */
  readonly overflow: Exclude<OverflowPolicy, 'latest'>;
  readonly highWaterMark: number;
  readonly outboxLimit: number;
  /** What carries values that no codec does, where the medium can: a native message port. */
  readonly beside?: Beside;
  /** By what it goes, where there is more to be said of it than of its connection. */
  readonly way?: Way | undefined;
  /** As Transport.whenWatched, where the medium does not tell of a thread's end. */
  readonly whenWatched?: ((then: () => void) => void) | undefined;
}

const NEVER_SPINS = new Spin(0);

export class StreamTransport implements Transport, ChannelOwner, LoopWait {
  readonly out: Writing;
  readonly in: Inbound;
  readonly #reading: Reading;
  readonly loop: LoopWait = this;
  readonly blocking: Blocking | undefined;
  readonly interrupts: Interrupts;
  readonly spin: Spin = NEVER_SPINS;
  readonly link: Link;
  readonly whenWatched?: (then: () => void) => void;
  readonly #connection: StreamConnection;
  readonly #channel: StreamChannel;
  readonly #lane: LaneOutbound;
  readonly #outbox: Outbox;
  /** What may bring values, and take them, whose other ends are to hear that they are lost. */
  readonly #beside: Beside | undefined;
  readonly #events: TransportEvents;
  readonly #way: Way | undefined;
  #held = false;
  #parks = 0;
  #parked: { readonly data: boolean; readonly space: boolean; readonly taken: Mark | undefined } | undefined;
  #wakes = false;
  readonly #wake = (): void => {
    this.#wakes = false;
    this.#parked = undefined;
    this.#events.woken();
  };
  /** This end is closed, and what it had accepted still goes out. */
  #lingers = false;
  #inDrain = false;

  constructor(connection: StreamConnection, channel: StreamChannel, options: StreamOptions, events: TransportEvents) {
    this.#connection = connection;
    this.link = connection;
    this.#channel = channel;
    this.#events = events;
    this.#way = options.way;
    if (options.whenWatched !== undefined) this.whenWatched = options.whenWatched;
    this.#outbox = new Outbox(options.overflow, options.highWaterMark, options.outboxLimit);
    const { beside = NOTHING_BESIDE } = options;
    this.#beside = options.beside;
    this.#lane = new LaneOutbound({
      sink: channel.sink,
      notes: channel.outNotes,
      beside,
      encoder: lateEncoder(channel, options),
      kind: options.codec.kind,
      messageMax: channel.terms.messageMax,
      outbox: this.#outbox,
      maySpin: false,
      failed: (error) => events.failed(error),
    });
    const look = connection.blocks ? () => connection.receiveSync(0) : () => false;
    const reading = new Reading(channel, (terms) => inboundLane(channel, terms, options), look);
    this.out = new Writing(this.#lane, channel, look);
    this.in = reading;
    this.#reading = reading;
    this.interrupts = {
      get word() {
        look();
        return channel.interrupted;
      },
      raise: (word) => channel.interrupt(word),
      clear(word) {
        const was = channel.interrupted;
        if (word === undefined || word === was) channel.interrupted = 0;
        return was;
      },
    };
    if (connection.blocks) {
      const { out, interrupts } = this;
      this.blocking = new StreamBlocking(connection, channel, { lane: this.#lane, out, reading, interrupts });
    }
    channel.owner = this;
    // Refused, or left unanswered, before anybody was here to be told.
    if (channel.ended !== undefined) this.turned();
  }

  get ended(): EndReason | undefined {
    return this.#channel.ended;
  }

  /** Also behind the end: a value that is on its way beside the stream. */
  get follows(): boolean {
    return this.#reading.awaitsSide;
  }

  // ---- the event loop ---------------------------------------------------------------------------------------------

  stirs(data: boolean, space: boolean, taken: Mark | undefined): boolean {
    if (data && this.in.ready) return true;
    return (space && this.#lane.progressed) || (taken !== undefined && this.#lane.isTaken(taken));
  }
  park(data: boolean, space: boolean, taken: Mark | undefined): boolean {
    if (this.stirs(data, space, taken) || (this.ended !== undefined && !this.follows)) return false;
    if (taken?.position !== undefined) this.#channel.ask(taken.position);
    this.#parked = { data, space: space || (taken !== undefined && taken.position === undefined), taken };
    this.#parks++;
    return true;
  }
  unpark(): void {
    this.#parked = undefined;
  }

  /** Frames come in the middle of any call, also of one of the other end's: whoever is woken is woken behind it. */
  changed(): void {
    const parked = this.#parked;
    if (parked !== undefined && this.stirs(parked.data, parked.space, parked.taken)) this.turned();
  }
  joined(): void {
    this.#lane.lower(this.#channel.terms.messageMax);
    this.turned();
  }
  turned(): void {
    this.#giveUpUnsent();
    if (this.#wakes) return;
    queueMicrotask(this.#wake);
    // Not before: where the stack has ended nobody would wake it again.
    this.#wakes = true;
  }

  // ---- life -------------------------------------------------------------------------------------------------------

  hold(held: boolean): void {
    if (held === this.#held) return;
    this.#connection.hold(held);
    // Not before: where the stack has ended on the way there, it is to be said again.
    this.#held = held;
  }
  /** The connection knows its channels, and keeps this one until both sides have ended it. */
  keep(): void {}

  get #taken(): Way | undefined {
    return this.#way ?? this.#connection.way;
  }
  inspect(): Snapshot {
    const { attached, endedHere, error } = this.#channel;
    return { attached, endedHere, error, exit: this.#connection.exit, way: this.#taken, stats: () => this.#stats() };
  }
  #stats(): Stats {
    const { sink, source, outNotes, inNotes, peerReceived, ended } = this.#channel;
    const { unsent, failures } = this.#lane;
    const over = ended !== undefined;
    return {
      sent: outNotes.sentCount,
      received: inNotes.receivedCount,
      sentBytes: sink.position,
      receivedBytes: source.taken,
      dropped: this.#outbox.drops,
      undelivered: failures + this.out.late + (over ? Math.max(0, outNotes.sentCount + unsent - peerReceived) : 0),
      undecodable: inNotes.bad,
      stalls: outNotes.stalls,
      outboxBytes: this.#outbox.bytes,
      outboxBytesPeak: this.#outbox.peak,
      parks: this.#parks,
      wakes: 0,
      capacityBytes: source.capacity,
      way: this.#taken,
    };
  }

  /** What waits in the outbox goes out as credit comes, and then CLOSE (C1 in channel.ts). */
  close(reason: EndReason): void {
    let done = false;
    // Also where the stack ends in the middle: the peer would wait for ever.
    queueMicrotask(() => {
      if (!done) this.close(reason);
    });
    const channel = this.#channel;
    if (channel.ended === undefined) {
      channel.ended = reason;
      channel.endedHere = true;
    }
    this.#lane.shut();
    if (this.#beside !== undefined) {
      this.#reading.letGo();
      this.#beside.readerOver?.();
    }
    this.drain();
    done = true;
  }
  /** Nothing follows the end of this side: what waits is lost. */
  #giveUpUnsent(): void {
    if (this.#beside !== undefined && this.#channel.closeSent) this.#lane.abandon();
  }
  drain(): void {
    const channel = this.#channel;
    if (this.#inDrain) return;
    if (this.#lane.pumping) {
      // The medium calls back in the middle of what waits, which goes out first.
      queueMicrotask(() => this.drain());
      return;
    }
    this.#inDrain = true;
    try {
      if (!channel.closeSent && channel.endedHere && this.#lane.backlog > 0) this.#lane.pump();
    } finally {
      this.#inDrain = false;
    }
    // Over when the peer will take no more of it, too. Two ends that both wait for the other one to read would wait for ever.
    const over = channel.closeSent || !channel.endedHere || channel.peerLingers || this.#lane.backlog === 0;
    if (over) channel.finish(channel.endedHere ? (channel.ended as EndReason) : 'closed');
    else channel.askForAll();
    this.#giveUpUnsent();
    if (over === this.#lingers) {
      this.#connection.hold(!over);
      this.#lingers = !over;
    }
  }
}

function codecOptions({ texts, textBytes }: ChannelTerms, options: StreamOptions): CodecOptions {
  return { ...options.codecOptions, knownTexts: texts, knownTextBytes: textBytes };
}

/** What goes out is written for a reader that remembers what is agreed on; nothing is known of it before. */
function lateEncoder(channel: StreamChannel, options: StreamOptions): LateEncoder {
  const make = (terms: ChannelTerms): Encoder => options.codec.createEncoder(codecOptions(terms, options));
  const early = { ...channel.terms, texts: 0, textBytes: 0 };
  return new LateEncoder(
    () => make(early),
    () => (channel.attached ? make(channel.terms) : undefined),
  );
}

/** What comes is read as its sender has said that it writes. */
function inboundLane(channel: StreamChannel, terms: ChannelTerms, options: StreamOptions): LaneInbound {
  const decoderOptions = codecOptions(terms, options);
  return new LaneInbound({
    source: channel.source,
    notes: channel.inNotes,
    beside: options.beside ?? NOTHING_BESIDE,
    decoders: new Map(options.codecs.map((codec) => [codec.kind, codec.createDecoder(decoderOptions)])),
    messageMax: terms.messageMax,
    join: new Join(terms.messageMax, STREAM_JOIN_FIRST),
  });
}
