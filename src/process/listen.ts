/// <reference lib="esnext.disposable" preserve="true" />
// Listens at an address: an async iterable of ports, one for each who connects.
import { platform } from '#platform';
import { CONNECTIONS_DEFAULT, CONNECTIONS_WAITING_DEFAULT, TIMEOUT_MS_MAX } from '../limits.ts';
import { checked, checkNames, type NumberRule } from '../port/options.ts';
import type { Port } from '../port/port.ts';
import type { LinkCloseOptions } from '../port/port-link.ts';
import { addressText, parseAddress } from '../transport/process/address.ts';
import { type Bound, bind } from '../transport/process/bind.ts';
import type { CarriedStream } from '../transport/process/carried-stream.ts';
import { ownCarrier } from '../transport/process/carrier.ts';
import { SocketStream } from '../transport/process/socket-stream.ts';
import { CODE_FULL, CODE_LEAVING } from '../transport/stream/frames.ts';
import { type ConnectionChoice, type ResolvedChoice, resolveChoice } from './options.ts';
import { LINK_CLOSE_OPTIONS, StreamLink } from './stream-link.ts';

export interface ListenOptions extends ConnectionChoice {
  /** Connections at a time; who comes beyond is refused, and told so. Default 1024. */
  readonly maxConnections?: number | undefined;
  /** Of these, connections that nobody has taken out of the iteration yet. Default 128. */
  readonly maxWaitingConnections?: number | undefined;
}

const COUNTS: Readonly<Record<'maxConnections' | 'maxWaitingConnections', NumberRule>> = {
  maxConnections: { fallback: CONNECTIONS_DEFAULT, min: 1, max: 1_000_000 },
  maxWaitingConnections: { fallback: CONNECTIONS_WAITING_DEFAULT, min: 1, max: 1_000_000 },
};

interface Bounds extends ResolvedChoice {
  readonly maxConnections: number;
  readonly maxWaiting: number;
}

/**
 * Listens at an address of this machine: `for await (const port of await listen(address))`. Each who connects comes as a port; `port.link` has what else
 * there is over the same connection.
 *
 * A unix socket is for this user alone (mode 0600); of two that listen at one address the second is refused; that of a listener that has died is
 * taken over. **Whoever can reach a TCP address can connect to it**: it is this machine's own unless a host says otherwise, and any of its users'.
 * @param address `unix:/run/app.sock`, a path with a slash in it, `tcp:host:port`, `tcp:port` for 127.0.0.1; port 0: any that is free
 * @throws (rejects) UsageError ERR_OPTION; AddressError ERR_ADDRESS_IN_USE, ERR_LISTEN
 */
export async function listen(address: string, options: ListenOptions = {}): Promise<Listener> {
  const at = parseAddress(address);
  const choice = resolveChoice(at, options, Object.keys(COUNTS));
  const bounds: Bounds = {
    ...choice,
    maxConnections: checked('maxConnections', options.maxConnections, COUNTS.maxConnections) as number,
    maxWaiting: checked('maxWaitingConnections', options.maxWaitingConnections, COUNTS.maxWaitingConnections) as number,
  };
  let listener: OpenListener | undefined;
  const early: Connected[] = [];
  const take = (stream: Connected): void => {
    if (listener === undefined) early.push(stream);
    else listener.take(stream);
  };
  const bound = await (choice.blocking
    ? ownCarrier().listen(at, take)
    : bind(at, (socket) => take(new SocketStream(socket))));
  listener = new OpenListener(bound, bounds);
  for (const stream of early) listener.take(stream);
  return listener;
}

/** Somebody who has connected. */
type Connected = SocketStream | CarriedStream;

/** Who listens at an address. Closed by `using` and `await using`. */
export interface Listener extends AsyncIterable<Port> {
  /** Where to connect to, as `connect` takes it: with the port that the system has chosen. */
  readonly address: string;
  /** Connections that there are, those included that nobody has taken yet. */
  readonly connections: number;
  /** Each who connects is given to one loop. Ends when the listener is closed. A loop that ends leaves the listener open. */
  [Symbol.asyncIterator](): AsyncIterator<Port, undefined>;
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

class OpenListener implements Listener {
  readonly address: string;
  readonly #bound: Bound;
  readonly #bounds: Bounds;
  /** All connections, greeted or not. */
  readonly #links = new Set<StreamLink>();
  /** Those that have greeted and that nobody has taken. */
  readonly #waiting = new Set<StreamLink>();
  readonly #takers: ((result: IteratorResult<Port, undefined>) => void)[] = [];
  #closed = false;

  constructor(bound: Bound, bounds: Bounds) {
    this.address = addressText(bound.address);
    this.#bound = bound;
    this.#bounds = bounds;
  }

  get connections(): number {
    return this.#links.size;
  }

  [Symbol.asyncIterator](): AsyncIterator<Port, undefined> {
    return { next: () => this.#next(), return: async () => ({ done: true, value: undefined }) };
  }

  async close(options: LinkCloseOptions = {}): Promise<void> {
    checkNames(options, LINK_CLOSE_OPTIONS);
    const { drainMs, text } = options;
    if (drainMs !== undefined) checked('drainMs', drainMs, { fallback: 0, min: 0, max: TIMEOUT_MS_MAX });
    const unbound = this.#closed ? undefined : this.#bound.close();
    this.#closed = true;
    for (const done of this.#takers.splice(0)) done({ done: true, value: undefined });
    const waiting = [...this.#waiting];
    // Nobody takes them any more.
    this.#waiting.clear();
    for (const link of waiting) link.connection.refuse(CODE_LEAVING, text ?? 'the listener is closing');
    const over = [...this.#links].map((link) => link.close({ drainMs, text }));
    await Promise.all([unbound, ...over]);
  }
  [Symbol.dispose](): void {
    void this.close();
  }
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  ref(): this {
    this.#bound.hold(true);
    return this;
  }
  unref(): this {
    this.#bound.hold(false);
    return this;
  }

  /** Somebody has connected. */
  take(stream: Connected): void {
    const { connection, memory, maxConnections, timeoutMs } = this.#bounds;
    // Who answers only what it has heard tells who is one too many together with its greeting.
    const options = { ...connection, initiator: false, answer: () => undefined };
    const ungreeted: Ungreeted = { link: undefined };
    const link = new StreamLink(stream, this.address, options, memory, () => {
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
    stream.connect(link.connection);
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

  #next(): Promise<IteratorResult<Port, undefined>> {
    for (const link of this.#waiting) {
      this.#waiting.delete(link);
      // Who has gone meanwhile is nobody's.
      if (link.reason === undefined) return Promise.resolve({ done: false, value: link.main(this.#bounds.channel) });
    }
    if (this.#closed) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => void this.#takers.push(resolve));
  }
}
