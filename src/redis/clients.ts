// Two clients of Redis under one name: `redis` (node-redis) and `ioredis`. A client that is handed in is duplicated, and nothing is done with it itself.

import { Buffer } from 'node:buffer';
import { inTime } from '../engine/in-time.ts';
import { packageOf, plainCause, serverUrl, withoutSecrets } from '../engine/package-of.ts';
import { AddressError, ClosedError, UsageError } from '../errors.ts';
import { ENGINE_OPEN_MS } from '../limits.ts';

/** What is asked of a connection to Redis. */
export interface Commands {
  /** @throws (rejects) what the server says */
  call(...parts: readonly (string | Uint8Array)[]): Promise<unknown>;
  /** How many heard it. */
  publish(channel: string, bytes: Uint8Array): Promise<unknown>;
  /** Of one that listens. */
  subscribe(channel: string, heard: (bytes: Uint8Array, channel: string) => void): Promise<void>;
  unsubscribe(channel: string): Promise<void>;
  psubscribe(pattern: string, heard: (bytes: Uint8Array, channel: string) => void): Promise<void>;
  punsubscribe(pattern: string): Promise<void>;
  /** @param told whether it has its server, each time that changes */
  watch(told: (up: boolean) => void): void;
  /** @param told that it has none for ever: its client has given up */
  whenOver(told: () => void): void;
  close(): void;
}
/** What a connection is made of. */
interface Connecting {
  /** Rejects where there is no connection the first time. */
  connect(): Promise<void>;
  readonly commands: Commands;
}

/** A client, and how to have more of the same. */
export class Clients {
  readonly where: string;
  readonly #make: () => Connecting;
  readonly #open = new Set<Commands>();
  #closed = false;

  constructor(where: string, make: () => Connecting) {
    this.where = where;
    this.#make = make;
  }
  /**
   * One more connection, with its server.
   * @throws (rejects) AddressError ERR_UNREACHABLE; ClosedError
   */
  async more(): Promise<Commands> {
    this.#checkOpen();
    const { connect, commands } = this.#make();
    this.#open.add(commands);
    try {
      const late = (): Error => new Error(`nothing has answered in ${ENGINE_OPEN_MS} ms`);
      await inTime(connect(), ENGINE_OPEN_MS, late);
      this.#checkOpen();
      return commands;
    } catch (thrown) {
      this.#open.delete(commands);
      commands.close();
      if (thrown instanceof ClosedError) throw thrown;
      const cause = plainCause(thrown);
      const text = `Cannot connect to Redis at ${this.where}: ${cause.message}`;
      throw new AddressError('ERR_UNREACHABLE', text, { address: this.where, cause });
    }
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

/** The members of a client of `redis` that are used. */
export interface NodeRedisClient {
  readonly options?:
    | {
        readonly url?: string;
        readonly socket?: { readonly path?: string; readonly host?: string; readonly port?: number };
      }
    | undefined;
  readonly isReady: boolean;
  readonly isOpen: boolean;
  duplicate(): NodeRedisClient;
  connect(): Promise<unknown>;
  sendCommand(parts: readonly (string | Uint8Array)[], options: object): Promise<unknown>;
  subscribe(
    channel: string,
    heard: (bytes: Uint8Array, channel: Uint8Array | string) => void,
    buffers: true,
  ): Promise<void>;
  publish(channel: string, bytes: string | Uint8Array): Promise<unknown>;
  unsubscribe(channel: string): Promise<void>;
  pSubscribe(
    pattern: string,
    heard: (bytes: Uint8Array, channel: Uint8Array | string) => void,
    buffers: true,
  ): Promise<void>;
  pUnsubscribe(pattern: string): Promise<void>;
  on(event: string, told: (error: Error) => void): unknown;
  destroy(): void;
}
/** The members of a client of `ioredis` that are used. */
export interface IoredisClient {
  readonly options: { readonly host?: string; readonly port?: number; readonly path?: string };
  readonly status: string;
  duplicate(override?: object): IoredisClient;
  connect(): Promise<unknown>;
  callBuffer(command: string, ...parts: readonly (string | Uint8Array)[]): Promise<unknown>;
  publish(channel: string, bytes: string | Uint8Array): Promise<unknown>;
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  psubscribe(pattern: string): Promise<unknown>;
  punsubscribe(pattern: string): Promise<unknown>;
  on(event: string, told: (...parts: never[]) => void): unknown;
  disconnect(): void;
}

const SCHEMES: readonly string[] = ['redis', 'rediss', 'unix'];

/** @throws (rejects) UnsupportedError where neither package is there; UsageError ERR_OPTION for what is no client, or no URL */
export async function redisClients(server: unknown, options: object): Promise<Clients> {
  if (typeof server !== 'string') return clientsOf(server);
  const { where } = serverUrl(server, SCHEMES);
  const { name, found } = await packageOf<{
    createClient(options: object): NodeRedisClient;
    Redis: new (url: string, options: object) => IoredisClient;
  }>(['redis', 'ioredis'], `connect to Redis at ${where}`);
  try {
    if (name === 'ioredis') return ioredis(new found.Redis(server, { ...options, lazyConnect: true }), where);
    // It writes into the socket that it is given.
    const { socket, ...rest } = options as { socket?: object };
    return nodeRedis(found.createClient({ url: server, ...rest, ...(socket && { socket: { ...socket } }) }), where);
  } catch (thrown) {
    const cause = plainCause(thrown);
    const text = `Cannot make a client for Redis at ${where}: ${cause.message}`;
    throw new UsageError('ERR_OPTION', text, { option: 'client', cause });
  }
}
function clientsOf(client: unknown): Clients {
  const given = Object(client) as Partial<NodeRedisClient & IoredisClient>;
  if (typeof given.duplicate === 'function' && !isCluster(client)) {
    if (typeof given.sendCommand === 'function' && typeof given.pSubscribe === 'function') {
      if (typeof given.destroy !== 'function') throw tooOld();
      return nodeRedis(client as NodeRedisClient, placeOf(given.options));
    }
    if (typeof given.callBuffer === 'function') {
      const { path, host, port } = (client as IoredisClient).options;
      return ioredis(client as IoredisClient, path ?? `${host}:${port}`);
    }
  }
  const text = `Cannot use ${client === null ? 'null' : `a ${typeof client}`} as a Redis client: it takes the URL of a server, or a client of the package "redis" or "ioredis", of no cluster`;
  throw new UsageError('ERR_OPTION', text, { option: 'server' });
}
function tooOld(): UsageError {
  const text =
    'Cannot use this client of the package "redis": it is of version 4 or older, whose replies are texts; npm install redis@5';
  return new UsageError('ERR_OPTION', text, { option: 'server' });
}
function placeOf(options: NodeRedisClient['options']): string {
  const { path, host = 'localhost', port = 6379 } = options?.socket ?? {};
  return options?.url !== undefined ? withoutSecrets(options.url) : (path ?? `${host}:${port}`);
}
/** Of node-redis: texts of replies (`$` in the protocol) are bytes, and no text. */
const AS_BYTES = { typeMapping: { 36: Buffer } };

/** Both clients take any other array for a text. */
function asBuffer(part: string | Uint8Array): string | Uint8Array {
  return typeof part === 'string' ? part : Buffer.from(part.buffer, part.byteOffset, part.length);
}
/** Of ioredis; of node-redis. */
function isCluster(client: unknown): boolean {
  const { isCluster: says, slots } = client as { isCluster?: unknown; slots?: unknown };
  return says === true || slots !== undefined;
}

type HeardBytes = (bytes: Uint8Array, channel: string) => void;

function nodeRedis(client: NodeRedisClient, where: string): Clients {
  return new Clients(where, () => {
    const made = client.duplicate();
    let failed: (error: Error) => void = () => {};
    made.on('error', (error) => failed(error));
    const connect = async (): Promise<void> => {
      // The first time it fails at once; later on it is its own business to come back.
      const first = new Promise<never>((_, reject) => {
        failed = reject;
      });
      await Promise.race([made.connect(), first]);
      failed = () => {};
    };
    type Told = (bytes: Uint8Array, channel: Uint8Array | string) => void;
    const named =
      (heard: HeardBytes): Told =>
      (bytes, channel) =>
        heard(bytes, typeof channel === 'string' ? channel : new TextDecoder().decode(channel));
    const commands: Commands = {
      // Whoever waits for jobs waits as long as it says itself.
      call: (...parts) => made.sendCommand(parts.map(asBuffer), { ...AS_BYTES, timeout: undefined }),
      publish: (channel, bytes) => made.publish(channel, asBuffer(bytes)),
      subscribe: (channel, heard) => made.subscribe(channel, named(heard), true),
      unsubscribe: (channel) => made.unsubscribe(channel),
      psubscribe: (pattern, heard) => made.pSubscribe(pattern, named(heard), true),
      punsubscribe: (pattern) => made.pUnsubscribe(pattern),
      watch(told) {
        // Not every error is one of the connection.
        made.on('error', () => told(made.isReady));
        made.on('end', () => told(false));
        made.on('ready', () => told(true));
      },
      whenOver(told) {
        made.on('end', told);
        made.on('error', () => {
          if (!made.isOpen) told();
        });
      },
      close() {
        failed(new Error('it was given up'));
        if (made.isOpen) made.destroy();
      },
    };
    return { connect, commands };
  });
}

function ioredis(client: IoredisClient, where: string): Clients {
  return new Clients(where, () => {
    const made = client.duplicate({
      lazyConnect: true,
      // What cannot be said now is said by nobody later on: lines and requests have their own way to try again.
      enableOfflineQueue: false,
      autoResubscribe: true,
      // Whoever waits for jobs waits as long as it says itself; everything else has a time of ours.
      commandTimeout: undefined,
    });
    let first: Error | undefined;
    made.on('error', (error: Error) => {
      first ??= error;
    });
    const connect = async (): Promise<void> => {
      try {
        await made.connect();
      } catch (error) {
        throw first ?? error;
      }
    };
    const channels = new Map<string, HeardBytes>();
    const patterns = new Map<string, HeardBytes>();
    made.on('messageBuffer', (channel: Uint8Array, bytes: Uint8Array) => {
      const name = new TextDecoder().decode(channel);
      channels.get(name)?.(bytes, name);
    });
    made.on('pmessageBuffer', (pattern: Uint8Array | string, channel: Uint8Array, bytes: Uint8Array) => {
      const text = typeof pattern === 'string' ? pattern : new TextDecoder().decode(pattern);
      patterns.get(text)?.(bytes, new TextDecoder().decode(channel));
    });
    const commands: Commands = {
      call: (command, ...parts) => made.callBuffer(command as string, ...parts.map(asBuffer)),
      publish: (channel, bytes) => made.publish(channel, asBuffer(bytes)),
      async subscribe(channel, heard) {
        channels.set(channel, heard);
        await made.subscribe(channel);
      },
      async unsubscribe(channel) {
        await made.unsubscribe(channel);
        channels.delete(channel);
      },
      async psubscribe(pattern, heard) {
        patterns.set(pattern, heard);
        await made.psubscribe(pattern);
      },
      async punsubscribe(pattern) {
        await made.punsubscribe(pattern);
        patterns.delete(pattern);
      },
      watch(told) {
        made.on('close', () => told(false));
        made.on('ready', () => told(true));
      },
      whenOver: (told) => void made.on('end', told),
      close: () => made.disconnect(),
    };
    return { connect, commands };
  });
}
