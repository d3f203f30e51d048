// NATS: subjects on a server of its own.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import type { Note, ProcessSubject } from '../process-subject.ts';
import { loadRival, missingRival, versions } from './rival.ts';

interface Client {
  publish(subject: string, data: Uint8Array): void;
  subscribe(subject: string, options: { callback(error: Error | null, message: { data: Uint8Array }): void }): unknown;
  flush(): Promise<void>;
  close(): Promise<void>;
}

interface Package {
  connect(options: { servers: string }): Promise<Client>;
}

// The newest client line that runs on Node 20; its successor asks for 22.
const NAME = 'nats';
const FILE = 'index.js';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

async function client(port: number): Promise<Client> {
  const found = await loadRival<Package & { default?: Package }>(NAME, FILE);
  const { connect } = found.default ?? found;
  return connect({ servers: `127.0.0.1:${port}` });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function startServer(port: number): Promise<ChildProcess> {
  const server = spawn('nats-server', ['-a', '127.0.0.1', '-p', String(port)], { stdio: ['ignore', 'ignore', 'pipe'] });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.once('exit', () => reject(new Error('nats-server ended')));
    server.stderr!.on('data', (text: Buffer) => {
      if (/Server is ready/.test(String(text))) resolve();
    });
  });
  return server;
}

export const subjects: readonly ProcessSubject[] = [
  {
    name: 'nats',
    label: 'NATS publish and subscribe',
    use: 'One connection per process, a subject per direction and worker, JSON, publish and a subscription with a callback: faster than its request().',
    absent: async () => {
      const missing = missingRival(NAME, FILE);
      if (missing) return missing;
      const answer = spawnSync('nats-server', ['--version'], { encoding: 'utf8' });
      if (answer.error) return { reason: 'no nats-server here', remedy: 'apt-get install nats-server' };
      versions['nats-server'] = /\bv(\d\S*)/.exec(answer.stdout)?.[1] ?? 'unknown';
      return undefined;
    },
    serve: async () => {
      const port = await freePort();
      const server = await startServer(port);
      const hub = await client(port);
      hub.subscribe('master', {
        callback: (_error, message) => {
          const { from, id, payload } = JSON.parse(decoder.decode(message.data)) as Note & { from: number };
          hub.publish(`worker.${from}`, encoder.encode(JSON.stringify({ id, payload })));
        },
      });
      await hub.flush();
      return {
        address: port,
        close: async () => {
          await hub.close();
          server.kill();
        },
      };
    },
    join: async (address, index, onAnswer) => {
      const link = await client(address as number);
      link.subscribe(`worker.${index}`, {
        callback: (_error, message) => onAnswer(JSON.parse(decoder.decode(message.data)) as Note),
      });
      await link.flush();
      return {
        send: ({ id, payload }) => link.publish('master', encoder.encode(JSON.stringify({ from: index, id, payload }))),
        close: () => link.close(),
      };
    },
  },
];
