// The door to Redis: ports, topics, requests and queues by name, through a server of it.
import { checkEngineOptions, Engine, type EngineOptions } from '../engine/engine.ts';
import { type IoredisClient, type NodeRedisClient, redisClients } from './clients.ts';
import { RedisDriver } from './driver.ts';

export * from '../engine/index.ts';
export type { IoredisClient, NodeRedisClient } from './clients.ts';

export interface RedisOptions extends EngineOptions {
  /** What the client is made with, where it is made here: `username`, `password`, `socket` or `tls`, and all that its package takes. */
  readonly client?: object | undefined;
}

/**
 * @param server the URL of a server (`redis://`, `rediss://`), for which a client is made with the package `redis`, or else `ioredis`; or a client of either, which is
 *   duplicated, and stays the program's
 * @throws (rejects) UsageError ERR_OPTION; AddressError ERR_UNREACHABLE; UnsupportedError where neither package is there
 */
export async function open(
  server: string | NodeRedisClient | IoredisClient,
  options: RedisOptions = {},
): Promise<Engine> {
  const names = checkEngineOptions(options, typeof server !== 'string');
  const clients = await redisClients(server, options.client ?? {});
  return new Engine(await RedisDriver.over(clients, names), names);
}
