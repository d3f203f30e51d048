// Redis pub/sub over a unix socket, with a server of its own that keeps nothing on disk.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { type Note, type ProcessSubject, sendBy } from '../process-subject.ts';
import type { Missing } from '../subject.ts';
import { loadRival, missingRival, versions } from './rival.ts';

export interface Client {
  publish(channel: string, message: string): unknown;
  pipeline(): Pick<Client, 'publish'> & { exec(): unknown };
  subscribe(channel: string): Promise<unknown>;
  on(event: string, handler: (channel: string, message: string) => void): void;
  disconnect(): void;
}

interface Package {
  Redis: new (path: string, options: object) => Client;
}

const FILE = 'built/index.js';

export async function redisClient(path: string): Promise<Client> {
  const found = await loadRival<Package & { default?: Package }>('ioredis', FILE);
  const Redis = found.Redis ?? found.default?.Redis;
  const made = new Redis!(path, {});
  made.on('error', () => {});
  return made;
}

let serverCount = 0;

/** A server of its own, that keeps nothing. */
export async function startRedis(): Promise<{ readonly path: string; close(): void }> {
  const path = joinPath(tmpdir(), `millrace-redis-${process.pid}-${serverCount++}.sock`);
  const server = await serverAt(path);
  const close = (): void => {
    server.kill();
    rmSync(path, { force: true });
  };
  return { path, close };
}

async function serverAt(path: string): Promise<ChildProcess> {
  const args = ['--port', '0', '--unixsocket', path, '--save', '', '--appendonly', 'no', '--daemonize', 'no'];
  const server = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'ignore'] });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.once('exit', () => reject(new Error('redis-server ended')));
    server.stdout!.on('data', (text: Buffer) => {
      if (/ready to accept connections/i.test(String(text))) resolve();
    });
  });
  return server;
}

/** What is needed and not here. */
export function redisMissing(): Missing | undefined {
  const missing = missingRival('ioredis', FILE);
  if (missing) return missing;
  const answer = spawnSync('redis-server', ['--version'], { encoding: 'utf8' });
  if (answer.error) return { reason: 'no redis-server here', remedy: 'apt-get install redis-server' };
  versions['redis-server'] = /v=(\S+)/.exec(answer.stdout)?.[1] ?? 'unknown';
  return undefined;
}

/** One client's publishing and subscribing: a connection for each. */
interface PubSub {
  publish(channel: string, text: string): Promise<unknown>;
  subscribe(channel: string, heard: (text: string) => void): Promise<unknown>;
  close(): void;
}

async function byIoredis(path: string): Promise<PubSub> {
  const publisher = await redisClient(path);
  const subscriber = await redisClient(path);
  return {
    publish: (channel, text) => publisher.publish(channel, text) as Promise<unknown>,
    subscribe: (channel, heard) => {
      subscriber.on('message', (_channel, text) => heard(text));
      return subscriber.subscribe(channel);
    },
    close: () => {
      subscriber.disconnect();
      publisher.disconnect();
    },
  };
}

interface NodeRedis {
  connect(): Promise<unknown>;
  publish(channel: string, text: string): Promise<unknown>;
  subscribe(channel: string, heard: (text: string) => void): Promise<unknown>;
  on(event: 'error', told: () => void): void;
  destroy(): void;
}
interface NodeRedisPackage {
  createClient(options: object): NodeRedis;
}
const NODE_REDIS_FILE = 'dist/index.js';

export async function nodeRedisClient(path: string): Promise<NodeRedis> {
  const found = await loadRival<NodeRedisPackage & { default?: NodeRedisPackage }>('redis', NODE_REDIS_FILE);
  const client = (found.default ?? found).createClient({ socket: { path } });
  client.on('error', () => {});
  await client.connect();
  return client;
}
async function byNodeRedis(path: string): Promise<PubSub> {
  const publisher = await nodeRedisClient(path);
  const subscriber = await nodeRedisClient(path);
  return {
    publish: (channel, text) => publisher.publish(channel, text),
    subscribe: (channel, heard) => subscriber.subscribe(channel, heard),
    close: () => {
      subscriber.destroy();
      publisher.destroy();
    },
  };
}
export function nodeRedisMissing(): Missing | undefined {
  return missingRival('redis', NODE_REDIS_FILE) ?? redisMissing();
}

/** From so many messages on the sender waits for the answer to the last: nobody else holds it back. */
const ANSWERED = 512;

function pubSub(
  name: string,
  label: string,
  use: string,
  absent: () => Missing | undefined,
  client: (path: string) => Promise<PubSub>,
): ProcessSubject {
  return {
    name,
    label,
    use,
    absent: async () => absent(),
    serve: async () => {
      const { path, close } = await startRedis();
      const hub = await client(path);
      await hub.subscribe('master', (text) => {
        const { from, id, payload } = JSON.parse(text) as Note & { from: number };
        void hub.publish(`worker-${from}`, JSON.stringify({ id, payload }));
      });
      return {
        address: path,
        close: () => {
          hub.close();
          close();
        },
      };
    },
    join: async (address, index, onAnswer) => {
      const link = await client(address as string);
      await link.subscribe(`worker-${index}`, (text) => onAnswer(JSON.parse(text) as Note));
      return {
        send: ({ id, payload }) => void link.publish('master', JSON.stringify({ from: index, id, payload })),
        close: () => link.close(),
      };
    },
    stream: {
      forms: ['object'],
      serve: async () => {
        const { path, close } = await startRedis();
        const hub = await client(path);
        let count = 0;
        const post = (value: unknown): Promise<unknown> | undefined => {
          const said = hub.publish('stream', JSON.stringify(value));
          return ++count % ANSWERED === 0 ? said : undefined;
        };
        return {
          address: path,
          end: () => ({ send: sendBy(post)!, close: () => {} }),
          close: () => {
            hub.close();
            close();
          },
        };
      },
      join: async (address) => {
        const link = await client(address as string);
        let handler: ((value: unknown) => void) | null = null;
        await link.subscribe('stream', (text) => handler?.(JSON.parse(text)));
        return {
          listen: (next) => {
            handler = next;
          },
          close: () => link.close(),
        };
      },
    },
  };
}

export const subjects: readonly ProcessSubject[] = [
  pubSub(
    'redis',
    'Redis pub/sub (ioredis, unix socket)',
    'ioredis without its automatic pipelining, which delays each command by a turn and measured slower at every load here; one connection to publish and one to subscribe per process, a channel per direction and worker, JSON; a server of its own over a unix socket, nothing kept on disk. Streams wait for the answer to each 512th message.',
    redisMissing,
    byIoredis,
  ),
  pubSub(
    'redis:node-redis',
    'Redis pub/sub (node-redis, unix socket)',
    'The same by the package redis.',
    nodeRedisMissing,
    byNodeRedis,
  ),
];
