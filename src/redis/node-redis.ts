// The client `redis` (node-redis), of one server or of a cluster.

import { Buffer } from 'node:buffer';
import type { Heard } from '../engine/driver.ts';
import { withoutSecrets } from '../engine/package-of.ts';
import { UsageError } from '../errors.ts';
import type { Commands, Connecting, Kind, Template } from './clients.ts';
import { type Text, textOf } from './replies.ts';
import type { Address, AddressMap } from './slots.ts';

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
  duplicate(overrides?: object): NodeRedisClient;
  connect(): Promise<unknown>;
  sendCommand(parts: readonly (string | Uint8Array)[], options: object): Promise<unknown>;
  publish(channel: string, bytes: string | Uint8Array): Promise<unknown>;
  sPublish(channel: string, bytes: string | Uint8Array): Promise<unknown>;
  subscribe(channel: string, heard: NodeRedisHeard, buffers: true): Promise<void>;
  unsubscribe(channel: string): Promise<void>;
  pSubscribe(pattern: string, heard: NodeRedisHeard, buffers: true): Promise<void>;
  pUnsubscribe(pattern: string): Promise<void>;
  sSubscribe(channel: string, heard: NodeRedisHeard, buffers: true): Promise<void>;
  sUnsubscribe(channel: string): Promise<void>;
  on(event: string, told: (error: Error) => void): unknown;
  destroy(): void;
}
type NodeRedisHeard = (bytes: Uint8Array, channel: Text) => void;
/** The members of a client of `redis` for a cluster that are used. */
export interface NodeRedisCluster {
  readonly slots: unknown;
  readonly masters: readonly unknown[];
  duplicate(overrides?: object): NodeRedisCluster;
  connect(): Promise<unknown>;
  nodeClient(node: never): unknown;
  on(event: string, told: (error: Error) => void): unknown;
  destroy(): void;
}

/** @throws UsageError ERR_OPTION for one of a version that is too old */
export function isNodeRedis(client: unknown): client is NodeRedisClient {
  const { duplicate, sendCommand, pSubscribe, destroy, slots } = Object(client) as Partial<
    NodeRedisClient & NodeRedisCluster
  >;
  if (![duplicate, sendCommand, pSubscribe].every((member) => typeof member === 'function') || slots !== undefined)
    return false;
  if (typeof destroy !== 'function') throw tooOld();
  if (typeof (client as { getSentinelNode?: unknown }).getSentinelNode === 'function') throw noSentinels();
  return true;
}
export function isNodeRedisCluster(client: unknown): client is NodeRedisCluster {
  const { slots, duplicate, nodeClient, destroy } = Object(client) as Partial<NodeRedisCluster>;
  if (slots === undefined || typeof duplicate !== 'function' || typeof nodeClient !== 'function') return false;
  if (typeof destroy !== 'function') throw tooOld();
  return true;
}
function noSentinels(): UsageError {
  const text =
    'Cannot use a client of Sentinels of the package "redis": hand in one of "ioredis", new Redis({ sentinels, name }), or a client of the server itself';
  return new UsageError('ERR_OPTION', text, { option: 'server' });
}
function tooOld(): UsageError {
  const text =
    'Cannot use this client of the package "redis": it is of version 4 or older, whose replies are texts; npm install redis@5';
  return new UsageError('ERR_OPTION', text, { option: 'server' });
}

/** A client of one of its nodes, with its user and password; and where the client that was given says that nodes are. */
export async function nodeOfNodeRedis(
  cluster: NodeRedisCluster,
): Promise<{ template: Template; map: AddressMap | undefined }> {
  const own = cluster.duplicate({ minimizeConnections: true });
  own.on('error', () => {});
  try {
    await own.connect();
    const node = (await own.nodeClient(own.masters[0] as never)) as NodeRedisClient;
    const { _options } = cluster as { _options?: { nodeAddressMap?: AddressMap } };
    return { template: nodeRedis(node.duplicate()), map: _options?.nodeAddressMap };
  } finally {
    own.destroy();
  }
}

function placeOf(options: NodeRedisClient['options']): string {
  const { path, host = 'localhost', port = 6379 } = options?.socket ?? {};
  return options?.url !== undefined ? withoutSecrets(options.url) : (path ?? `${host}:${port}`);
}
/** Texts of replies (`$` in the protocol) are bytes, and no text. */
const AS_BYTES = { typeMapping: { 36: Buffer } };

/** It takes any other array for a text. */
export function asBuffer(part: string | Uint8Array): string | Uint8Array {
  return typeof part === 'string' ? part : Buffer.from(part.buffer, part.byteOffset, part.length);
}

const OURS = {
  // Channels have names of ours, in which no other prefix stands.
  keyPrefix: undefined,
  // What cannot be said now is said by nobody later on, nor over another connection: lines and requests have their own way to try again.
  disableOfflineQueue: true,
  // A server that takes its time is not lost; whatever is said to it has a time of ours.
  commandOptions: { timeout: undefined },
};

export function nodeRedis(client: NodeRedisClient, where: string = placeOf(client.options)): Template {
  const more = (at: Address | undefined, comesBack: boolean): NodeRedisClient => {
    if (comesBack) return client.duplicate(OURS);
    // Its options have what stood in a URL, too.
    const socket = { ...client.options?.socket, ...(at && { path: undefined, ...at }), reconnectStrategy: false };
    return client.duplicate({ ...OURS, url: undefined, socket });
  };
  return {
    where,
    host: client.options?.socket?.host ?? 'localhost',
    make: (at, comesBack) => connecting(more(at, comesBack)),
  };
}
function connecting(made: NodeRedisClient): Connecting {
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
  // It calls each function that it was given for a name: what is listened for once more is heard once.
  const heardBy = new Map<string, Heard>();
  const tolds = new Map<string, NodeRedisHeard>();
  const named = (kind: Kind, name: string, heard: Heard): NodeRedisHeard => {
    const key = `${kind} ${name}`;
    heardBy.set(key, heard);
    const told = tolds.get(key) ?? ((bytes, channel) => heardBy.get(key)?.(bytes, textOf(channel)));
    tolds.set(key, told);
    return told;
  };
  const forget = (kind: Kind, name: string): void => {
    for (const map of [heardBy, tolds]) map.delete(`${kind} ${name}`);
  };
  const listens: Record<Kind, (name: string, heard: NodeRedisHeard) => Promise<void>> = {
    channel: (name, heard) => made.subscribe(name, heard, true),
    pattern: (name, heard) => made.pSubscribe(name, heard, true),
    sharded: (name, heard) => made.sSubscribe(name, heard, true),
  };
  const leaves: Record<Kind, (name: string) => Promise<void>> = {
    channel: (name) => made.unsubscribe(name),
    pattern: (name) => made.pUnsubscribe(name),
    sharded: (name) => made.sUnsubscribe(name),
  };
  const commands: Commands = {
    // Whoever waits for jobs waits as long as it says itself.
    call: (...parts) => made.sendCommand(parts.map(asBuffer), { ...AS_BYTES, timeout: undefined }),
    publish: (channel, bytes) => made.publish(channel, asBuffer(bytes)),
    publishSharded: (channel, bytes) => made.sPublish(channel, asBuffer(bytes)),
    async listen(kind, name, heard) {
      try {
        await listens[kind](name, named(kind, name, heard));
      } catch (error) {
        forget(kind, name);
        throw error;
      }
    },
    async unlisten(kind, name) {
      await leaves[kind](name);
      forget(kind, name);
    },
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
    whenMoved: (told) => void made.on('sharded-channel-moved', told),
    close() {
      failed(new Error('it was given up'));
      if (made.isOpen) made.destroy();
    },
  };
  return { connect, commands };
}
