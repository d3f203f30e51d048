// A connection over a byte stream as a program sees it: its ports, and what the other side offers.
import { platform } from '#platform';
import { UsageError } from '../errors.ts';
import type { CloseReason, EndReason } from '../outcome.ts';
import type { ChannelWish, StreamChannel } from '../transport/stream/channel.ts';
import { type ByteStream, type ConnectionOptions, StreamConnection } from '../transport/stream/connection.ts';
import type { Opening } from '../transport/stream/opening.ts';
import type { ProcessTopicHandle, SharableTopic } from '../transport/topic-medium.ts';
import type { ExitStatus, Leaving, Way } from '../transport/transport.ts';
import { type ListenerOptions, Listeners, PortEvent, type PortListener } from './events.ts';
import type { LinkChannels, LinkMedium } from './link-medium.ts';
import { type ChannelOptions, checkNames } from './options.ts';
import { Port } from './port.ts';
import type { LinkCloseOptions, LinkedPort, LinkStatus, Offer, PortLink } from './port-link.ts';
import { resolveStreamOptions } from './stream-options.ts';
import { type Settleable, settleable } from './waiters.ts';

/** The channel that both sides open of themselves: the port that a connection is. */
const MAIN = '';
export const LINK_CLOSE_OPTIONS: readonly string[] = ['drainMs', 'text'];

export class StreamLink implements PortLink {
  readonly address: string;
  readonly channels: AsyncIterable<Offer>;
  readonly closed: Promise<CloseReason>;
  readonly leaving: Promise<Leaving>;
  readonly connection: StreamConnection;
  identity: string | undefined;
  readonly #listeners = new Listeners();
  #apart = false;
  readonly #ended: Settleable<CloseReason> = settleable();
  readonly #offered = new Set<Settleable<void>>();
  /** Of those that wait, what some loop has been given. */
  readonly #shown = new WeakSet<Opening>();
  readonly #channels: LinkChannels;
  readonly #stream: ByteStream;

  /**
   * @param stream what comes is to be given to `connection` from then on
   * @param greeted told once the other side has said its first words, and both have agreed on how values go; whoever is refused then is told together with ours
   */
  constructor(
    stream: ByteStream,
    address: string,
    options: ConnectionOptions,
    medium: LinkMedium,
    greeted: () => void,
  ) {
    this.address = address;
    this.#stream = stream;
    this.closed = this.#ended.promise;
    const leaving = settleable<Leaving>();
    this.leaving = leaving.promise;
    this.connection = new StreamConnection(stream, medium.offer(options), {
      greeted: (peer) => medium.greeted(peer),
      opened: () => this.#tellOffer(),
      leaving: (it) => leaving.resolve(it),
      idle: () => this.connection.close(),
      ended: (reason) => {
        medium.over();
        this.#ended.resolve(reason);
        this.#tellStatus();
        this.#tellOffer();
      },
    });
    this.#channels = medium.channels(this.connection, greeted);
    this.channels = { [Symbol.asyncIterator]: () => this.#offers() };
  }

  get reason(): EndReason | undefined {
    return this.connection.ended;
  }
  get error(): unknown {
    return this.connection.error;
  }
  get exit(): ExitStatus | undefined {
    return this.connection.exit;
  }
  get way(): Way | undefined {
    return this.#channels.way ?? this.connection.way;
  }
  get status(): LinkStatus {
    return this.connection.ended !== undefined ? 'over' : this.#apart ? 'reconnecting' : 'open';
  }
  /** It has no line, or has one again. */
  apart(apart: boolean): void {
    if (apart === this.#apart || this.connection.ended !== undefined) return;
    this.#apart = apart;
    this.#tellStatus();
  }
  addEventListener(type: 'status', listener: PortListener<LinkStatus>, options: ListenerOptions = {}): void {
    if (type === 'status') this.#listeners.add(listener as PortListener, options.once === true, options.signal);
  }
  removeEventListener(type: 'status', listener: PortListener<LinkStatus>): void {
    if (type === 'status') this.#listeners.remove(listener, false);
  }
  #tellStatus(): void {
    const { status } = this;
    this.#listeners.emit(new PortEvent('status', this, status, []), status, platform.reportError);
  }
  get peerLeaving(): Leaving | undefined {
    return this.connection.peerLeaving;
  }

  /** The port that the connection is; once. */
  main(options: ChannelOptions): LinkedPort {
    return this.#open(MAIN, options);
  }
  channel<In = unknown, Out = unknown>(name: string, options: ChannelOptions = {}): LinkedPort<In, Out> {
    checkName(name);
    return this.#open(name, options) as LinkedPort<In, Out>;
  }
  async shareTopic(name: string, topic: SharableTopic): Promise<void> {
    checkName(name);
    if (typeof topic?.share !== 'function') {
      throw new UsageError('ERR_OPTION', `Cannot share ${String(topic)}: expected a topic, as createTopic makes them`, {
        option: 'topic',
        value: topic,
      });
    }
    topic.checkShared();
    await this.#channels.share(name, topic);
  }
  async topic(name: string): Promise<ProcessTopicHandle> {
    checkName(name);
    return await this.#channels.askForTopic(name);
  }
  #open(name: string, options: ChannelOptions): LinkedPort {
    return this.#port(options, (wish) => this.connection.open(name, wish));
  }
  #port(options: ChannelOptions, take: (wish: ChannelWish) => StreamChannel): LinkedPort {
    const { wish, transport, spinUs } = resolveStreamOptions(options);
    const { flags } = this.#channels;
    // Where it may go by memory the credit is the ring's size, and is not to be had from what sockets have.
    const channel = take({ ...wish, flags, wide: flags === 0 });
    const port = new Port((events) => this.#channels.transport(channel, { stream: transport, spinUs }, events), this);
    return port as LinkedPort;
  }

  async close(options: LinkCloseOptions = {}): Promise<void> {
    checkNames(options, LINK_CLOSE_OPTIONS);
    const { drainMs, text = '' } = options;
    if (drainMs === undefined) this.connection.close({ text });
    else this.connection.leave({ timeoutMs: drainMs, text });
    await this.closed;
    await this.#stream.lastSaid;
  }

  // ---- what the other side opens -----------------------------------------------------------------------------------

  /** Each loop is given what nobody else has taken. */
  async *#offers(): AsyncGenerator<Offer, void, void> {
    for (;;) {
      const opening = this.#nextOpening();
      if (opening !== undefined) yield this.#offer(opening);
      else if (this.connection.ended !== undefined) return;
      else await this.#anOffer();
    }
  }
  #nextOpening(): Opening | undefined {
    for (const opening of this.connection.waiting) {
      if (opening.name === MAIN || this.#shown.has(opening)) continue;
      this.#shown.add(opening);
      return opening;
    }
    return undefined;
  }
  #offer(opening: Opening): Offer {
    const { connection } = this;
    return {
      name: opening.name,
      accept: <In, Out>(options: ChannelOptions = {}) =>
        this.#port(options, (wish) => connection.accept(opening, wish)) as LinkedPort<In, Out>,
      refuse: (text = '') => opening.refuse(undefined, text),
    };
  }
  /** Keeps the process alive meanwhile, as a pending receive does. */
  async #anOffer(): Promise<void> {
    const told = settleable<void>();
    this.#offered.add(told);
    this.connection.hold(true);
    try {
      await told.promise;
    } finally {
      this.#offered.delete(told);
      this.connection.hold(false);
    }
  }
  #tellOffer(): void {
    for (const told of this.#offered) told.resolve();
  }
}

/** @throws UsageError ERR_OPTION */
function checkName(name: unknown): void {
  if (typeof name === 'string' && name !== MAIN) return;
  const shown = name === MAIN ? "'', which is the port that comes with the connection" : String(name);
  throw new UsageError('ERR_OPTION', `A channel cannot be named ${shown}: give it a text`, {
    option: 'name',
    value: name,
  });
}
