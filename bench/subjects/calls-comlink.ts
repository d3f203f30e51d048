// Comlink: objects of a worker behind a proxy.
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Remote } from '../../src/index.ts';
import { api, type Caller, type CallSubject, callWorker, numbers } from '../call-subject.ts';
import { openDoor } from '../doors.ts';
import type { Missing } from '../subject.ts';
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

interface Loaded extends Package {
  adapt(port: unknown): unknown;
}
type Load = () => Promise<Loaded>;

const FILE = 'dist/esm/comlink.mjs';
const ADAPTER = 'dist/esm/node-adapter.mjs';

async function original(): Promise<Loaded> {
  const { wrap, expose, proxy, releaseProxy } = await loadRival<Package>('comlink', FILE);
  const { default: adapt } = await loadRival<{ default(port: unknown): unknown }>('comlink', ADAPTER);
  return { wrap, expose, proxy, releaseProxy, adapt };
}
async function ours(): Promise<Loaded> {
  const { wrap, expose, proxy, releaseProxy } = await openDoor<Package>('./compat/comlink');
  const { default: adapt } = await openDoor<{ default(port: unknown): unknown }>('./compat/comlink/node-adapter');
  return { wrap, expose, proxy, releaseProxy, adapt };
}

async function callerOver(load: Load, port: unknown, close: Caller['close']): Promise<Caller> {
  const { wrap, proxy, releaseProxy, adapt } = await load();
  const there = wrap(adapt(port));
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

async function serveAt(load: Load, port: unknown): Promise<void> {
  const { expose, proxy, releaseProxy, adapt } = await load();
  const there = {
    ...api,
    items: (count: number) => proxy(numbers(count)),
    async callBack(each: ((n: number) => Promise<number>) & Released, count: number): Promise<number> {
      const sum = await api.callBack(each, count);
      each[releaseProxy]!();
      return sum;
    },
  };
  expose(there, adapt(port));
}

type Words = Pick<CallSubject, 'name' | 'label' | 'use' | 'can'> & Partial<Pick<CallSubject, 'absent' | 'fullOnly'>>;

function overNative(load: Load, words: Words): CallSubject {
  return {
    ...words,
    wait: 'loop/loop',
    open: async () => {
      const { port1, port2 } = new MessageChannel();
      const worker = await callWorker(words.name, port2, [port2]);
      const caller = await callerOver(load, port1, async () => {
        port1.close();
        await worker.terminate();
      });
      port1.ref();
      return caller;
    },
    serve: async (data) => {
      await serveAt(load, data);
      (data as MessagePort).ref();
    },
  };
}

function overOurs(load: Load, words: Words): CallSubject {
  return {
    ...words,
    wait: 'loop/loop',
    open: async () => {
      const { channel } = await openDoor<typeof import('../../src/index.ts')>('.');
      const { port, remote } = channel();
      const worker = await callWorker(words.name, remote, remote.transfer);
      return callerOver(load, port, async () => {
        port.close();
        await worker.terminate();
      });
    },
    serve: async (data) => {
      const { attach } = await openDoor<typeof import('../../src/index.ts')>('.');
      await serveAt(load, attach(data as Remote));
    },
  };
}

const absent = async (): Promise<Missing | undefined> => missingRival('comlink', FILE);

export const subjects: readonly CallSubject[] = [
  overNative(original, {
    name: 'calls-comlink',
    label: 'Comlink',
    use: 'expose and wrap over a MessageChannel, with the adapter for Node ports that it brings. Generator and callback go by its proxy(), as its documentation has it for what cannot be cloned, and are released when they have done; each item is one call of next().',
    can: ['add', 'echo', 'items', 'callBack'],
    absent,
  }),
  overOurs(original, {
    name: 'calls-comlink:port',
    label: 'Comlink over a Millrace port',
    use: 'The same with the two ends of a Millrace channel in the place of the native ports: what of its time is the medium’s.',
    can: ['add', 'echo'],
    fullOnly: true,
    absent,
  }),
  overOurs(ours, {
    name: 'millrace-comlink',
    label: 'millrace/compat/comlink',
    use: 'The code of calls-comlink:port with Comlink’s import changed: our calls behind its names, over our channel.',
    can: ['add', 'echo', 'items', 'callBack'],
  }),
  overNative(ours, {
    name: 'millrace-comlink:native',
    label: 'millrace/compat/comlink over MessagePort',
    use: 'The code of calls-comlink with its import changed and nothing else.',
    can: ['add', 'echo', 'items', 'callBack'],
    fullOnly: true,
  }),
];
