// Comlink: calls through a proxy over a MessagePort.
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { ThreadSubject } from '../subject.ts';
import { loadRival, missingRival, rivalUrl } from './rival.ts';

interface Package {
  wrap(endpoint: unknown): { echo(value: unknown): Promise<unknown>; [release: symbol]: () => void };
  expose(target: unknown, endpoint: unknown): void;
}

const FILE = 'dist/esm/comlink.mjs';
const ADAPTER = 'dist/esm/node-adapter.mjs';

async function load(): Promise<Package & { adapt(port: MessagePort): unknown }> {
  const comlink = await loadRival<Package>('comlink', FILE);
  const adapter = await loadRival<{ default(port: MessagePort): unknown }>('comlink', ADAPTER);
  return { wrap: comlink.wrap, expose: comlink.expose, adapt: adapter.default };
}

export const subjects: readonly ThreadSubject[] = [
  {
    name: 'comlink',
    label: 'Comlink over MessagePort',
    use: 'One exposed echo function called through the proxy, one awaited call per round trip, with the adapter for Node ports that Comlink brings.',
    forms: [],
    waits: ['loop/loop'],
    quickIn: ['round-trip', 'startup'],
    imports: () => [rivalUrl('comlink', FILE)!, rivalUrl('comlink', ADAPTER)!],
    absent: async () => missingRival('comlink', FILE),
    connect: async () => {
      const { port1, port2 } = new MessageChannel();
      const { wrap, adapt } = await load();
      const proxy = wrap(adapt(port1));
      port1.ref();
      return { end: { ask: (value) => proxy.echo(value), close: () => port1.close() }, data: port2, transfer: [port2] };
    },
    attach: async ({ data }) => {
      const { expose, adapt } = await load();
      const port = data as MessagePort;
      expose({ echo: (value: unknown) => value }, adapt(port));
      port.ref();
      return { close: () => port.close() };
    },
  },
];
