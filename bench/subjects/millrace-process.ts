// Our own ports to processes: over memory that both map, where the addon is built, and over the sockets that everybody has.
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import process from 'node:process';
import type { Port } from '../../src/index.ts';
import { type ConnectOptions, connect, listen } from '../../src/process/index.ts';
import type { Hub, Link, Note, ProcessSubject } from '../process-subject.ts';
import type { Missing } from '../subject.ts';

let count = 0;

/** One way of the same port. */
interface Kind {
  readonly address: 'unix' | 'tcp';
  /** By what it is to go: what went by another would be measured under its name. */
  readonly way: string;
  readonly options: ConnectOptions;
}

function checkWay(port: Port, { way }: Kind): void {
  const taken = port.link?.way;
  if (taken?.name !== way) throw new Error(`it goes by ${taken?.name} and not by ${way}: ${taken?.why}`);
}

function serve(kind: Kind): () => Promise<Hub> {
  return async () => {
    const path = joinPath(tmpdir(), `millrace-bench-ours-${process.pid}-${count++}.sock`);
    const server = await listen(kind.address === 'unix' ? path : 'tcp:127.0.0.1:0', kind.options);
    const ports: Port[] = [];
    const taking = (async () => {
      for await (const port of server) {
        ports.push(port);
        port.on('message', (note) => port.postMessage(note));
      }
    })();
    return {
      address: server.address,
      close: async () => {
        for (const port of ports) port.close();
        await server.close();
        await taking;
        rmSync(path, { force: true });
      },
    };
  };
}

function join(kind: Kind) {
  return async (address: unknown, _index: number, onAnswer: (note: Note) => void): Promise<Link> => {
    const port = await connect<Note, Note>(address as string, kind.options);
    await port.ready;
    checkWay(port, kind);
    port.on('message', onAnswer);
    return { send: (note) => port.postMessage(note), close: () => port.close() };
  };
}

/** The addon is asked for by what it is for. */
async function withoutMemory(): Promise<Missing | undefined> {
  const path = joinPath(tmpdir(), `millrace-bench-asks-${process.pid}-${count++}.sock`);
  await using server = await listen(path);
  const port = await connect(server.address);
  const way = port.link?.way;
  return way?.name === 'memory' ? undefined : { reason: way?.why ?? 'no memory', remedy: 'npm run native' };
}

function subject(name: string, label: string, use: string, kind: Kind): ProcessSubject {
  const absent = kind.way === 'memory' ? { absent: withoutMemory } : {};
  return {
    name: `millrace-process:${name}`,
    label: `millrace/process, ${label}`,
    use,
    ...absent,
    serve: serve(kind),
    join: join(kind),
  };
}

export const subjects: readonly ProcessSubject[] = [
  subject(
    'memory',
    'shared memory',
    'listen and connect with their defaults, where the addon is built: values in and out through rings that both processes map; event loops look again for a while before they sleep.',
    { address: 'unix', way: 'memory', options: {} },
  ),
  subject(
    'memory-parked',
    'shared memory, parked',
    'The same with spinMicroseconds: 0: each waits asleep in its event loop, and is rung.',
    { address: 'unix', way: 'memory', options: { spinMicroseconds: 0 } },
  ),
  subject(
    'unix',
    'unix socket',
    'listen and connect with memory: false, as where there is no addon: values in and out, flow control and acknowledgements included; one write a turn.',
    { address: 'unix', way: 'unix', options: { memory: false } },
  ),
  subject('tcp', 'TCP', 'The same over 127.0.0.1.', { address: 'tcp', way: 'tcp', options: {} }),
];
