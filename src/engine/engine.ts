// What a program has of a server between programs: ports, topics, requests and queues by name.

import { connectOver } from '../net/connecting.ts';
import { Entrance, type EntranceOptions } from '../net/entrance.ts';
import { type NetChoice, resolveNetChoice, tokenBytes } from '../net/options.ts';
import type { AbortSignalLike } from '../port/events.ts';
import { checkSignal } from '../port/link-choice.ts';
import type { Listener } from '../port/link-listener.ts';
import { checkNames } from '../port/options.ts';
import type { Port } from '../port/port.ts';
import type { Line } from '../transport/network/line.ts';
import type { Driver } from './driver.ts';
import { Answering, Dialer } from './lines.ts';
import { checkName, type Names } from './names.ts';

export interface EngineOptions {
  /** What all subjects begin with, so that a server's permissions can say who may do what, and several programs share a server; default `millrace`. */
  readonly prefix?: string | undefined;
}
export const ENGINE_OPTIONS: readonly string[] = ['prefix'];

export type EngineListenOptions = Omit<EntranceOptions, 'origins'>;
export interface EngineConnectOptions extends NetChoice {
  /** What the listener's `authorize` is to know this side by. */
  readonly token?: string | undefined;
  readonly signal?: AbortSignalLike | undefined;
}

const HEADLESS = { from: '', origin: undefined, url: '', header: (): undefined => undefined };

export class Engine {
  /** @internal */
  readonly driver: Driver;
  readonly #names: Names;

  /** @internal */
  constructor(driver: Driver, names: Names) {
    this.driver = driver;
    this.#names = names;
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
    enter = (line) => hall.enter(line, kind, HEADLESS);
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
    return await connectOver<In, Out>({
      ...choice,
      where: `${where} as ${name}`,
      kind,
      token: tokenBytes(options.token),
      signal: checkSignal(options.signal),
      dial: (signal) => dialer.dial(signal),
    });
  }

  /** Lets go of the server: where it was connected to by a URL it is no more, and whatever there is over it ends as `lost`, or when it has waited long enough. */
  async close(): Promise<void> {
    await this.driver.close();
  }
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** @throws UsageError ERR_OPTION */
export function checkEngineOptions(options: EngineOptions, more: readonly string[] = []): void {
  checkNames(options, [...ENGINE_OPTIONS, ...more]);
}
