// NATS as a server between programs, by its own client.

import { platform } from '#platform';
import type { Driver, Heard, Subscription } from '../engine/driver.ts';
import { inTime, lateAt } from '../engine/in-time.ts';
import { type Names, randomId } from '../engine/names.ts';
import { packageOf, plainCause, type ServerUrl, serverUrl, withoutSecrets } from '../engine/package-of.ts';
import type { QueueStore } from '../engine/queue.ts';
import { AddressError, ClosedError, UnsupportedError, UsageError } from '../errors.ts';
import { ENGINE_MESSAGE_BYTES_MAX, ENGINE_MESSAGE_BYTES_MIN, ENGINE_OPEN_MS } from '../limits.ts';
import { type Settleable, settleable } from '../port/waiters.ts';
import { kindOf } from '../transport/kind-of.ts';
import { type JetStream, NatsQueue } from './queue.ts';

/** The members of a connection of @nats-io that are used. */
export interface NatsClient {
  readonly info?: { readonly max_payload: number } | undefined;
  publish(subject: string, bytes: Uint8Array, options?: { reply?: string }): void;
  request(subject: string, bytes: Uint8Array, options: { timeout: number }): Promise<unknown>;
  subscribe(
    subject: string,
    options: { queue?: string; callback(error: Error | null, message: NatsMessage): void },
  ): NatsSubscription;
  flush(): Promise<void>;
  status(): AsyncIterable<NatsStatus> & { stop?(): void };
  getServer(): string;
  isClosed(): boolean;
  close(): Promise<void>;
}
interface NatsSubscription {
  unsubscribe(): void;
  drain(): Promise<void>;
}
interface NatsStatus {
  readonly type: string;
  readonly error?: { readonly operation?: string; readonly subject?: string; readonly message: string } | undefined;
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
const DENIED_MAX = 1024;
/** What a message takes beside its bytes is not counted by the server; this is for headers. */
const ROOM = 1024;

const SCHEMES: readonly string[] = ['nats', 'tls'];

/** @throws (rejects) UnsupportedError where the client's package is not there; AddressError ERR_UNREACHABLE; UsageError ERR_OPTION for what is no client, or no URL */
export async function natsDriver(
  server: unknown,
  options: object,
  names: Names,
  jetstream: JetStream | undefined,
): Promise<Driver> {
  if (typeof server !== 'string') return await NatsDriver.over(checkClient(server), false, names, jetstream);
  if (/^wss?:/.test(server)) throw noWebSockets();
  // A password, or a token, may have commas.
  const urls = server
    .split(/,\s*(?=\w+:\/\/|[^@]*$)/)
    .map((each) => serverUrl(each.includes('://') ? each : `nats://${each}`, SCHEMES));
  const where = urls.map((each) => each.where).join(',');
  const user = credentials(urls);
  const { found } = await packageOf<NatsPackage>(['@nats-io/transport-node'], `connect to NATS at ${where}`);
  let client: NatsClient;
  try {
    client = await found.connect({
      servers: where.split(','),
      ...user,
      // Reconnecting for ever is what lines count on; they have times of their own.
      maxReconnectAttempts: -1,
      timeout: ENGINE_OPEN_MS,
      ...options,
      // It would go on without where a server, or who sits before it, says that it has none; and so it would by any option that says nothing.
      ...(where.startsWith('tls:') && { tls: (options as { tls?: object | null | false }).tls || {} }),
    });
  } catch (thrown) {
    const cause = plainCause(thrown);
    const text = `Cannot connect to NATS at ${where}: ${cause.message}`;
    throw new AddressError('ERR_UNREACHABLE', text, { address: where, cause });
  }
  try {
    return await NatsDriver.over(client, true, names, jetstream);
  } catch (error) {
    await client.close();
    throw error;
  }
}
function noWebSockets(): UsageError {
  const text = `Cannot connect to NATS by a WebSocket: hand in the connection that wsconnect() of @nats-io/nats-core has made`;
  return new UsageError('ERR_OPTION', text, { option: 'server' });
}
/**
 * The client takes none out of a URL, and says the same to each server. One name without a password is a token.
 * @throws UsageError ERR_OPTION for what it would say to the wrong one, or in plain text
 */
function credentials(urls: readonly ServerUrl[]): object {
  const named = urls.filter(({ user, password }) => user !== undefined || password !== undefined);
  const { user, password } = named[0] ?? {};
  if (named.some((each) => each.user !== user || each.password !== password))
    throw wrongServers('all of them have one user and one password, for the client says the same to each');
  const tls = urls.filter(({ where }) => where.startsWith('tls:'));
  if (tls.length > 0 && tls.length < urls.length) throw wrongServers('all of them begin with tls:, or none does');
  if (user === undefined && password !== undefined) throw wrongServers('a password has a user before its colon');
  if (user === undefined) return {};
  return password === undefined ? { token: user } : { user, pass: password };
}
function wrongServers(why: string): UsageError {
  return new UsageError('ERR_OPTION', `Cannot use those servers of NATS: ${why}`, { option: 'server' });
}

function checkClient(client: unknown): NatsClient {
  const given = Object(client) as Partial<NatsClient>;
  if (
    typeof given.publish === 'function' &&
    typeof given.subscribe === 'function' &&
    typeof given.status === 'function' &&
    typeof given.getServer === 'function'
  )
    return client as NatsClient;
  const text = `Cannot use ${kindOf(client)} as a NATS client: it takes the URL of a server, or a connection that connect() of @nats-io/transport-node, or in a page wsconnect() of @nats-io/nats-core, has made`;
  throw new UsageError('ERR_OPTION', text, { option: 'server' });
}

class NatsDriver implements Driver {
  readonly name = 'nats';
  readonly where: string;
  closed = false;
  losses = 0;
  readonly #client: NatsClient;
  readonly #ours: boolean;
  readonly #jetstream: JetStream | undefined;
  readonly #downs = new Set<() => void>();
  readonly #id = randomId();
  readonly #names: Names;
  /** What was told, and of which the server may still say that nobody hears it. */
  readonly #told = new Set<string>();
  /** Where this user may not publish: what the server has said of it last, and as which of its denials. */
  readonly #denied = new Map<string, { readonly why: string; readonly at: number }>();
  #denials = 0;
  /** What waits for the server to have all, and ends with it. */
  readonly #flushing = new Set<(error: Error) => void>();
  readonly #subscriptions = new Set<NatsSubscription>();
  #statuses: ReturnType<NatsClient['status']> | undefined;
  #number = 0;
  #flushed: Promise<void> | undefined;
  #up = true;
  #ready: Settleable<void> = settleable();

  private constructor(client: NatsClient, ours: boolean, names: Names, jetstream: JetStream | undefined) {
    this.#client = client;
    this.#jetstream = jetstream;
    this.#ours = ours;
    this.#names = names;
    this.where = withoutSecrets(client.getServer());
    this.#ready.resolve();
    void this.#watch();
  }
  static async over(
    client: NatsClient,
    ours: boolean,
    names: Names,
    jetstream: JetStream | undefined,
  ): Promise<NatsDriver> {
    const where = withoutSecrets(client.getServer());
    if (client.isClosed()) throw new ClosedError(`The NATS client of ${where} is closed`, 'closed');
    const most = mostBytes(client);
    if (most < ENGINE_MESSAGE_BYTES_MIN) {
      const text = `Cannot use NATS at ${where}: it takes messages of ${client.info?.max_payload} bytes (max_payload), and has to take ${ENGINE_MESSAGE_BYTES_MIN + ROOM}`;
      throw new UnsupportedError(text);
    }
    const driver = new NatsDriver(client, ours, names, jetstream);
    const probe = driver.#subscribe(
      `${names.probe(driver.#id)}.*`,
      {},
      (_bytes, subject) => void driver.#told.delete(subject),
      true,
    );
    try {
      await inTime(probe, ENGINE_OPEN_MS, () =>
        lateAt(driver, `Cannot use NATS at ${where}`, ENGINE_OPEN_MS, 'it has not answered'),
      );
      return driver;
    } catch (error) {
      driver.#leave();
      throw error;
    }
  }

  get maxBytes(): number {
    return Math.max(ENGINE_MESSAGE_BYTES_MIN, mostBytes(this.#client));
  }
  get up(): boolean {
    return this.#up;
  }
  get isReady(): boolean {
    return this.up;
  }
  onDown(told: () => void): () => void {
    this.#downs.add(told);
    return () => void this.#downs.delete(told);
  }
  ready(): Promise<void> {
    return this.#ready.promise;
  }
  async #watch(): Promise<void> {
    this.#statuses = this.#client.status();
    for await (const { type, error } of this.#statuses) {
      if (type === 'disconnect') this.#down();
      else if (type === 'error' && error?.operation === 'publish') {
        // Of what nobody asks for.
        if (this.#denied.size >= DENIED_MAX) this.#denied.clear();
        this.#denied.set(String(error.subject), { why: error.message, at: ++this.#denials });
        if (this.#names.isOurs(String(error.subject))) this.losses++;
      } else if (type === 'reconnect' && !this.closed) {
        this.#up = true;
        this.#ready.resolve();
      }
    }
    this.#over();
  }
  #over(): void {
    if (this.closed) return;
    this.closed = true;
    if (this.#up) this.#down();
    else for (const told of [...this.#downs]) told();
    this.#ready.reject(new ClosedError(`The NATS client of ${this.where} is closed`, 'closed'));
  }
  #down(): void {
    if (!this.#up) return;
    this.#up = false;
    this.losses++;
    this.#ready = settleable();
    this.#ready.promise.catch(() => {});
    this.#told.clear();
    const [what, reason] = this.closed ? ['client is closed', 'closed'] : ['server is lost', 'lost'];
    const error = new ClosedError(`The NATS ${what}: ${this.where}`, reason);
    for (const reject of [...this.#flushing]) reject(error);
    for (const told of [...this.#downs]) told();
  }

  publish(subject: string, bytes: Uint8Array): boolean {
    try {
      if (this.closed) return false;
      this.#client.publish(subject, bytes);
      return true;
    } catch {
      // One that is closed, or whose server has come back and takes less.
      this.losses++;
      return false;
    }
  }
  tell(subject: string, bytes: Uint8Array): Promise<boolean> {
    return this.tellOne(subject, bytes);
  }
  /** The server says that nobody hears it, or that this user may not, before it says that it has got everything. */
  async tellOne(subject: string, bytes: Uint8Array, given?: () => boolean): Promise<boolean> {
    await this.ready();
    if (given?.()) return true;
    const reply = `${this.#names.probe(this.#id)}.${this.#number++}`;
    this.#told.add(reply);
    const before = this.#denials;
    try {
      this.#client.publish(subject, bytes, { reply });
      await this.#flushAll();
      // Whoever has an answer was heard.
      if (given?.()) return true;
      // What the client tells of errors comes a turn later.
      if (this.#told.has(reply)) await new Promise<void>((resolve) => platform.turn(resolve));
      const denied = this.#denied.get(subject);
      // Several may have asked at a time: it is for each of them.
      if (denied === undefined || denied.at <= before) return this.#told.has(reply);
      const text = `Cannot say anything to ${subject} at ${this.where}: ${denied.why}`;
      throw new AddressError('ERR_UNREACHABLE', text, { address: this.where });
    } finally {
      this.#told.delete(reply);
    }
  }
  /** What is told in one go has one answer of the server's. */
  #flushAll(): Promise<void> {
    this.#flushed ??= Promise.resolve().then(() => {
      this.#flushed = undefined;
      return this.flush();
    });
    return this.#flushed;
  }
  flush(): Promise<void> {
    if (!this.#up) return Promise.reject(new ClosedError(`The NATS server at ${this.where} is lost`, 'lost'));
    return new Promise((resolve, reject) => {
      const settled = (settle: () => void): void => {
        this.#flushing.delete(failed);
        settle();
      };
      const failed = (error: Error): void => settled(() => reject(error));
      this.#flushing.add(failed);
      this.#client.flush().then(() => settled(resolve), failed);
    });
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
    this.#subscriptions.add(subscription);
    const close = (): void => {
      if (!this.#subscriptions.delete(subscription)) return;
      subscription.unsubscribe();
    };
    try {
      await this.flush();
      if (failed !== undefined) throw this.#notAllowed(subject, failed);
    } catch (error) {
      close();
      throw error;
    }
    const drain = async (): Promise<void> => {
      if (!this.#up || !this.#subscriptions.has(subscription)) return;
      await subscription.drain();
      this.#subscriptions.delete(subscription);
    };
    return { close, drain };
  }
  #notAllowed(subject: string, cause: Error): AddressError {
    const text = `Cannot listen for ${subject} at ${this.where}: ${cause.message}`;
    return new AddressError('ERR_LISTEN', text, { address: this.where, cause });
  }

  async queue(name: string, ackMs: number): Promise<QueueStore> {
    await this.ready();
    return await NatsQueue.open(this.#client, this.where, this.#names.queue(name), ackMs, this.#jetstream);
  }

  async close(): Promise<void> {
    this.#over();
    this.#leave();
    if (this.#ours) await this.#client.close();
  }
  /** Leaves nothing with a client that is the program's. */
  #leave(): void {
    this.#statuses?.stop?.();
    for (const subscription of this.#subscriptions) if (!this.#client.isClosed()) subscription.unsubscribe();
    this.#subscriptions.clear();
  }
}

function mostBytes({ info }: NatsClient): number {
  return Math.min(ENGINE_MESSAGE_BYTES_MAX, (info?.max_payload ?? 1 << 20) - ROOM);
}
