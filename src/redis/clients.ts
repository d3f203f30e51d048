// Two clients of Redis under one name: `redis` (node-redis) and `ioredis`. A client that is handed in is duplicated, and nothing is done with it itself; of one of a
// cluster, a client of one of its nodes is.

import type { Heard } from '../engine/driver.ts';
import { inTime } from '../engine/in-time.ts';
import { packageOf, plainCause, serverUrl } from '../engine/package-of.ts';
import { AddressError, ClosedError, UsageError } from '../errors.ts';
import { ENGINE_OPEN_MS } from '../limits.ts';
import { kindOf } from '../transport/kind-of.ts';
import {
  type IoredisClient,
  type IoredisCluster,
  ioredis,
  isIoredis,
  isIoredisCluster,
  nodeOfIoredis,
} from './ioredis.ts';
import {
  isNodeRedis,
  isNodeRedisCluster,
  type NodeRedisClient,
  type NodeRedisCluster,
  nodeOfNodeRedis,
  nodeRedis,
} from './node-redis.ts';
import { type Address, type AddressMap, addressText, mapped } from './slots.ts';

/** How something is listened for: by its name, by a pattern, or by its name at the node of a cluster that has it. */
export type Kind = 'channel' | 'pattern' | 'sharded';

/** What is asked of a connection to Redis. */
export interface Commands {
  /** @throws (rejects) what the server says */
  call(...parts: readonly (string | Uint8Array)[]): Promise<unknown>;
  /** How many heard it. */
  publish(channel: string, bytes: Uint8Array): Promise<unknown>;
  /** The same, at the node of a cluster that has the channel. */
  publishSharded(channel: string, bytes: Uint8Array): Promise<unknown>;
  /** Of one that listens. */
  listen(kind: Kind, name: string, heard: Heard): Promise<void>;
  unlisten(kind: Kind, name: string): Promise<void>;
  /** @param told whether it has its server, each time that changes */
  watch(told: (up: boolean) => void): void;
  /** @param told that it has none for ever: its client has given up */
  whenOver(told: () => void): void;
  /** @param told that a node of a cluster has taken away something that was listened for */
  whenMoved(told: () => void): void;
  close(): void;
}
/** What a connection is made of. */
export interface Connecting {
  /** Rejects where there is no connection the first time. */
  connect(): Promise<void>;
  readonly commands: Commands;
}
/** What connections are made by. */
export interface Template {
  /** For people; without a password. */
  readonly where: string;
  readonly host: string;
  /**
   * @param at a node of a cluster; otherwise its own server
   * @param comesBack by itself, when it was lost
   */
  make(at: Address | undefined, comesBack: boolean): Connecting;
}

/** Connections to one server, or to the nodes of a cluster. */
export class Clients {
  readonly where: string;
  /** Nodes that are known from the beginning, beside the one of the template. */
  readonly seeds: readonly Address[];
  readonly #template: Template;
  readonly #map: AddressMap | undefined;
  readonly #open = new Set<Commands>();
  /** Such as have lost their server since they had it. */
  readonly #down = new WeakSet<Commands>();
  #closed = false;

  /** @param map where nodes of a cluster are for this side */
  constructor(template: Template, seeds: readonly Address[], map: AddressMap | undefined) {
    this.where = [template.where, ...seeds.map(addressText)].join(',');
    this.seeds = seeds;
    this.#template = template;
    this.#map = map;
  }
  get host(): string {
    return this.#template.host;
  }
  /**
   * One more connection, with its server, to which it comes back by itself.
   * @throws (rejects) AddressError ERR_UNREACHABLE; ClosedError
   */
  more(): Promise<Commands> {
    return this.#connect(undefined, true, ENGINE_OPEN_MS);
  }
  /**
   * One that is over when it is lost.
   * @param at a node, as the cluster calls it
   * @throws (rejects) AddressError ERR_UNREACHABLE; UsageError ERR_OPTION for what a map gives; ClosedError
   */
  once(at?: Address, timeoutMs: number = ENGINE_OPEN_MS): Promise<Commands> {
    return this.#connect(at, false, timeoutMs);
  }
  async #connect(at: Address | undefined, comesBack: boolean, timeoutMs: number): Promise<Commands> {
    this.#checkOpen();
    const { connect, commands } = this.#template.make(at && mapped(this.#map, at), comesBack);
    this.#open.add(commands);
    commands.watch((up) => void (up ? this.#down.delete(commands) : this.#down.add(commands)));
    try {
      const late = (): Error => new Error(`nothing has answered in ${timeoutMs} ms`);
      await inTime(connect(), timeoutMs, late);
      this.#checkOpen();
      return commands;
    } catch (thrown) {
      this.end(commands);
      if (thrown instanceof ClosedError) throw thrown;
      const cause = plainCause(thrown);
      const address = at === undefined ? this.#template.where : addressText(at);
      const text = `Cannot connect to Redis at ${address}: ${cause.message}`;
      throw new AddressError('ERR_UNREACHABLE', text, { address, cause });
    }
  }
  /** Whether it has lost its server: it may have been nobody's to watch by then. */
  isDown(commands: Commands): boolean {
    return this.#down.has(commands);
  }
  /** Ends one of them. */
  end(commands: Commands): void {
    this.#open.delete(commands);
    commands.close();
  }
  /** Ends all, also one that is about to be there. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const commands of this.#open) commands.close();
    this.#open.clear();
  }
  #checkOpen(): void {
    if (this.#closed) throw new ClosedError(`The client of Redis at ${this.where} is closed`, 'closed');
  }
}

const SCHEMES: readonly string[] = ['redis', 'rediss', 'unix'];

/** @throws (rejects) UnsupportedError where neither package is there; UsageError ERR_OPTION for what is no client, or no URL; AddressError ERR_UNREACHABLE for a client of a cluster that finds none */
export async function redisClients(server: unknown, options: object, map: AddressMap | undefined): Promise<Clients> {
  if (typeof server !== 'string') return await clientsOf(server, map);
  // A password may have commas.
  const [first, ...others] = server.split(/,\s*(?=(?:rediss?|unix):)/) as [string, ...string[]];
  const { where } = serverUrl(first, SCHEMES);
  const seeds = others.map((other) => {
    serverUrl(other, SCHEMES);
    const { hostname, port } = new URL(other);
    return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? 6379 : Number(port) };
  });
  const { name, found } = await packageOf<{
    createClient(options: object): NodeRedisClient;
    Redis: new (url: string | object, options?: object) => IoredisClient;
  }>(['redis', 'ioredis'], `connect to Redis at ${where}`);
  // Of what stands behind `unix:` both packages, and their versions, have their own ideas.
  const path = first.startsWith('unix:') ? decodeURIComponent(new URL(first).pathname) : undefined;
  try {
    if (name === 'ioredis') {
      const own = { ...options, lazyConnect: true };
      const client = path === undefined ? new found.Redis(first, own) : new found.Redis({ path, ...own });
      return new Clients(ioredis(client, where), seeds, map);
    }
    // It writes into the socket that it is given.
    const { socket, ...rest } = options as { socket?: object };
    const url = path === undefined ? first : undefined;
    const client = found.createClient({ ...(url && { url }), ...rest, socket: { ...(path && { path }), ...socket } });
    return new Clients(nodeRedis(client, where), seeds, map);
  } catch (thrown) {
    const cause = plainCause(thrown);
    const text = `Cannot make a client for Redis at ${where}: ${cause.message}`;
    throw new UsageError('ERR_OPTION', text, { option: 'client', cause });
  }
}
async function clientsOf(client: unknown, map: AddressMap | undefined): Promise<Clients> {
  if (isNodeRedis(client)) return new Clients(nodeRedis(client), [], map);
  if (isIoredis(client)) return new Clients(ioredis(client), [], map);
  if (isNodeRedisCluster(client)) return await clientsOfCluster(client, nodeOfNodeRedis, map);
  if (isIoredisCluster(client)) return await clientsOfCluster(client, nodeOfIoredis, map);
  const text = `Cannot use ${kindOf(client)} as a Redis client: it takes the URL of a server, or a client of the package "redis" or "ioredis", of one server or of a cluster`;
  throw new UsageError('ERR_OPTION', text, { option: 'server' });
}
async function clientsOfCluster<C extends NodeRedisCluster | IoredisCluster>(
  cluster: C,
  nodeOf: (cluster: C) => Promise<{ readonly template: Template; readonly map: AddressMap | undefined }>,
  map: AddressMap | undefined,
): Promise<Clients> {
  try {
    const late = (): Error => new Error(`no node has answered in ${ENGINE_OPEN_MS} ms`);
    const found = await inTime(nodeOf(cluster), ENGINE_OPEN_MS, late);
    return new Clients(found.template, [], map ?? found.map);
  } catch (thrown) {
    if (thrown instanceof UsageError) throw thrown;
    const cause = plainCause(thrown);
    const text = `Cannot find a node of the cluster by the client that was given: ${cause.message}`;
    throw new AddressError('ERR_UNREACHABLE', text, { address: 'a cluster of Redis', cause });
  }
}
