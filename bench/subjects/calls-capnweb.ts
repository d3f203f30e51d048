// capnweb: object capabilities as JSON, over a MessagePort among others.
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { api, type CallSubject, callWorker, numbers } from '../call-subject.ts';
import { loadRival, missingRival } from './rival.ts';

interface There {
  add(a: number, b: number): Promise<number>;
  echo(value: unknown): Promise<unknown>;
  items(count: number): Promise<AsyncIterable<number>>;
  callBack(each: (n: number) => number, count: number): Promise<number>;
}
interface Package {
  newMessagePortRpcSession(port: MessagePort, main?: object): There;
  readonly RpcTarget: new () => object;
}

const FILE = process.versions['bun'] ? 'dist/index-bun.js' : 'dist/index.js';

export const subjects: readonly CallSubject[] = [
  {
    name: 'calls-capnweb',
    label: 'capnweb',
    use: 'newMessagePortRpcSession at both ends of a MessageChannel, an RpcTarget in the worker, as its documentation shows. The callback is an argument; the generator goes as a ReadableStream, which it carries with flow control.',
    can: ['add', 'echo', 'items', 'callBack'],
    wait: 'loop/loop',
    absent: async () => missingRival('capnweb', FILE),
    open: async () => {
      const { newMessagePortRpcSession } = await loadRival<Package>('capnweb', FILE);
      const { port1, port2 } = new MessageChannel();
      const worker = await callWorker('calls-capnweb', port2, [port2]);
      const there = newMessagePortRpcSession(port1);
      return {
        add: (a, b) => there.add(a, b),
        echo: (value) => there.echo(value),
        items: (count) => there.items(count),
        callBack: (each, count) => there.callBack(each, count),
        close: async () => {
          port1.close();
          await worker.terminate();
        },
      };
    },
    serve: async (data) => {
      const { newMessagePortRpcSession, RpcTarget } = await loadRival<Package>('capnweb', FILE);
      class Target extends RpcTarget {
        add(a: number, b: number): number {
          return api.add(a, b);
        }
        echo(value: unknown): unknown {
          return api.echo(value);
        }
        items(count: number): ReadableStream<number> {
          const steps = numbers(count);
          return new ReadableStream<number>({
            async pull(controller): Promise<void> {
              const { done, value } = await steps.next();
              if (done === true) controller.close();
              else controller.enqueue(value);
            },
          });
        }
        callBack(each: (n: number) => Promise<number>, count: number): Promise<number> {
          return api.callBack(each, count);
        }
      }
      newMessagePortRpcSession(data as MessagePort, new Target());
    },
  },
];
