// The types that a program with Comlink has, of millrace/compat/comlink. Compiled, never run.
import { type MessagePort as NodePort, Worker as NodeWorker, parentPort } from 'node:worker_threads';
import * as Comlink from '../../src/compat/comlink.ts';
import { type Port, spawn } from '../../src/index.ts';
import type { Assignable, Equal, Expect } from './expect.ts';

class Tally {
  static readonly unit: string = 'pieces';
  count: number = 0;
  add(more: number): number {
    this.count += more;
    return this.count;
  }
}
const api = {
  counter: 0,
  inc(): void {
    this.counter++;
  },
  later: async (text: string): Promise<string> => text,
  subscribe(_listener: ((value: number) => void) & Comlink.ProxyMarked): void {},
  tally: (): Tally & Comlink.ProxyMarked => Comlink.proxy(new Tally()),
  forever: (): Promise<never> => new Promise(() => {}),
  Tally: Tally as typeof Tally,
};
type Api = typeof api;
type Of<F> = F extends (...values: never[]) => infer R ? R : never;
type Remote = Comlink.Remote<Api>;

export type Checks = [
  Expect<Equal<Remote['counter'], Promise<number>>>,
  Expect<Equal<Of<Remote['inc']>, Promise<void>>>,
  Expect<Equal<Of<Remote['later']>, Promise<string>>>,
  Expect<Equal<Of<Remote['forever']>, Promise<never>>>,
  Expect<Assignable<Of<Remote['tally']>, Promise<Comlink.Remote<Tally & Comlink.ProxyMarked>>>>,
  Expect<Equal<Remote['Tally']['unit'], Promise<string>>>,
  Expect<Equal<Of<Remote[typeof Comlink.releaseProxy]>, void>>,
  Expect<Assignable<Of<Remote[typeof Comlink.createEndpoint]>, Promise<MessagePort>>>,
  Expect<Equal<Comlink.ProxyOrClone<number[]>, number[]>>,
  Expect<Equal<Comlink.ProxyOrClone<Tally & Comlink.ProxyMarked>, Comlink.Remote<Tally & Comlink.ProxyMarked>>>,
];

/** What is an endpoint, by whichever declarations. */
export function endpoints(worker: Worker, native: MessagePort, port: Port, self: DedicatedWorkerGlobalScopeLike): void {
  Comlink.wrap<Api>(worker);
  Comlink.wrap<Api>(native);
  Comlink.wrap<Api>(port);
  Comlink.wrap<Api>(spawn('./worker.js').port);
  Comlink.wrap<Api>(Comlink.nodeEndpoint(new NodeWorker('./worker.js')));
  Comlink.expose(api, Comlink.nodeEndpoint(parentPort as NodePort));
  Comlink.expose(api, self);
  Comlink.expose(api);
  Comlink.expose(api, native, ['https://a.example', /b\.example$/]);
  Comlink.wrap<Api>(Comlink.windowEndpoint(window, window, '*'));
  Comlink.wrap<Api>(Comlink.windowEndpoint(document.querySelector('iframe')!.contentWindow!));
  const own: Comlink.Endpoint = worker;
  own.start?.();
  // @ts-expect-error: it takes no messages
  Comlink.wrap<Api>({});
}
type DedicatedWorkerGlobalScopeLike = Pick<Worker, 'postMessage' | 'addEventListener' | 'removeEventListener'>;

export async function uses(remote: Comlink.Remote<Api>): Promise<void> {
  const counter: number = await remote.counter;
  await remote.subscribe(Comlink.proxy((value: number) => void (value + counter)));
  const tally = await new remote.Tally();
  const count: number = await tally.add(1);
  const sum: number = count + (await (await remote.tally()).count);
  // @ts-expect-error: a text is asked for
  await remote.later(sum);
  // @ts-expect-error: there is none
  await remote.none();
  const bytes: Uint8Array = Comlink.transfer(new Uint8Array(1), [new ArrayBuffer(1)]);
  Comlink.transferHandlers.set('BYTES', {
    canHandle: (value): value is Uint8Array => value === bytes,
    serialize: (value) => [(value as Uint8Array).buffer, [(value as Uint8Array).buffer as ArrayBuffer]],
    deserialize: (value) => value,
  });
  const handler: Comlink.TransferHandler<Tally, number> = {
    canHandle: (value): value is Tally => value instanceof Tally,
    serialize: (value) => [value.count, []],
    deserialize: () => new Tally(),
  };
  Comlink.transferHandlers.set('TALLY', handler as Comlink.TransferHandler<unknown, unknown>);
  const local: Comlink.Local<Comlink.Remote<Tally>> | undefined = undefined;
  void local;
  remote[Comlink.releaseProxy]();
}
