// What a program has of a server between programs: ports, topics, requests and queues by name.

import { platform } from '#platform';
import { ClosedError, UsageError } from '../errors.ts';
import { ENGINE_LAST_MS, ENGINE_OPEN_MS, ENGINE_TOPICS_MAX, TIMEOUT_MS_MAX } from '../limits.ts';
import { byLines, connectBy } from '../net/connecting.ts';
import { Entrance, type EntranceOptions } from '../net/entrance.ts';
import { checkToken, type NetChoice, resolveNetChoice, type TokenOption } from '../net/options.ts';
import type { AbortSignalLike } from '../port/events.ts';
import { checkSignal } from '../port/link-choice.ts';
import type { Listener } from '../port/link-listener.ts';
import { checkNames } from '../port/options.ts';
import type { LinkedPort } from '../port/port-link.ts';
import type { Line } from '../transport/network/line.ts';
import { NOTHING_SAID } from '../transport/network/upgrade-request.ts';
import type { Driver } from './driver.ts';
import { inTime, lateAt, settledInTime } from './in-time.ts';
import { Answering, Dialer } from './lines.ts';
import { checkName, checkPattern, Names } from './names.ts';
import { EngineQueue, type QueueOptions, resolveQueue } from './queue.ts';
import { EngineReader, type EngineSubscribeOptions } from './reader.ts';
import {
  type Asked,
  type DrainOptions,
  drainOf,
  type RequestOptions,
  Requests,
  type Served,
  type ServeOptions,
} from './requests.ts';
import { EngineTopic, type EngineTopicOptions, formOf, Publisher } from './topic.ts';
import { Unflushed } from './unflushed.ts';

export interface EngineOptions {
  /** What all subjects begin with, so that a server's permissions can say who may do what, and several programs share a server; default `millrace`. */
  readonly prefix?: string | undefined;
}
const ENGINE_OPTIONS: readonly string[] = ['prefix'];

export type EngineListenOptions = Omit<EntranceOptions, 'origins'>;
export interface EngineConnectOptions extends NetChoice {
  /** What the listener's `authorize` is to know this side by. */
  readonly token?: TokenOption;
  readonly signal?: AbortSignalLike | undefined;
}

interface Closable {
  close(options?: DrainOptions): unknown;
}
function closedEngine({ where }: Driver): ClosedError {
  return new ClosedError(`This engine, at ${where}, is closed`, 'closed');
}

export class Engine {
  /** @internal */
  readonly driver: Driver;
  readonly #names: Names;
  readonly #requests: Requests;
  /** Listeners, connections, readers, who answers, queues. */
  readonly #open = new Set<Closable>();
  /** Publishers, by form and name: readers go by the numbers of each. */
  readonly #topics = new Map<string, Publisher>();
  readonly #unflushed: Unflushed;
  #closing: Promise<void> | undefined;

  /** @internal */
  constructor(driver: Driver, names: Names) {
    this.driver = driver;
    this.#names = names;
    this.#requests = new Requests(driver, names);
    this.#unflushed = new Unflushed(driver);
    driver.onDown(() => {
      // By whoever has its client, or for good: nothing of what is under way can be said any more.
      if (driver.closed) void this.close({ drainMs: 0 });
    });
  }

  /**
   * Listens for ports by a name: an async iterable of them, one for each who connects. Several programs may listen by one name: each who connects gets one of them.
   * @param name letters, digits, `-` and `_`, in parts that dots separate
   * @throws (rejects) UsageError ERR_OPTION; AddressError ERR_LISTEN where the server does not allow it
   */
  async listen<In = unknown, Out = unknown>(
    name: string,
    options: EngineListenOptions = {},
  ): Promise<Listener<In, Out>> {
    const { name: kind, where } = this.driver;
    checkName('name', name);
    const entrance = new Entrance(options, []);
    let enter = (line: Line): void => line.destroy();
    const address = `${where} as ${name}`;
    const opening = Answering.at(this.driver, this.#names, name, (line) => enter(line));
    const answering = await this.#opened(`Cannot listen at ${address}`, opening);
    // A client of the server's holds the process, or not, as it likes.
    const { listener, hall } = entrance.behind({
      address,
      hold() {},
      leave: () => answering.leave(),
      close: () => {
        answering.close();
        this.#open.delete(closable);
      },
    });
    enter = (line) => hall.enter(line, kind, NOTHING_SAID);
    const closable = { close: () => listener.close() };
    return this.#keep(listener as Listener as Listener<In, Out>, closable);
  }

  /**
   * Connects to who listens by a name: a port, which outlives its server's restart, and its own client's.
   * @throws (rejects) UsageError ERR_OPTION; AddressError ERR_UNREACHABLE where nobody listens by that name, at once; TimeoutError; RefusedError; the signal's reason
   */
  async connect<In = unknown, Out = unknown>(
    name: string,
    options: EngineConnectOptions = {},
  ): Promise<LinkedPort<In, Out>> {
    this.#checkOpen();
    const { name: kind, where } = this.driver;
    const choice = resolveNetChoice(options, ['token', 'signal']);
    const token = checkToken(options.token);
    const dialer = new Dialer(this.driver, this.#names, checkName('name', name));
    const address = `${where} as ${name}`;
    const { timeoutMs } = choice;
    const unanswered = 'nobody has greeted; is it a listener of this library, and not too busy?';
    const port = await connectBy({
      ...choice,
      where: address,
      kind,
      token,
      signal: checkSignal(options.signal),
      begin: byLines((signal) => dialer.dial(signal), token, choice),
      late: () => lateAt(this.driver, `Cannot connect to ${address}`, timeoutMs, unanswered),
    });
    const { link } = port;
    const closable = { close: () => link.close() };
    void link.closed.then(() => this.#open.delete(closable));
    return this.#keep(port as LinkedPort<In, Out>, closable);
  }

  /**
   * A topic to publish to: whoever listens at the time hears it, in whatever process.
   * @throws UsageError ERR_OPTION
   */
  topic<T = unknown>(name: string, options: EngineTopicOptions = {}): EngineTopic<T> {
    this.#checkOpen();
    const form = formOf(options);
    const key = `${form} ${name}`;
    const found = this.#topics.get(key);
    const publisher = found ?? new Publisher(this.driver, this.#names, checkName('name', name), form, this.#unflushed);
    // Behind those that were asked for before it: a program may have names without end.
    if (found !== undefined) this.#topics.delete(key);
    this.#topics.set(key, publisher);
    if (this.#topics.size > ENGINE_TOPICS_MAX) this.#topics.delete(this.#topics.keys().next().value as string);
    return new EngineTopic<T>(publisher);
  }
  /**
   * Listens to all topics of a pattern, from when it resolves on.
   * @param pattern a name, in which `*` stands for one part, and `>` at the end for all that follow: `prices.*`, `logs.>`
   * @throws (rejects) UsageError ERR_OPTION; AddressError ERR_LISTEN where the server does not allow it
   */
  async subscribe<T = unknown>(pattern: string, options: EngineSubscribeOptions = {}): Promise<EngineReader<T>> {
    let reader: EngineReader<T> | undefined;
    const left = (): void => this.#forget(reader);
    const opening = EngineReader.open<T>(this.driver, this.#names, checkPattern(pattern), options, left);
    reader = await this.#opened(`Cannot subscribe to ${pattern}`, opening);
    return this.#keep(reader);
  }

  /**
   * Answers to a name, beside all others that do: each request goes to one of them.
   * @param answer what it returns, or the promise of it, is the answer; what it throws, `request` throws
   * @throws (rejects) UsageError ERR_OPTION; AddressError ERR_LISTEN where the server does not allow it
   */
  async serve<In = unknown>(
    name: string,
    answer: (value: In, asked: Asked) => unknown,
    options: ServeOptions = {},
  ): Promise<Served> {
    const answers = answer as (value: unknown, asked: Asked) => unknown;
    let served: Served | undefined;
    const opening = this.#requests.serve(name, answers, options, () => this.#forget(served));
    served = await this.#opened(`Cannot serve ${name}`, opening);
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
    const opening = this.driver.queue(checkName('name', name), resolved.ackMs);
    const store = await this.#opened(`Cannot have queue ${name}`, opening);
    const queue: EngineQueue<T> = new EngineQueue<T>(name, this.driver, store, resolved, () =>
      this.#open.delete(queue),
    );
    return this.#keep(queue);
  }

  /**
   * Ends all that it has: listeners and ports, as `closed`; readers; who answers, and workers, once what they have begun is done, or `drainMs` are over. Then it lets go of the
   * server. Whatever is asked of it from then on rejects with a ClosedError. Idempotent.
   * @throws (rejects) UsageError ERR_OPTION
   */
  async close(options: DrainOptions = {}): Promise<void> {
    const drainMs = drainOf(options);
    this.#closing ??= this.#close(drainMs);
    await this.#closing;
  }
  async #close(drainMs: number): Promise<void> {
    const parts = [...this.#open].map(async (each) => each.close({ drainMs }));
    await settledInTime(Promise.allSettled(parts), Math.min(drainMs + 2 * ENGINE_LAST_MS, TIMEOUT_MS_MAX));
    // Last words go at the end of a turn.
    await new Promise<void>((resolve) => platform.turn(resolve));
    if (this.driver.up) await settledInTime(this.driver.flush(), ENGINE_LAST_MS);
    await this.driver.close();
    this.#open.clear();
  }
  /** What is being opened, and would be there too late, is closed as it comes. */
  async #opened<C extends Closable>(action: string, opening: Promise<C>): Promise<C> {
    try {
      this.#checkOpen();
      const late = (): Error => lateAt(this.driver, action, ENGINE_OPEN_MS, 'the server has not answered');
      return await inTime(opening, ENGINE_OPEN_MS, late);
    } catch (error) {
      opening.then(
        (it) => it.close(),
        () => {},
      );
      throw error;
    }
  }
  #keep<C extends object>(opened: C, closable: Closable = opened as unknown as Closable): C {
    if (this.#closing !== undefined) {
      void closable.close();
      throw closedEngine(this.driver);
    }
    this.#open.add(closable);
    return opened;
  }
  /** It may be over before anybody has it. */
  #forget(closable: Closable | undefined): void {
    if (closable !== undefined) this.#open.delete(closable);
  }
  #checkOpen(): void {
    if (this.#closing !== undefined) throw closedEngine(this.driver);
  }
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/**
 * @param given whether a client was handed in
 * @param more options of this engine's own
 * @throws UsageError ERR_OPTION
 */
export function checkEngineOptions(
  options: EngineOptions & { readonly client?: object | undefined },
  given: boolean,
  more: readonly string[] = [],
): Names {
  checkNames(options, [...ENGINE_OPTIONS, 'client', ...more]);
  const { client, prefix = 'millrace' } = options;
  const fits = client === undefined || (typeof client === 'object' && client !== null && !Array.isArray(client));
  if (!fits || (given && client !== undefined)) {
    const why = given
      ? 'the client is one that was handed in, and is what it is'
      : 'it takes an object, for the client that is made';
    throw new UsageError('ERR_OPTION', `Option client cannot be ${typeof client}: ${why}`, { option: 'client' });
  }
  return new Names(prefix);
}
