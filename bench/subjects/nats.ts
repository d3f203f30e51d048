// NATS: subjects on a server of its own.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import { type Note, type ProcessStream, type ProcessSubject, sendBy } from '../process-subject.ts';
import type { Missing } from '../subject.ts';
import { loadRival, missingRival, versions } from './rival.ts';

export interface Client {
  publish(subject: string, data: Uint8Array): void;
  request(subject: string, data: Uint8Array): Promise<{ data: Uint8Array }>;
  subscribe(
    subject: string,
    options: { callback(error: Error | null, message: { data: Uint8Array; respond(data: Uint8Array): void }): void },
  ): unknown;
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

export async function natsClient(port: number): Promise<Client> {
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

/** A server of its own. */
export async function startNats(): Promise<{ readonly port: number; close(): void }> {
  const port = await freePort();
  const server = await startServer(port);
  return { port, close: () => void server.kill() };
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

export function natsMissing(): Missing | undefined {
  const missing = missingRival(NAME, FILE);
  if (missing) return missing;
  const answer = spawnSync('nats-server', ['--version'], { encoding: 'utf8' });
  if (answer.error) return { reason: 'no nats-server here', remedy: 'apt-get install nats-server' };
  versions['nats-server'] = /\bv(\d\S*)/.exec(answer.stdout)?.[1] ?? 'unknown';
  return undefined;
}

/** From so many messages on the sender asks the server whether it has them: nobody else holds it back. */
const FLUSHED = 512;

const stream: ProcessStream = {
  forms: ['object'],
  serve: async () => {
    const { port, close } = await startNats();
    const hub = await natsClient(port);
    let count = 0;
    const post = (value: unknown): Promise<void> | undefined => {
      hub.publish('stream', encoder.encode(JSON.stringify(value)));
      return ++count % FLUSHED === 0 ? hub.flush() : undefined;
    };
    return {
      address: port,
      end: () => ({ send: sendBy(post)!, close: () => {} }),
      close: async () => {
        await hub.close();
        close();
      },
    };
  },
  join: async (address) => {
    const link = await natsClient(address as number);
    let handler: ((value: unknown) => void) | null = null;
    link.subscribe('stream', { callback: (_error, { data }) => handler?.(JSON.parse(decoder.decode(data))) });
    await link.flush();
    return {
      listen: (next) => {
        handler = next;
      },
      close: () => link.close(),
    };
  },
};

export const subjects: readonly ProcessSubject[] = [
  {
    name: 'nats',
    label: 'NATS publish and subscribe',
    use: 'One connection per process, a subject per direction and worker, JSON, publish and a subscription with a callback: faster than its request().',
    absent: async () => natsMissing(),
    serve: async () => {
      const port = await freePort();
      const server = await startServer(port);
      const hub = await natsClient(port);
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
      const link = await natsClient(address as number);
      link.subscribe(`worker.${index}`, {
        callback: (_error, message) => onAnswer(JSON.parse(decoder.decode(message.data)) as Note),
      });
      await link.flush();
      return {
        send: ({ id, payload }) => link.publish('master', encoder.encode(JSON.stringify({ from: index, id, payload }))),
        close: () => link.close(),
      };
    },
    stream,
  },
  {
    name: 'nats:request',
    label: 'NATS request',
    use: 'Its request() and a subscription that responds, JSON: what it offers for this.',
    absent: async () => natsMissing(),
    serve: async () => {
      const { port, close } = await startNats();
      const hub = await natsClient(port);
      hub.subscribe('master', {
        callback: (_error, message) =>
          message.respond(encoder.encode(JSON.stringify(JSON.parse(decoder.decode(message.data))))),
      });
      await hub.flush();
      return {
        address: port,
        close: async () => {
          await hub.close();
          close();
        },
      };
    },
    join: async (address, _index, onAnswer) => {
      const link = await natsClient(address as number);
      return {
        send: (note) => {
          link
            .request('master', encoder.encode(JSON.stringify(note)))
            .then(({ data }) => onAnswer(JSON.parse(decoder.decode(data)) as Note));
        },
        close: () => link.close(),
      };
    },
  },
];
