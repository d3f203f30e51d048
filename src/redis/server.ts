// What the driver and queues say things to: one server here, a cluster in cluster.ts.
import type { Heard } from '../engine/driver.ts';
import { inTime } from '../engine/in-time.ts';
import { TimeoutError, UnsupportedError, UsageError } from '../errors.ts';
import { ENGINE_OPEN_MS } from '../limits.ts';
import type { Clients, Commands } from './clients.ts';
import { Cluster } from './cluster.ts';
import { type Text, textOf } from './replies.ts';

export interface Server {
  readonly up: boolean;
  /**
   * @param key one of those that stand in it; all have the same slot
   * @throws (rejects) what the server says
   */
  call(key: string, ...parts: readonly Text[]): Promise<unknown>;
  /**
   * How many heard it; what is published to one channel comes in order.
   * @param given whether nobody waits for it any more: then it is not said again where a cluster has not done it at once
   */
  publish(channel: string, bytes: Uint8Array, given?: () => boolean): Promise<unknown>;
  /** Who listens goes on to do so whenever the server is up. */
  listen(channel: string, isPattern: boolean, heard: Heard): Promise<void>;
  unlisten(channel: string, isPattern: boolean): Promise<void>;
  /** Channels with this slot that somebody listens for, of those that begin so. */
  channels(start: string): Promise<string[]>;
  /** A connection for who stands still until there is something, at the one that has this key. */
  waits(key: string): Promise<Commands>;
  endWaits(waits: Commands): void;
  /** When all that was published before is answered, or refused; of one connection its last answer says so. Never rejects. */
  settled(): Promise<unknown>;
  /** @param told whether it is there, each time that changes */
  watch(told: (up: boolean) => void): void;
  /** @param told that it is not for ever: a client has given up */
  whenOver(told: () => void): void;
  close(): Promise<void>;
}

/**
 * @param toAll whether a channel is one that patterns are to find, which in a cluster is heard at all nodes
 * @throws (rejects) AddressError ERR_UNREACHABLE; UnsupportedError for a cluster before Redis 7
 */
export async function serverOf(clients: Clients, toAll: (channel: string) => boolean): Promise<Server> {
  const asked = await firstOf(clients);
  const late = (): Error => {
    const text = `Cannot use Redis at ${clients.where}: it has not answered in ${ENGINE_OPEN_MS} ms`;
    return new TimeoutError(text, { timeoutMs: ENGINE_OPEN_MS, address: clients.where });
  };
  const { mode, version } = await inTime(kindOf(asked), ENGINE_OPEN_MS, late);
  if (mode !== 'cluster') {
    if (clients.seeds.length === 0) return new SingleServer(clients, asked, await clients.more());
    const text = `Cannot use several servers of Redis, ${clients.where}: they are to be nodes of a cluster, and are none`;
    throw new UsageError('ERR_OPTION', text, { option: 'server' });
  }
  clients.end(asked);
  if (Number.parseInt(version, 10) >= 7) return await Cluster.over(clients, toAll);
  const why = `its pub/sub tells nobody whether a message was heard before version 7, and this is ${version}`;
  throw new UnsupportedError(`Cannot use Redis at ${clients.where}: it is one of a cluster, and ${why}`);
}
async function firstOf(clients: Clients): Promise<Commands> {
  let first: unknown;
  for (const at of [undefined, ...clients.seeds]) {
    try {
      return await (at === undefined ? clients.more() : clients.once(at));
    } catch (error) {
      first ??= error;
    }
  }
  throw first;
}
interface Kind {
  readonly mode: string;
  readonly version: string;
}
/** Of HELLO, which whoever may come in at all may ask; INFO where it is called otherwise. */
async function kindOf(says: Commands): Promise<Kind> {
  try {
    return helloOf(await says.call('HELLO'));
  } catch {
    const info = await says.call('INFO').catch(() => '');
    const of = (name: string): string => new RegExp(`^${name}:(\\S*)`, 'm').exec(textOf(info as Text))?.[1] ?? '';
    return { mode: of('redis_mode'), version: of('redis_version') };
  }
}
/** As a map or as a list. */
function helloOf(said: unknown): Kind {
  const parts =
    said instanceof Map ? [...said].flat() : Array.isArray(said) ? said : Object.entries(Object(said)).flat();
  const texts = parts.map((part) => (part instanceof Uint8Array ? textOf(part) : String(part)));
  const of = (name: string): string => (texts.includes(name) ? (texts[texts.indexOf(name) + 1] as string) : '');
  return { mode: of('mode'), version: of('version') };
}

/** One connection says and one listens. */
class SingleServer implements Server {
  readonly #clients: Clients;
  readonly #says: Commands;
  readonly #hears: Commands;
  readonly #down = new Set<Commands>();

  constructor(clients: Clients, says: Commands, hears: Commands) {
    this.#clients = clients;
    this.#says = says;
    this.#hears = hears;
  }
  get up(): boolean {
    return this.#down.size === 0;
  }
  call(_key: string, ...parts: readonly Text[]): Promise<unknown> {
    return this.#says.call(...parts);
  }
  publish(channel: string, bytes: Uint8Array): Promise<unknown> {
    return this.#says.publish(channel, bytes);
  }
  listen(channel: string, isPattern: boolean, heard: Heard): Promise<void> {
    return this.#hears.listen(isPattern ? 'pattern' : 'channel', channel, heard);
  }
  unlisten(channel: string, isPattern: boolean): Promise<void> {
    return this.#hears.unlisten(isPattern ? 'pattern' : 'channel', channel);
  }
  async channels(start: string): Promise<string[]> {
    const found = await this.#says.call('PUBSUB', 'CHANNELS', `${start}*`);
    return (found as Text[]).map(textOf);
  }
  async settled(): Promise<void> {}
  async waits(): Promise<Commands> {
    return await this.#clients.once();
  }
  endWaits(waits: Commands): void {
    this.#clients.end(waits);
  }
  watch(told: (up: boolean) => void): void {
    for (const each of [this.#says, this.#hears]) {
      each.watch((up) => {
        if (up) this.#down.delete(each);
        else this.#down.add(each);
        told(this.up);
      });
      // Before anybody has watched it.
      if (this.#clients.isDown(each)) this.#down.add(each);
    }
  }
  whenOver(told: () => void): void {
    for (const each of [this.#says, this.#hears]) each.whenOver(told);
  }
  async close(): Promise<void> {
    await this.#clients.close();
  }
}
