// Two clients of Redis under one name: `redis` (node-redis) and `ioredis`. A client that is handed in is duplicated, and nothing is done with it itself.

import { Buffer } from 'node:buffer';
import { packageOf, withoutSecrets } from '../engine/package-of.ts';
import { AddressError, UsageError } from '../errors.ts';

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
  close(): Promise<void>;
}
/** A client, and how to have more of the same. */
export interface Clients {
  readonly where: string;
  /** One more connection, with its server. */
  more(): Promise<Commands>;
}

/** The members of a client of `redis` that are used. */
export interface NodeRedisClient {
  readonly options?: { readonly url?: string } | undefined;
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

/** @throws (rejects) UnsupportedError where neither package is there; AddressError ERR_UNREACHABLE; UsageError ERR_OPTION for what is no client */
export async function redisClients(server: unknown, options: object): Promise<Clients> {
  if (typeof server !== 'string') return clientsOf(server);
  const where = withoutSecrets(server);
  const { name, found } = await packageOf<{
    createClient(options: object): NodeRedisClient;
    Redis: new (url: string, options: object) => IoredisClient;
  }>(['redis', 'ioredis'], `connect to Redis at ${where}`);
  if (name === 'redis') return nodeRedis(found.createClient({ url: server, ...options }), where);
  return ioredis(new found.Redis(server, { ...options, lazyConnect: true }), where);
}
function clientsOf(client: unknown): Clients {
  const given = Object(client) as Partial<NodeRedisClient & IoredisClient>;
  if (typeof given.duplicate === 'function' && !isCluster(client)) {
    if (typeof given.sendCommand === 'function' && typeof given.pSubscribe === 'function')
      return nodeRedis(client as NodeRedisClient, withoutSecrets(given.options?.url ?? 'localhost'));
    if (typeof given.callBuffer === 'function') {
      const { path, host, port } = (client as IoredisClient).options;
      return ioredis(client as IoredisClient, path ?? `${host}:${port}`);
    }
  }
  const text = `Cannot use ${client === null ? 'null' : `a ${typeof client}`} as a Redis client: it takes the URL of a server, or a client of the package "redis" or "ioredis", of no cluster`;
  throw new UsageError('ERR_OPTION', text, { option: 'server' });
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
function unreachable(where: string, cause: unknown): AddressError {
  const text = `Cannot connect to Redis at ${where}: ${(cause as Error).message}`;
  return new AddressError('ERR_UNREACHABLE', text, { address: where, cause });
}

function nodeRedis(client: NodeRedisClient, where: string): Clients {
  return {
    where,
    async more() {
      const made = client.duplicate();
      // The first time it fails at once; later on it is its own business to come back.
      let settled = false;
      await new Promise<void>((resolve, reject) => {
        made.on('error', (error) => {
          if (settled) return;
          settled = true;
          made.destroy();
          reject(unreachable(where, error));
        });
        made.connect().then(
          () => {
            settled = true;
            resolve();
          },
          (error) => reject(unreachable(where, error)),
        );
      });
      type Told = (bytes: Uint8Array, channel: Uint8Array | string) => void;
      const named =
        (heard: (bytes: Uint8Array, channel: string) => void): Told =>
        (bytes, channel) =>
          heard(bytes, typeof channel === 'string' ? channel : new TextDecoder().decode(channel));
      return {
        call: (...parts) => made.sendCommand(parts.map(asBuffer), AS_BYTES),
        publish: (channel, bytes) => made.publish(channel, asBuffer(bytes)),
        subscribe: (channel, heard) => made.subscribe(channel, named(heard), true),
        unsubscribe: (channel) => made.unsubscribe(channel),
        psubscribe: (pattern, heard) => made.pSubscribe(pattern, named(heard), true),
        punsubscribe: (pattern) => made.pUnsubscribe(pattern),
        watch(told) {
          made.on('error', () => told(false));
          made.on('end', () => told(false));
          made.on('ready', () => told(true));
        },
        async close() {
          made.destroy();
        },
      };
    },
  };
}

function ioredis(client: IoredisClient, where: string): Clients {
  return {
    where,
    async more() {
      // What cannot be said now is said by nobody later on: lines and requests have their own way to try again.
      const made = client.duplicate({ lazyConnect: true, enableOfflineQueue: false, autoResubscribe: true });
      let first: Error | undefined;
      made.on('error', (error: Error) => {
        first ??= error;
      });
      try {
        await made.connect();
      } catch (error) {
        made.disconnect();
        throw unreachable(where, first ?? error);
      }
      const channels = new Map<string, (bytes: Uint8Array, channel: string) => void>();
      const patterns = new Map<string, (bytes: Uint8Array, channel: string) => void>();
      made.on('messageBuffer', (channel: Uint8Array, bytes: Uint8Array) => {
        const name = new TextDecoder().decode(channel);
        channels.get(name)?.(bytes, name);
      });
      made.on('pmessageBuffer', (pattern: Uint8Array | string, channel: Uint8Array, bytes: Uint8Array) => {
        const text = typeof pattern === 'string' ? pattern : new TextDecoder().decode(pattern);
        patterns.get(text)?.(bytes, new TextDecoder().decode(channel));
      });
      return {
        call: (command, ...parts) => made.callBuffer(command as string, ...parts.map(asBuffer)),
        publish: (channel, bytes) => made.publish(channel, asBuffer(bytes)),
        async subscribe(channel, heard) {
          channels.set(channel, heard);
          await made.subscribe(channel);
        },
        async unsubscribe(channel) {
          channels.delete(channel);
          await made.unsubscribe(channel);
        },
        async psubscribe(pattern, heard) {
          patterns.set(pattern, heard);
          await made.psubscribe(pattern);
        },
        async punsubscribe(pattern) {
          patterns.delete(pattern);
          await made.punsubscribe(pattern);
        },
        watch(told) {
          made.on('close', () => told(false));
          made.on('ready', () => told(true));
        },
        async close() {
          made.disconnect();
        },
      };
    },
  };
}
