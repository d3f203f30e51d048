// birpc: calls over any pair of post and on.
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { ThreadSubject } from '../subject.ts';
import { loadRival, missingRival, rivalUrl } from './rival.ts';

interface Package {
  createBirpc(functions: object, options: object): { echo(value: unknown): Promise<unknown> };
}

const FILE = 'dist/index.mjs';

async function make(port: MessagePort, functions: object): Promise<{ echo(value: unknown): Promise<unknown> }> {
  const { createBirpc } = await loadRival<Package>('birpc', FILE);
  return createBirpc(functions, {
    post: (message: unknown) => port.postMessage(message),
    on: (handler: (message: unknown) => void) => port.on('message', handler),
  });
}

export const subjects: readonly ThreadSubject[] = [
  {
    name: 'birpc',
    label: 'birpc over MessagePort',
    use: 'One echo function over a MessagePort without a serializer of its own, as its documentation shows for workers; one awaited call per round trip.',
    forms: [],
    waits: ['loop/loop'],
    quickIn: ['round-trip', 'startup'],
    imports: () => [rivalUrl('birpc', FILE)!],
    absent: async () => missingRival('birpc', FILE),
    connect: async () => {
      const { port1, port2 } = new MessageChannel();
      const rpc = await make(port1, {});
      return { end: { ask: (value) => rpc.echo(value), close: () => port1.close() }, data: port2, transfer: [port2] };
    },
    attach: async ({ data }) => {
      const port = data as MessagePort;
      await make(port, { echo: (value: unknown) => value });
      return { close: () => port.close() };
    },
  },
];
