// Our own ports to processes, over the sockets that everybody has.
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import process from 'node:process';
import type { Port } from '../../src/index.ts';
import { connect, listen } from '../../src/process/index.ts';
import type { Hub, Link, Note, ProcessSubject } from '../process-subject.ts';

let count = 0;

function serve(kind: 'unix' | 'tcp'): () => Promise<Hub> {
  return async () => {
    const path = joinPath(tmpdir(), `millrace-bench-ours-${process.pid}-${count++}.sock`);
    const server = await listen(kind === 'unix' ? path : 'tcp:127.0.0.1:0');
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

async function join(address: unknown, _index: number, onAnswer: (note: Note) => void): Promise<Link> {
  const port = await connect<Note, Note>(address as string);
  port.on('message', onAnswer);
  return { send: (note) => port.postMessage(note), close: () => port.close() };
}

export const subjects: readonly ProcessSubject[] = [
  {
    name: 'millrace-process:unix',
    label: 'millrace/process, unix socket',
    use: 'listen and connect with their defaults: values in and out, flow control and acknowledgements included; one write a turn.',
    serve: serve('unix'),
    join,
  },
  {
    name: 'millrace-process:tcp',
    label: 'millrace/process, TCP',
    use: 'The same over 127.0.0.1.',
    serve: serve('tcp'),
    join,
  },
];
