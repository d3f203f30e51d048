// Comlink: objects of a worker behind a proxy.
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Remote } from '../../src/index.ts';
import { api, type Caller, type CallSubject, callWorker, numbers } from '../call-subject.ts';
import { openDoor } from '../doors.ts';
import { loadRival, missingRival } from './rival.ts';

type Released = { [release: symbol]: () => void };
type Steps = { next(): Promise<IteratorResult<number, void>> } & Released;
interface There {
  add(a: number, b: number): Promise<number>;
  echo(value: unknown): Promise<unknown>;
  items(count: number): Promise<Steps>;
  callBack(each: unknown, count: number): Promise<number>;
}
interface Package {
  wrap(endpoint: unknown): There;
  expose(target: unknown, endpoint: unknown): void;
  proxy(target: object): object;
  readonly releaseProxy: symbol;
}

const FILE = 'dist/esm/comlink.mjs';
const ADAPTER = 'dist/esm/node-adapter.mjs';

async function load(): Promise<Package & { adapt(port: unknown): unknown }> {
  const comlink = await loadRival<Package>('comlink', FILE);
  const { default: adapt } = await loadRival<{ default(port: unknown): unknown }>('comlink', ADAPTER);
  const { wrap, expose, proxy, releaseProxy } = comlink;
  return { wrap, expose, proxy, releaseProxy, adapt };
}

async function callerOver(endpoint: unknown, close: Caller['close']): Promise<Caller> {
  const { wrap, proxy, releaseProxy } = await load();
  const there = wrap(endpoint);
  return {
    add: (a, b) => there.add(a, b),
    echo: (value) => there.echo(value),
    items: async function* (count) {
      const steps = await there.items(count);
      for (let step = await steps.next(); step.done !== true; step = await steps.next()) yield step.value;
      steps[releaseProxy]!();
    },
    callBack: (each, count) => there.callBack(proxy(each), count),
    close,
  };
}

async function serveAt(endpoint: unknown): Promise<void> {
  const { expose, proxy, releaseProxy } = await load();
  const there = {
    ...api,
    items: (count: number) => proxy(numbers(count)),
    async callBack(each: ((n: number) => Promise<number>) & Released, count: number): Promise<number> {
      const sum = await api.callBack(each, count);
      each[releaseProxy]!();
      return sum;
    },
  };
  expose(there, endpoint);
}

export const subjects: readonly CallSubject[] = [
  {
    name: 'calls-comlink',
    label: 'Comlink',
    use: 'expose and wrap over a MessageChannel, with the adapter for Node ports that it brings. Generator and callback go by its proxy(), as its documentation has it for what cannot be cloned, and are released when they have done; each item is one call of next().',
    can: ['add', 'echo', 'items', 'callBack'],
    wait: 'loop/loop',
    absent: async () => missingRival('comlink', FILE),
    open: async () => {
      const { adapt } = await load();
      const { port1, port2 } = new MessageChannel();
      const worker = await callWorker('calls-comlink', port2, [port2]);
      const caller = await callerOver(adapt(port1), async () => {
        port1.close();
        await worker.terminate();
      });
      port1.ref();
      return caller;
    },
    serve: async (data) => {
      const { adapt } = await load();
      await serveAt(adapt(data as MessagePort));
      (data as MessagePort).ref();
    },
  },
  {
    name: 'calls-comlink:port',
    label: 'Comlink over a Millrace port',
    use: 'The same with the two ends of a Millrace channel in the place of the native ports: what of its time is the medium’s.',
    can: ['add', 'echo'],
    wait: 'loop/loop',
    fullOnly: true,
    absent: async () => missingRival('comlink', FILE),
    open: async () => {
      const { channel } = await openDoor<typeof import('../../src/index.ts')>('.');
      const { adapt } = await load();
      const { port, remote } = channel();
      const worker = await callWorker('calls-comlink:port', remote, remote.transfer);
      return callerOver(adapt(port), async () => {
        port.close();
        await worker.terminate();
      });
    },
    serve: async (data) => {
      const { attach } = await openDoor<typeof import('../../src/index.ts')>('.');
      const { adapt } = await load();
      await serveAt(adapt(attach(data as Remote)));
    },
  },
];
