// What one writes without a library: numbered messages and a Map of who waits; and for a thread that blocks, a shared word.
import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { api, type CallSubject, callWorker, numbers } from '../call-subject.ts';

type Question = { id: number; name: string; values: unknown[] };
type Answer = { id: number; value?: unknown; error?: unknown };
type Functions = Readonly<Record<string, (...values: never[]) => unknown>>;

/** Calls over a port, in both directions. */
function calls(port: MessagePort, functions: Functions): (name: string, ...values: unknown[]) => Promise<unknown> {
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>();
  let last = 0;
  port.on('message', (message: Question | Answer) => {
    if ('name' in message) {
      void answer(message);
      return;
    }
    const { resolve, reject } = waiting.get(message.id)!;
    waiting.delete(message.id);
    if ('error' in message) reject(message.error);
    else resolve(message.value);
  });
  async function answer({ id, name, values }: Question): Promise<void> {
    try {
      port.postMessage({ id, value: await functions[name]!(...(values as never[])) });
    } catch (error) {
      port.postMessage({ id, error });
    }
  }
  return (name, ...values) =>
    new Promise((resolve, reject) => {
      const id = ++last;
      waiting.set(id, { resolve, reject });
      port.postMessage({ id, name, values });
    });
}

const SHARED: (port: MessagePort, word: Int32Array) => void = (port, word) => {
  port.on('message', ({ id, name, values }: Question) => {
    port.postMessage({ id, value: (api as unknown as Functions)[name]!(...(values as never[])) });
    Atomics.add(word, 0, 1);
    Atomics.notify(word, 0);
  });
};

export const subjects: readonly CallSubject[] = [
  {
    name: 'calls-by-hand',
    label: 'by hand: postMessage, numbers and a Map',
    use: 'Two dozen lines over a MessageChannel: { id, name, values } there, { id, value } back, a Map of who waits. The callback is a function of the caller’s side, an item is a call of a function next(id).',
    can: ['add', 'echo', 'items', 'callBack'],
    wait: 'loop/loop',
    open: async () => {
      const { port1, port2 } = new MessageChannel();
      const worker = await callWorker('calls-by-hand', port2, [port2]);
      const here = { each: (_n: number): number => 0 };
      const call = calls(port1, here);
      return {
        add: (a, b) => call('add', a, b) as Promise<number>,
        echo: (value) => call('echo', value),
        items: async function* (count) {
          const id = await call('begin', count);
          const next = (): Promise<IteratorResult<number, void>> =>
            call('next', id) as Promise<IteratorResult<number, void>>;
          for (let step = await next(); step.done !== true; step = await next()) yield step.value;
        },
        callBack: (each, count) => {
          here.each = each;
          return call('callBack', count) as Promise<number>;
        },
        close: async () => {
          port1.close();
          await worker.terminate();
        },
      };
    },
    serve: (data) => {
      const begun = new Map<number, AsyncGenerator<number, void>>();
      let last = 0;
      const call = calls(data as MessagePort, {
        add: api.add,
        echo: api.echo,
        begin(count: number): number {
          begun.set(++last, numbers(count));
          return last;
        },
        async next(id: number): Promise<IteratorResult<number, void>> {
          const step = await begun.get(id)!.next();
          if (step.done === true) begun.delete(id);
          return step;
        },
        callBack: (count: number) => api.callBack((n) => call('each', n) as Promise<number>, count),
      });
    },
  },
  {
    name: 'calls-by-hand:blocked',
    label: 'by hand: postMessage, Atomics.wait, receiveMessageOnPort',
    use: 'The question goes by postMessage to a worker on its event loop, which answers by postMessage and rings a shared word; the caller sleeps on that and fetches the answer with receiveMessageOnPort.',
    can: ['addBlocked'],
    wait: 'block/block',
    open: async () => {
      const { port1, port2 } = new MessageChannel();
      const word = new Int32Array(new SharedArrayBuffer(4));
      const worker = await callWorker('calls-by-hand:blocked', { port: port2, word }, [port2]);
      let last = 0;
      return {
        addBlocked: (a, b) => {
          const id = ++last;
          const before = Atomics.load(word, 0);
          port1.postMessage({ id, name: 'add', values: [a, b] });
          if (Atomics.wait(word, 0, before, 20_000) === 'timed-out') throw new Error('the worker does not answer');
          return (receiveMessageOnPort(port1)!.message as { value: number }).value;
        },
        close: async () => {
          port1.close();
          await worker.terminate();
        },
      };
    },
    serve: (data) => {
      const { port, word } = data as { port: MessagePort; word: Int32Array };
      SHARED(port, word);
    },
  },
];
