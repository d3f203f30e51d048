// The door to NATS: ports, topics, requests and queues by name, through a server of it.
import { checkEngineOptions, Engine, type EngineOptions } from '../engine/engine.ts';
import { UsageError } from '../errors.ts';
import { kindOf } from '../transport/kind-of.ts';
import { type NatsClient, natsDriver } from './driver.ts';
import type { JetStream } from './queue.ts';

export * from '../engine/index.ts';
export type { NatsClient } from './driver.ts';

export interface NatsOptions extends EngineOptions {
  /** What the client is made with, where it is made here: `user`, `pass`, `token`, `tls`, `authenticator` and all that @nats-io takes. */
  readonly client?: object | undefined;
  /** The package @nats-io/jetstream, which queues need, where it is not found by its name: in pages, and in bundles. */
  readonly jetstream?: object | undefined;
}

/**
 * @param server the URL of a server, or several with commas, for which a client is made; or a connection of @nats-io, which stays the program's
 * @throws (rejects) UsageError ERR_OPTION; AddressError ERR_UNREACHABLE; UnsupportedError where the package @nats-io/transport-node is not there
 */
export async function open(server: string | NatsClient, options: NatsOptions = {}): Promise<Engine> {
  const names = checkEngineOptions(options, typeof server !== 'string', ['jetstream']);
  const jetstream = checkJetStream(options.jetstream);
  return new Engine(await natsDriver(server, options.client ?? {}, names, jetstream), names);
}
function checkJetStream(given: unknown): JetStream | undefined {
  if (given === undefined) return undefined;
  const { jetstream, jetstreamManager } = Object(given) as Partial<JetStream>;
  if (typeof jetstream === 'function' && typeof jetstreamManager === 'function') return given as JetStream;
  const text = `Option jetstream cannot be ${kindOf(given)}: it takes all that @nats-io/jetstream exports, as one object`;
  throw new UsageError('ERR_OPTION', text, { option: 'jetstream', value: given });
}
