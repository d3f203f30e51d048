// NATS as a server between programs, by its own client.

import type { Driver, Heard, Subscription } from '../engine/driver.ts';
import { type Names, randomId } from '../engine/names.ts';
import { packageOf, withoutSecrets } from '../engine/package-of.ts';
import type { QueueStore } from '../engine/queue.ts';
import { AddressError, ClosedError, UsageError } from '../errors.ts';
import { ENGINE_MESSAGE_BYTES_MAX } from '../limits.ts';
import { type Settleable, settleable } from '../port/waiters.ts';
import { NatsQueue } from './queue.ts';

/** The members of a connection of @nats-io that are used. */
export interface NatsClient {
  readonly info?: { readonly max_payload: number } | undefined;
  publish(subject: string, bytes: Uint8Array, options?: { reply?: string }): void;
  subscribe(
    subject: string,
    options: { queue?: string; callback(error: Error | null, message: NatsMessage): void },
  ): { unsubscribe(): void };
  flush(): Promise<void>;
  status(): AsyncIterable<{ readonly type: string }>;
  getServer(): string;
  isClosed(): boolean;
  close(): Promise<void>;
}
interface NatsMessage {
  readonly subject: string;
  readonly data: Uint8Array;
  readonly headers?: { readonly code: number } | undefined;
}
interface NatsPackage {
  connect(options: object): Promise<NatsClient>;
}

/** All who listen for ports by one name are one queue group, as NATS calls it. */
const GROUP = 'millrace';
const NO_RESPONDERS = 503;
/** What a message takes beside its bytes is not counted by the server; this is for headers. */
const ROOM = 1024;

/** @throws (rejects) UnsupportedError where the client's package is not there; AddressError ERR_UNREACHABLE; UsageError ERR_OPTION for what is no client */
export async function natsDriver(server: unknown, options: object, names: Names): Promise<Driver> {
  if (typeof server !== 'string') return await NatsDriver.over(checkClient(server), false, names);
  const where = withoutSecrets(server);
  const { found } = await packageOf<NatsPackage>(['@nats-io/transport-node'], `connect to NATS at ${where}`);
  let client: NatsClient;
  try {
    // Reconnecting for ever is what lines count on; they have times of their own.
    client = await found.connect({ servers: server, maxReconnectAttempts: -1, ...options });
  } catch (cause) {
    const text = `Cannot connect to NATS at ${where}: ${(cause as Error).message}`;
    throw new AddressError('ERR_UNREACHABLE', text, { address: where, cause });
  }
  return await NatsDriver.over(client, true, names);
}

function checkClient(client: unknown): NatsClient {
  const given = Object(client) as Partial<NatsClient>;
  if (
    typeof given.publish === 'function' &&
    typeof given.subscribe === 'function' &&
    typeof given.status === 'function'
  )
    return client as NatsClient;
  const text = `Cannot use ${client === null ? 'null' : `a ${typeof client}`} as a NATS client: it takes the URL of a server, or a connection that connect() of @nats-io/transport-node has made`;
  throw new UsageError('ERR_OPTION', text, { option: 'server' });
}

class NatsDriver implements Driver {
  readonly name = 'nats';
  readonly where: string;
  readonly maxBytes: number;
  readonly #client: NatsClient;
  readonly #ours: boolean;
  readonly #downs = new Set<() => void>();
  readonly #id = randomId();
  readonly #names: Names;
  /** What was told, and of which the server may still say that nobody hears it. */
  readonly #told = new Set<string>();
  #number = 0;
  #up = true;
  #closed = false;
  #ready: Settleable<void> = settleable();

  private constructor(client: NatsClient, ours: boolean, names: Names) {
    this.#client = client;
    this.#ours = ours;
    this.#names = names;
    this.where = withoutSecrets(client.getServer());
    this.maxBytes = Math.min(ENGINE_MESSAGE_BYTES_MAX, (client.info?.max_payload ?? 1 << 20) - ROOM);
    this.#ready.resolve();
    void this.#watch();
  }
  static async over(client: NatsClient, ours: boolean, names: Names): Promise<NatsDriver> {
    const driver = new NatsDriver(client, ours, names);
    await driver.#subscribe(
      `${names.probe(driver.#id)}.*`,
      {},
      (_bytes, subject) => void driver.#told.delete(subject),
      true,
    );
    return driver;
  }

  get up(): boolean {
    return this.#up;
  }
  onDown(told: () => void): () => void {
    this.#downs.add(told);
    return () => void this.#downs.delete(told);
  }
  ready(): Promise<void> {
    return this.#ready.promise;
  }
  async #watch(): Promise<void> {
    for await (const { type } of this.#client.status()) {
      if (type === 'disconnect') this.#down();
      else if (type === 'reconnect' && !this.#closed) {
        this.#up = true;
        this.#ready.resolve();
      }
    }
    this.#over();
  }
  #over(): void {
    this.#closed = true;
    this.#down();
    this.#ready.reject(new ClosedError(`The NATS client of ${this.where} is closed`, 'closed'));
  }
  #down(): void {
    if (!this.#up) return;
    this.#up = false;
    this.#ready = settleable();
    this.#ready.promise.catch(() => {});
    this.#told.clear();
    for (const told of [...this.#downs]) told();
  }

  publish(subject: string, bytes: Uint8Array): void {
    // A client that is closed throws; who counts on it was told.
    if (!this.#client.isClosed()) this.#client.publish(subject, bytes);
  }
  /** The server says that nobody hears it before it says that it has got everything. */
  async tell(subject: string, bytes: Uint8Array): Promise<boolean> {
    await this.ready();
    const reply = `${this.#names.probe(this.#id)}.${this.#number++}`;
    this.#told.add(reply);
    this.#client.publish(subject, bytes, { reply });
    await this.flush();
    if (!this.#up) throw new ClosedError(`The NATS server at ${this.where} is lost`, 'lost');
    return this.#told.delete(reply);
  }
  tellOne(subject: string, bytes: Uint8Array): Promise<boolean> {
    return this.tell(subject, bytes);
  }
  async flush(): Promise<void> {
    await this.#client.flush();
  }

  subscribe(subject: string, heard: Heard): Promise<Subscription> {
    return this.#subscribe(subject, {}, heard);
  }
  share(subject: string, heard: Heard): Promise<Subscription> {
    return this.#subscribe(subject, { queue: GROUP }, heard);
  }
  async #subscribe(
    subject: string,
    how: { queue?: string },
    heard: Heard,
    byServer: boolean = false,
  ): Promise<Subscription> {
    let failed: Error | undefined;
    const callback = (error: Error | null, { data, subject: said, headers }: NatsMessage): void => {
      if (error !== null) failed = error;
      // What the server itself says is for who has asked, and nobody else says it.
      else if ((headers?.code === NO_RESPONDERS) === byServer) heard(data, said);
    };
    await this.ready();
    const subscription = this.#client.subscribe(subject, { ...how, callback });
    await this.flush();
    if (failed !== undefined) throw this.#notAllowed(subject, failed);
    return { close: () => subscription.unsubscribe() };
  }
  #notAllowed(subject: string, cause: Error): AddressError {
    const text = `Cannot listen for ${subject} at ${this.where}: ${cause.message}`;
    return new AddressError('ERR_LISTEN', text, { address: this.where, cause });
  }

  async queue(name: string, ackMs: number): Promise<QueueStore> {
    await this.ready();
    return await NatsQueue.open(this.#client, this.where, this.#names.queue(name), ackMs);
  }

  async close(): Promise<void> {
    this.#over();
    if (this.#ours) await this.#client.close();
  }
}
