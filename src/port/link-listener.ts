/// <reference lib="esnext.disposable" preserve="true" />
// Who listens at an address, over whatever streams: an async iterable of ports, one for each who connects.
import { platform } from '#platform';
import { CONNECTIONS_DEFAULT, CONNECTIONS_WAITING_DEFAULT, TIMEOUT_MS_MAX } from '../limits.ts';
import type { ByteStream, ConnectionOptions } from '../transport/stream/connection.ts';
import { CODE_FULL, CODE_LEAVING } from '../transport/stream/frames.ts';
import type { LinkMedium } from './link-medium.ts';
import { type ChannelOptions, checked, checkNames, type NumberRule } from './options.ts';
import type { LinkCloseOptions, LinkedPort } from './port-link.ts';
import { LINK_CLOSE_OPTIONS, StreamLink } from './stream-link.ts';

export interface ListenerCounts {
  /** Connections at a time; who comes beyond is refused, and told so. Default 1024. */
  readonly maxConnections?: number | undefined;
  /** Of these, connections that nobody has taken out of the iteration yet. Default 128. */
  readonly maxWaitingConnections?: number | undefined;
}

const COUNTS: Readonly<Record<keyof ListenerCounts, NumberRule>> = {
  maxConnections: { fallback: CONNECTIONS_DEFAULT, min: 1, max: 1_000_000 },
  maxWaitingConnections: { fallback: CONNECTIONS_WAITING_DEFAULT, min: 1, max: 1_000_000 },
};
export const LISTENER_COUNTS: readonly string[] = Object.keys(COUNTS);

/** @throws UsageError ERR_OPTION */
export function resolveCounts(options: ListenerCounts): Pick<ListenerBounds, 'maxConnections' | 'maxWaiting'> {
  const of = (name: keyof ListenerCounts): number => checked(name, options[name], COUNTS[name]) as number;
  return { maxConnections: of('maxConnections'), maxWaiting: of('maxWaitingConnections') };
}

/** What each connection and its port are made with, and how many there may be. */
export interface ListenerBounds {
  readonly channel: ChannelOptions;
  readonly connection: Omit<ConnectionOptions, 'initiator'>;
  readonly timeoutMs: number;
  readonly maxConnections: number;
  readonly maxWaiting: number;
}

/** Somebody who has connected. */
export interface Connected {
  readonly stream: ByteStream;
  readonly medium: LinkMedium;
  /** What its connection is made with beside what all are. */
  readonly options?: Partial<ConnectionOptions> | undefined;
  /** From here on what comes goes to the link's connection. */
  connect(link: StreamLink): void;
}

/** Where somebody listens. */
export interface Listening {
  /** As `connect` takes it. */
  readonly address: string;
  /** Keeps the process alive, or lets it go. */
  hold(held: boolean): void;
  /**
   * Nobody finds it any more, once this is done.
   * @param over the connections that there are have ended
   */
  close(over: Promise<unknown>): Promise<void> | undefined;
}

/** Who listens at an address. Closed by `using` and `await using`. */
export interface Listener<In = unknown, Out = unknown> extends AsyncIterable<LinkedPort<In, Out>> {
  /** Where to connect to, as `connect` takes it: with the port that the system has chosen. */
  readonly address: string;
  /** Connections that there are, those included that nobody has taken yet. */
  readonly connections: number;
  /** Each who connects is given to one loop. Ends when the listener is closed. A loop that ends leaves the listener open. */
  [Symbol.asyncIterator](): AsyncIterator<LinkedPort<In, Out>, undefined>;
  /**
   * Listens no more, and ends all connections: what their channels have accepted goes out as far as the other sides have room for it. With `drainMs`
   * those that there are go on until their last channel has ended, or for so many milliseconds; no channel is opened meanwhile, and the other
   * sides are told (`link.peerLeaving`).
   * @param options `text` is why, for people over there; 256 bytes of it at the most
   * @returns when the last is over; a later call with less time shortens it
   * @throws (rejects) UsageError ERR_OPTION
   */
  close(options?: LinkCloseOptions): Promise<void>;
  [Symbol.dispose](): void;
  [Symbol.asyncDispose](): Promise<void>;
  /** Whether listening keeps the process alive, which it does at first; what is done with its ports is their own. */
  ref(): this;
  unref(): this;
}

/** What waits for the time of its greeting keeps nobody, and no memory, that has greeted or is over. */
interface Ungreeted {
  link: StreamLink | undefined;
}
function refuseLater(ungreeted: Ungreeted, timeoutMs: number): void {
  platform.later(() => ungreeted.link?.connection.refuse(CODE_FULL, 'no greeting came'), timeoutMs);
}

export class LinkListener implements Listener {
  readonly address: string;
  readonly #listening: Listening;
  readonly #bounds: ListenerBounds;
  /** All connections, greeted or not. */
  readonly #links = new Set<StreamLink>();
  /** Those that have greeted and that nobody has taken. */
  readonly #waiting = new Set<StreamLink>();
  readonly #takers: ((result: IteratorResult<LinkedPort, undefined>) => void)[] = [];
  #closed = false;

  constructor(listening: Listening, bounds: ListenerBounds) {
    this.address = listening.address;
    this.#listening = listening;
    this.#bounds = bounds;
  }

  get connections(): number {
    return this.#links.size;
  }

  [Symbol.asyncIterator](): AsyncIterator<LinkedPort, undefined> {
    return { next: () => this.#next(), return: async () => ({ done: true, value: undefined }) };
  }

  async close(options: LinkCloseOptions = {}): Promise<void> {
    checkNames(options, LINK_CLOSE_OPTIONS);
    const { drainMs, text } = options;
    if (drainMs !== undefined) checked('drainMs', drainMs, { fallback: 0, min: 0, max: TIMEOUT_MS_MAX });
    const again = this.#closed;
    this.#closed = true;
    for (const done of this.#takers.splice(0)) done({ done: true, value: undefined });
    const waiting = [...this.#waiting];
    // Nobody takes them any more.
    this.#waiting.clear();
    for (const link of waiting) link.connection.refuse(CODE_LEAVING, text ?? 'the listener is closing');
    const over = Promise.all([...this.#links].map((link) => link.close({ drainMs, text })));
    await Promise.all([again ? undefined : this.#listening.close(over), over]);
  }
  [Symbol.dispose](): void {
    void this.close();
  }
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  ref(): this {
    this.#listening.hold(true);
    return this;
  }
  unref(): this {
    this.#listening.hold(false);
    return this;
  }

  /** Somebody has connected. */
  take(connected: Connected): void {
    const { connection, maxConnections, timeoutMs } = this.#bounds;
    // Who answers only what it has heard tells who is one too many together with its greeting.
    const { answer = () => undefined } = connected.options ?? {};
    const ungreeted: Ungreeted = { link: undefined };
    const options: ConnectionOptions = {
      ...connection,
      ...connected.options,
      initiator: false,
      answer(peer) {
        // How long the answer takes is for whoever gives it.
        ungreeted.link = undefined;
        return answer(peer);
      },
    };
    const link = new StreamLink(connected.stream, this.address, options, connected.medium, () => {
      ungreeted.link = undefined;
      this.#greeted(link);
    });
    ungreeted.link = link;
    refuseLater(ungreeted, timeoutMs);
    link.closed.then(() => {
      ungreeted.link = undefined;
      this.#links.delete(link);
      this.#waiting.delete(link);
    });
    if (this.#closed || this.#links.size >= maxConnections) this.#refuse(link);
    else this.#links.add(link);
    connected.connect(link);
  }
  #greeted(link: StreamLink): void {
    const taker = this.#takers.shift();
    if (taker !== undefined) taker({ done: false, value: link.main(this.#bounds.channel) });
    else if (this.#closed || this.#waiting.size >= this.#bounds.maxWaiting) this.#refuse(link);
    else this.#waiting.add(link);
  }
  #refuse(link: StreamLink): void {
    if (this.#closed) link.connection.refuse(CODE_LEAVING, 'the listener is closing');
    else link.connection.refuse(CODE_FULL, 'the listener has as many connections as it takes');
  }

  #next(): Promise<IteratorResult<LinkedPort, undefined>> {
    for (const link of this.#waiting) {
      this.#waiting.delete(link);
      // Who has gone meanwhile is nobody's.
      if (link.reason === undefined) return Promise.resolve({ done: false, value: link.main(this.#bounds.channel) });
    }
    if (this.#closed) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => void this.#takers.push(resolve));
  }
}
