// The door to Redis: ports, topics, requests and queues by name, through a server of it, or a cluster.
import { checkEngineOptions, Engine, type EngineOptions } from '../engine/engine.ts';
import { UsageError } from '../errors.ts';
import { redisClients } from './clients.ts';
import { RedisDriver } from './driver.ts';
import type { AddressMap } from './slots.ts';

export * from '../engine/index.ts';
export type { IoredisClient, IoredisCluster } from './ioredis.ts';
export type { NodeRedisClient, NodeRedisCluster } from './node-redis.ts';
export type { Address, AddressMap } from './slots.ts';

/** A client of `redis` or `ioredis`, of one server or of a cluster, of whichever version: it is looked at when it is given. */
export interface RedisClient {
  duplicate(...how: never[]): unknown;
}
export interface RedisOptions extends EngineOptions {
  /** What the client is made with, where it is made here: `username`, `password`, `socket` or `tls`, and all that its package takes. */
  readonly client?: object | undefined;
  /** Where the nodes of a cluster are for this side, by `host:port` as they call themselves; a client of a cluster that is handed in says so itself. */
  readonly nodeAddressMap?: AddressMap | undefined;
}

/**
 * @param server the URL of a server (`redis://`, `rediss://`, `unix:`), or of nodes of a cluster, with commas, of which any is enough: for it a client is made with the
 *   package `redis`, or else `ioredis`; or a client of either, also of a cluster, which is duplicated, and stays the program's
 * @throws (rejects) UsageError ERR_OPTION; AddressError ERR_UNREACHABLE; UnsupportedError where neither package is there, and for a cluster before Redis 7
 */
export async function open(server: string | RedisClient, options: RedisOptions = {}): Promise<Engine> {
  const names = checkEngineOptions(options, typeof server !== 'string', ['nodeAddressMap']);
  const clients = await redisClients(server, options.client ?? {}, checkMap(options.nodeAddressMap));
  return new Engine(await RedisDriver.over(clients, names), names);
}
function checkMap(map: unknown): AddressMap | undefined {
  if (map === undefined || typeof map === 'function' || (typeof map === 'object' && map !== null))
    return map as AddressMap | undefined;
  const text = `Option nodeAddressMap cannot be ${String(map)}: it takes an object, or a function, that gives { host, port } for "host:port"`;
  throw new UsageError('ERR_OPTION', text, { option: 'nodeAddressMap', value: map });
}
