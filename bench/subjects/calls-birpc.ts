// birpc: functions on both sides of anything that posts and listens.
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Remote } from '../../src/index.ts';
import { api, type Caller, type CallSubject, callWorker, numbers } from '../call-subject.ts';
import { openDoor } from '../doors.ts';
import { loadRival, missingRival } from './rival.ts';

interface Line {
  postMessage(message: unknown): void;
  on(event: 'message', handler: (message: unknown) => void): unknown;
}
interface Here {
  each(n: number): number;
}
interface There {
  add(a: number, b: number): Promise<number>;
  echo(value: unknown): Promise<unknown>;
  begin(count: number): Promise<number>;
  next(id: number): Promise<IteratorResult<number, void>>;
  callBack(count: number): Promise<number>;
}
interface Package {
  createBirpc<T>(functions: object, options: object): T;
}

const FILE = 'dist/index.mjs';

async function make<T>(line: Line, functions: object): Promise<T> {
  const { createBirpc } = await loadRival<Package>('birpc', FILE);
  return createBirpc<T>(functions, {
    post: (message: unknown) => line.postMessage(message),
    on: (handler: (message: unknown) => void) => line.on('message', handler),
    timeout: -1,
  });
}

async function callerOver(line: Line, close: Caller['close']): Promise<Caller> {
  const here: Here = { each: () => 0 };
  const there = await make<There>(line, here);
  return {
    add: (a, b) => there.add(a, b),
    echo: (value) => there.echo(value),
    items: async function* (count) {
      const id = await there.begin(count);
      for (let step = await there.next(id); step.done !== true; step = await there.next(id)) yield step.value;
    },
    callBack: (each, count) => {
      here.each = each;
      return there.callBack(count);
    },
    close,
  };
}

async function serveAt(line: Line): Promise<void> {
  const begun = new Map<number, AsyncGenerator<number, void>>();
  let last = 0;
  const caller = await make<{ each(n: number): Promise<number> }>(line, {
    ...api,
    begin(count: number): number {
      begun.set(++last, numbers(count));
      return last;
    },
    async next(id: number): Promise<IteratorResult<number, void>> {
      const step = await begun.get(id)!.next();
      if (step.done === true) begun.delete(id);
      return step;
    },
    callBack: (count: number) => api.callBack((n) => caller.each(n), count),
  });
}

export const subjects: readonly CallSubject[] = [
  {
    name: 'calls-birpc',
    label: 'birpc',
    use: 'createBirpc over a MessageChannel without a serializer, as its documentation shows for workers, and with timeout: -1: by default each call has a timer, which nobody else here has. It carries no functions and no generators: the callback is a function of the caller’s side, and an item is a call of a function next(id).',
    can: ['add', 'echo', 'items', 'callBack'],
    wait: 'loop/loop',
    absent: async () => missingRival('birpc', FILE),
    open: async () => {
      const { port1, port2 } = new MessageChannel();
      const worker = await callWorker('calls-birpc', port2, [port2]);
      return callerOver(port1, async () => {
        port1.close();
        await worker.terminate();
      });
    },
    serve: (data) => serveAt(data as MessagePort),
  },
  {
    name: 'calls-birpc:port',
    label: 'birpc over a Millrace port',
    use: 'The same with the two ends of a Millrace channel in the place of the native ports.',
    can: ['add', 'echo'],
    wait: 'loop/loop',
    fullOnly: true,
    absent: async () => missingRival('birpc', FILE),
    open: async () => {
      const { channel } = await openDoor<typeof import('../../src/index.ts')>('.');
      const { port, remote } = channel();
      const worker = await callWorker('calls-birpc:port', remote, remote.transfer);
      return callerOver(port as Line, async () => {
        port.close();
        await worker.terminate();
      });
    },
    serve: async (data) => {
      const { attach } = await openDoor<typeof import('../../src/index.ts')>('.');
      await serveAt(attach(data as Remote) as Line);
    },
  },
];
