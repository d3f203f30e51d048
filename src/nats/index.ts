// The door to NATS: ports, topics, requests and queues by name, through a server of it.
import { checkEngineOptions, Engine, type EngineOptions } from '../engine/engine.ts';
import { type NatsClient, natsDriver } from './driver.ts';

export * from '../engine/index.ts';
export type { NatsClient } from './driver.ts';

export interface NatsOptions extends EngineOptions {
  /** What the client is made with, where it is made here: `user`, `pass`, `token`, `tls`, `authenticator` and all that @nats-io takes. */
  readonly client?: object | undefined;
}

/**
 * @param server the URL of a server, or several with commas, for which a client is made; or a connection of @nats-io, which stays the program's
 * @throws (rejects) UsageError ERR_OPTION; AddressError ERR_UNREACHABLE; UnsupportedError where the package @nats-io/transport-node is not there
 */
export async function open(server: string | NatsClient, options: NatsOptions = {}): Promise<Engine> {
  const names = checkEngineOptions(options, typeof server !== 'string');
  return new Engine(await natsDriver(server, options.client ?? {}, names), names);
}
