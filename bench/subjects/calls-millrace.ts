// Our own calls.
import { type MessagePort, Worker } from 'node:worker_threads';
import type { Remote } from '../../src/index.ts';
import { type Api, api, type Caller, type CallSubject, type CallWorkerData, callWorker } from '../call-subject.ts';
import { openDoor } from '../doors.ts';
import { POOL_THREADS } from './calls-pools.ts';

const { attach, channel } = await openDoor<typeof import('../../src/index.ts')>('.');
const { expose, pool, wrap, wrapSync } = await openDoor<typeof import('../../src/rpc/index.ts')>('./rpc');

const ASYNC = 'millrace-rpc';
const BLOCKED = 'millrace-rpc:blocked';
const POOL = 'millrace-rpc:pool';

async function open(): Promise<Caller> {
  const { port, remote } = channel();
  const worker = await callWorker(ASYNC, remote, remote.transfer);
  const there = wrap<Api>(port);
  return {
    add: (a, b) => there.add(a, b),
    echo: (value) => there.echo(value),
    items: (count) => there.items(count),
    callBack: (each, count) => there.callBack(async (n) => each(n), count),
    close: async () => {
      port.close();
      await worker.terminate();
    },
  };
}

async function openBlocked(): Promise<Caller> {
  const { port, remote } = channel();
  const worker = await callWorker(BLOCKED, remote, remote.transfer);
  const there = wrapSync<Api>(port, { timeoutMs: 20_000 });
  return {
    addBlocked: (a, b) => there.add(a, b),
    close: async () => {
      port.close();
      await worker.terminate();
    },
  };
}

async function openPool(): Promise<Caller> {
  const workers = pool<{ task(): void }>(
    () => {
      const { port, remote } = channel();
      const workerData: CallWorkerData = { subject: POOL, data: remote };
      const transferList = remote.transfer as MessagePort[];
      const worker = new Worker(new URL('../call-worker.js', import.meta.url), { workerData, transferList });
      return { port, worker };
    },
    { size: POOL_THREADS },
  );
  return { task: () => workers.api.task(), close: () => workers[Symbol.asyncDispose]() };
}

const serve = (data: unknown): void => expose(api, attach(data as Remote));

export const subjects: readonly CallSubject[] = [
  {
    name: ASYNC,
    label: 'millrace/rpc',
    use: 'expose in the worker and wrap over a channel, with their defaults; the generator is read with for await, and the callback given as an argument.',
    can: ['add', 'echo', 'items', 'callBack'],
    wait: 'loop/loop',
    open,
    serve,
  },
  {
    name: BLOCKED,
    label: 'millrace/rpc, wrapSync',
    use: 'The same worker, called through wrapSync with a time limit.',
    can: ['addBlocked'],
    wait: 'block/block',
    open: openBlocked,
    serve,
  },
  {
    name: POOL,
    label: 'millrace/rpc, pool',
    use: 'A call of an empty function of a pool of two threads, everything else as it is by default: a thread has one task at a time.',
    can: ['task'],
    wait: 'loop/loop',
    open: openPool,
    serve: (data) => expose({ task: () => {} }, attach(data as Remote)),
  },
];
