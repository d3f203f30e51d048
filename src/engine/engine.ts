// What a program has of a server between programs: ports, topics, requests and queues by name.

import { byLines, connectBy } from '../net/connecting.ts';
import { Entrance, type EntranceOptions } from '../net/entrance.ts';
import { type NetChoice, resolveNetChoice, tokenBytes } from '../net/options.ts';
import type { AbortSignalLike } from '../port/events.ts';
import { checkSignal } from '../port/link-choice.ts';
import type { Listener } from '../port/link-listener.ts';
import { checkNames } from '../port/options.ts';
import type { Port } from '../port/port.ts';
import type { Line } from '../transport/network/line.ts';
import { NOTHING_SAID } from '../transport/network/upgrade-request.ts';
import type { Driver } from './driver.ts';
import { Answering, Dialer } from './lines.ts';
import { checkName, checkPattern, type Names } from './names.ts';
import { EngineQueue, type QueueOptions, resolveQueue } from './queue.ts';
import { type RequestOptions, Requests, type Served, type ServeOptions } from './requests.ts';
import { EngineReader, type EngineSubscribeOptions, EngineTopic, type EngineTopicOptions } from './topic.ts';

export interface EngineOptions {
  /** What all subjects begin with, so that a server's permissions can say who may do what, and several programs share a server; default `millrace`. */
  readonly prefix?: string | undefined;
}
const ENGINE_OPTIONS: readonly string[] = ['prefix'];

export type EngineListenOptions = Omit<EntranceOptions, 'origins'>;
export interface EngineConnectOptions extends NetChoice {
  /** What the listener's `authorize` is to know this side by. */
  readonly token?: string | undefined;
  readonly signal?: AbortSignalLike | undefined;
}

export class Engine {
  /** @internal */
  readonly driver: Driver;
  readonly #names: Names;
  readonly #requests: Requests;
  /** Readers, who answers, queues. */
  readonly #open = new Set<{ close(): unknown }>();

  /** @internal */
  constructor(driver: Driver, names: Names) {
    this.driver = driver;
    this.#names = names;
    this.#requests = new Requests(driver, names);
  }

  /**
   * Listens for ports by a name: an async iterable of them, one for each who connects. Several programs may listen by one name: each who connects gets one of them.
   * @param name letters, digits, `-` and `_`, in parts that dots separate
   * @throws (rejects) UsageError ERR_OPTION; AddressError ERR_LISTEN where the server does not allow it
   */
  async listen(name: string, options: EngineListenOptions = {}): Promise<Listener> {
    const { name: kind, where } = this.driver;
    checkName('name', name);
    const entrance = new Entrance(options, []);
    let enter = (line: Line): void => line.destroy();
    const answering = await Answering.at(this.driver, this.#names, name, (line) => enter(line));
    const address = `${where} as ${name}`;
    // A client of the server's holds the process, or not, as it likes.
    const { listener, hall } = entrance.behind({ address, hold() {}, close: () => answering.close() });
    enter = (line) => hall.enter(line, kind, NOTHING_SAID);
    return listener;
  }

  /**
   * Connects to who listens by a name: a port, which outlives its server's restart, and its own client's.
   * @throws (rejects) UsageError ERR_OPTION; AddressError ERR_UNREACHABLE where nobody listens by that name, at once; TimeoutError; RefusedError; the signal's reason
   */
  async connect<In = unknown, Out = unknown>(name: string, options: EngineConnectOptions = {}): Promise<Port<In, Out>> {
    const { name: kind, where } = this.driver;
    const choice = resolveNetChoice(options, ['token', 'signal']);
    const dialer = new Dialer(this.driver, this.#names, checkName('name', name));
    const port = await connectBy({
      ...choice,
      where: `${where} as ${name}`,
      kind,
      token: tokenBytes(options.token),
      signal: checkSignal(options.signal),
      begin: byLines((signal) => dialer.dial(signal), choice),
    });
    return port as Port<In, Out>;
  }

  /**
   * A topic to publish to: whoever listens at the time hears it, in whatever process.
   * @throws UsageError ERR_OPTION
   */
  topic<T = unknown>(name: string, options: EngineTopicOptions = {}): EngineTopic<T> {
    return new EngineTopic<T>(this.driver, this.#names, checkName('name', name), options);
  }
  /**
   * Listens to all topics of a pattern, from when it resolves on.
   * @param pattern a name, in which `*` stands for one part, and `>` at the end for all that follow: `prices.*`, `logs.>`
   * @throws (rejects) UsageError ERR_OPTION; AddressError ERR_LISTEN where the server does not allow it
   */
  async subscribe<T = unknown>(pattern: string, options: EngineSubscribeOptions = {}): Promise<EngineReader<T>> {
    const reader: EngineReader<T> = await EngineReader.open<T>(
      this.driver,
      this.#names,
      checkPattern(pattern),
      options,
      () => this.#open.delete(reader),
    );
    return this.#keep(reader);
  }

  /**
   * Answers to a name, beside all others that do: each request goes to one of them.
   * @param answer what it returns, or the promise of it, is the answer; what it throws, `request` throws
   * @throws (rejects) UsageError ERR_OPTION; AddressError ERR_LISTEN where the server does not allow it
   */
  async serve<In = unknown>(name: string, answer: (value: In) => unknown, options: ServeOptions = {}): Promise<Served> {
    const served: Served = await this.#requests.serve(name, answer as (value: unknown) => unknown, options, () =>
      this.#open.delete(served),
    );
    return this.#keep(served);
  }
  /**
   * Asks one of those who answer to a name. The request goes once at the most: where it, or the answer, is lost, that is an error, and nobody knows whether it was done.
   * @param value of 256 KiB at the most, encoded; larger ones go over a port
   * @throws (rejects) AddressError ERR_UNREACHABLE where nobody answers to that name, at once; TimeoutError; ClosedError where the server was lost; RefusedError where who
   *   answers has enough; what was thrown there; UsageError ERR_OPTION, ERR_TOO_LARGE, ERR_LIMIT; the signal's reason
   */
  async request<Out = unknown>(name: string, value: unknown, options: RequestOptions = {}): Promise<Out> {
    return (await this.#requests.request(name, value, options)) as Out;
  }

  /**
   * A queue of jobs, each of which is done at least once: the server keeps them (NATS by JetStream, Redis by a stream). It is made where it is not there yet.
   * @throws (rejects) UsageError ERR_OPTION; UnsupportedError where the server has no JetStream, or the package @nats-io/jetstream is not there; ClosedError
   */
  async queue<T = unknown>(name: string, options: QueueOptions = {}): Promise<EngineQueue<T>> {
    const resolved = resolveQueue(options);
    const store = await this.driver.queue(checkName('name', name), resolved.ackMs);
    const queue: EngineQueue<T> = new EngineQueue<T>(name, this.driver, store, resolved, () =>
      this.#open.delete(queue),
    );
    return this.#keep(queue);
  }

  /** Ends readers, who answers, and workers once their jobs are settled, and lets go of the server. Ports that there are end as `lost` when their time is up: close them before. */
  async close(): Promise<void> {
    await Promise.all([...this.#open].map((each) => each.close()));
    this.#open.clear();
    await this.driver.close();
  }
  #keep<C extends { close(): unknown }>(opened: C): C {
    this.#open.add(opened);
    return opened;
  }
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** @throws UsageError ERR_OPTION */
export function checkEngineOptions(options: EngineOptions, more: readonly string[] = []): void {
  checkNames(options, [...ENGINE_OPTIONS, ...more]);
}
