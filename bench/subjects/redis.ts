// Redis pub/sub over a unix socket, with a server of its own that keeps nothing on disk.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import type { Note, ProcessSubject } from '../process-subject.ts';
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

export const subjects: readonly ProcessSubject[] = [
  {
    name: 'redis',
    label: 'Redis pub/sub (ioredis, unix socket)',
    use: 'ioredis without its automatic pipelining, which delays each command by a turn and measured slower at every load here; one connection to publish and one to subscribe per process, a channel per direction and worker, JSON; a server of its own over a unix socket, nothing kept on disk.',
    absent: async () => redisMissing(),
    serve: async () => {
      const { path, close } = await startRedis();
      const subscriber = await redisClient(path);
      const publisher = await redisClient(path);
      subscriber.on('message', (_channel, message) => {
        const { from, id, payload } = JSON.parse(message) as Note & { from: number };
        publisher.publish(`worker-${from}`, JSON.stringify({ id, payload }));
      });
      await subscriber.subscribe('master');
      return {
        address: path,
        close: () => {
          subscriber.disconnect();
          publisher.disconnect();
          close();
        },
      };
    },
    join: async (address, index, onAnswer) => {
      const subscriber = await redisClient(address as string);
      const publisher = await redisClient(address as string);
      subscriber.on('message', (_channel, message) => onAnswer(JSON.parse(message) as Note));
      await subscriber.subscribe(`worker-${index}`);
      return {
        send: ({ id, payload }) => void publisher.publish('master', JSON.stringify({ from: index, id, payload })),
        close: () => {
          subscriber.disconnect();
          publisher.disconnect();
        },
      };
    },
  },
];
