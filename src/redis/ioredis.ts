// The client `ioredis`, of one server or of a cluster.
import type { Heard } from '../engine/driver.ts';
import type { Commands, Connecting, Kind, Template } from './clients.ts';
import { asBuffer } from './node-redis.ts';
import { type Text, textOf } from './replies.ts';
import type { Address, AddressMap } from './slots.ts';

/** The members of a client of `ioredis` that are used. */
export interface IoredisClient {
  readonly options: { readonly host?: string; readonly port?: number; readonly path?: string };
  readonly status: string;
  readonly stream?: { on(event: 'error', told: () => void): unknown };
  duplicate(override?: object): IoredisClient;
  connect(): Promise<unknown>;
  callBuffer(command: string, ...parts: readonly (string | Uint8Array)[]): Promise<unknown>;
  publish(channel: string, bytes: string | Uint8Array): Promise<unknown>;
  spublish(channel: string, bytes: string | Uint8Array): Promise<unknown>;
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  psubscribe(pattern: string): Promise<unknown>;
  punsubscribe(pattern: string): Promise<unknown>;
  ssubscribe(channel: string): Promise<unknown>;
  sunsubscribe(channel: string): Promise<unknown>;
  on(event: string, told: (...parts: never[]) => void): unknown;
  disconnect(): void;
}
/** The members of a client of `ioredis` for a cluster that are used. */
export interface IoredisCluster {
  readonly isCluster: boolean;
  readonly options: object;
  duplicate(nodes: [], override: object): IoredisCluster;
  connect(): Promise<unknown>;
  nodes(role: 'master'): unknown[];
  on(event: string, told: (...parts: never[]) => void): unknown;
  disconnect(): void;
}

export function isIoredis(client: unknown): client is IoredisClient {
  const { duplicate, callBuffer, isCluster } = Object(client) as Partial<IoredisClient & IoredisCluster>;
  return typeof duplicate === 'function' && typeof callBuffer === 'function' && isCluster !== true;
}
export function isIoredisCluster(client: unknown): client is IoredisCluster {
  const { duplicate, nodes, isCluster } = Object(client) as Partial<IoredisCluster>;
  return typeof duplicate === 'function' && typeof nodes === 'function' && isCluster === true;
}

/** A client of one of its nodes, with its user and password; and where the client that was given says that nodes are. */
export async function nodeOfIoredis(
  cluster: IoredisCluster,
): Promise<{ template: Template; map: AddressMap | undefined }> {
  // It would try to have its nodes for ever.
  const own = cluster.duplicate([], { lazyConnect: true, clusterRetryStrategy: null });
  own.on('error', () => {});
  try {
    await own.connect();
    const [node] = own.nodes('master') as [IoredisClient];
    const { natMap } = cluster.options as { natMap?: AddressMap };
    return { template: ioredis(node.duplicate({ lazyConnect: true })), map: natMap };
  } finally {
    own.disconnect();
  }
}

function placeOf({ path, host, port }: IoredisClient['options']): string {
  return path ?? `${host}:${port}`;
}

export function ioredis(client: IoredisClient, where: string = placeOf(client.options)): Template {
  const make = (at: Address | undefined, comesBack: boolean): Connecting => {
    const there = {
      ...(at && { ...at, path: undefined, readOnly: false }),
      ...(!comesBack && { retryStrategy: null }),
    };
    const made = client.duplicate({
      lazyConnect: true,
      // What cannot be said now is said by nobody later on: lines and requests have their own way to try again.
      enableOfflineQueue: false,
      // Nor is what was said to a line that broke, and had no answer yet, said again over the next one: it may have been done.
      maxRetriesPerRequest: 0,
      // It would listen anew with nobody to hear that it was refused, and forget what it listened for where the line breaks meanwhile: that is done here.
      autoResubscribe: false,
      // Whoever waits for jobs waits as long as it says itself; everything else has a time of ours.
      commandTimeout: undefined,
      // Channels have names of ours, in which no other prefix stands.
      keyPrefix: '',
      // It cannot gather all commands, and gathers ASKING apart from what is asked.
      enableAutoPipelining: false,
      ...there,
    });
    return connecting(made);
  };
  return { where, host: client.options.host ?? 'localhost', make };
}
function connecting(made: IoredisClient): Connecting {
  let first: Error | undefined;
  made.on('error', (error: Error) => {
    first ??= error;
  });
  // It listens for one error of each socket, and Deno tells of two where one is reset (seen in 2.9), which would end the process.
  made.on('connect', () => made.stream?.on('error', () => {}));
  const connect = async (): Promise<void> => {
    try {
      await made.connect();
    } catch (error) {
      throw first ?? error;
    }
  };
  const heardBy: Record<Kind, Map<string, Heard>> = {
    channel: new Map(),
    pattern: new Map(),
    sharded: new Map(),
  };
  made.on('messageBuffer', (channel: Uint8Array, bytes: Uint8Array) => {
    const name = textOf(channel);
    heardBy.channel.get(name)?.(bytes, name);
  });
  made.on('smessageBuffer', (channel: Uint8Array, bytes: Uint8Array) => {
    const name = textOf(channel);
    heardBy.sharded.get(name)?.(bytes, name);
  });
  made.on('pmessageBuffer', (pattern: Text, channel: Uint8Array, bytes: Uint8Array) => {
    heardBy.pattern.get(textOf(pattern))?.(bytes, textOf(channel));
  });
  const listens: Record<Kind, (name: string) => Promise<unknown>> = {
    channel: (name) => made.subscribe(name),
    pattern: (name) => made.psubscribe(name),
    sharded: (name) => made.ssubscribe(name),
  };
  const leaves: Record<Kind, (name: string) => Promise<unknown>> = {
    channel: (name) => made.unsubscribe(name),
    pattern: (name) => made.punsubscribe(name),
    sharded: (name) => made.sunsubscribe(name),
  };
  const watching: ((up: boolean) => void)[] = [];
  /** How often it was lost: what was to be said before that is of no use behind it. */
  let losses = 0;
  made.on('close', () => {
    losses++;
    for (const told of watching) told(false);
  });
  made.on('ready', async () => {
    const before = losses;
    const kinds = Object.keys(heardBy) as Kind[];
    // What the server refuses by now is not heard; nor is anything where the line breaks, and then that is told.
    await Promise.allSettled(kinds.flatMap((kind) => [...heardBy[kind].keys()].map((name) => listens[kind](name))));
    if (losses === before) for (const told of watching) told(true);
  });
  const commands: Commands = {
    call: (command, ...parts) => made.callBuffer(command as string, ...parts.map(asBuffer)),
    publish: (channel, bytes) => made.publish(channel, asBuffer(bytes)),
    publishSharded: (channel, bytes) => made.spublish(channel, asBuffer(bytes)),
    async listen(kind, name, heard) {
      heardBy[kind].set(name, heard);
      try {
        await listens[kind](name);
      } catch (error) {
        // Nobody has it: it is not to be listened for when the server is back.
        heardBy[kind].delete(name);
        throw error;
      }
    },
    async unlisten(kind, name) {
      await leaves[kind](name);
      heardBy[kind].delete(name);
    },
    watch: (told) => void watching.push(told),
    whenOver: (told) => void made.on('end', told),
    whenMoved: (told) => void made.on('moved', told),
    close: () => made.disconnect(),
  };
  return { connect, commands };
}
