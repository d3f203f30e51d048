import { once } from 'node:events';
import type { Transferable as NodeTransferable, Worker } from 'node:worker_threads';
import type { DataCloneError } from '../../src/errors.ts';
import type {
  attach,
  ChannelOptions,
  CLOSED,
  CloseReason,
  channel,
  EMPTY,
  Port,
  parentPort,
  spawn,
} from '../../src/index.ts';
import type { Assignable, Equal, Expect, Not } from './expect.ts';

type Job = { readonly id: number };
type Answer = string | null;
type Ours = Port<Answer, Job>;
type Nothing = typeof EMPTY | typeof CLOSED;

// What arrives and what is sent are told apart, everywhere.
export type _1 = Expect<Equal<ReturnType<Ours['tryReceive']>, Answer | Nothing>>;
export type _2 = Expect<Equal<Awaited<ReturnType<Ours['receiveAsync']>>, Answer | Nothing>>;
export type _3 = Expect<Equal<ReturnType<Ours['receiveMany']>, Answer[]>>;
export type _4 = Expect<Equal<Parameters<Ours['postMessage']>[0], Job>>;
export type _5 = Expect<Equal<Parameters<Ours['trySend']>[0], Job>>;
export type _6 = Expect<Not<Assignable<typeof EMPTY, Answer>>>;
export type _7 = Expect<Not<Equal<typeof EMPTY, typeof CLOSED>>>;

// Without a time limit there is no EMPTY to ask about.
export function receives(port: Ours): void {
  const forever = port.receive();
  type _forever = Expect<Equal<typeof forever, Answer | typeof CLOSED>>;
  const limited = port.receive({ timeoutMs: 10 });
  type _limited = Expect<Equal<typeof limited, Answer | Nothing>>;
  const types: [_forever, _limited] = [true, true];
  port.postMessage({ id: types.length });
  // @ts-expect-error: this end sends jobs, not answers
  port.postMessage('answer');
  // @ts-expect-error: a time limit is a number of milliseconds
  port.receive({ timeoutMs: '10' });
  // @ts-expect-error: while a thread is blocked nothing can abort a signal
  port.receive({ signal: new AbortController().signal });
  // @ts-expect-error: a promise; \`port.full\` is the look
  port.drained satisfies boolean;
  // @ts-expect-error: the name of the web's pair of streams is gone
  port.writable;
}

// The doors hand out ports of the types asked for.
export type _8 = Expect<Equal<ReturnType<typeof channel<Answer, Job>>['port'], Ours>>;
export type _9 = Expect<Equal<ReturnType<typeof attach<Answer, Job>>, Ours>>;
export type _10 = Expect<Equal<ReturnType<typeof spawn<Answer, Job>>['port'], Ours>>;
export type _11 = Expect<Equal<ReturnType<typeof parentPort<Answer, Job>>, Ours>>;

// A port stands where code asks for the web's port: what Comlink, birpc and Cap'n Web touch of it.
interface WebPort {
  postMessage(message: unknown, transfer?: Transferable[]): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: object): void;
  removeEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: object): void;
  start(): void;
  close(): void;
}
export type _12 = Expect<Assignable<Port, WebPort>>;
export type _13 = Expect<Assignable<Port, EventTarget & Disposable & AsyncDisposable & AsyncIterable<unknown>>>;
export type _14 = Expect<Equal<DataCloneError['path'], string>>;

// Listeners know what arrives, and a port of certain messages stands where any port is asked for.
export function listens(port: Ours, anyPort: (port: Port) => void): void {
  port.onmessage = ({ data }) => [data satisfies Answer];
  port.onclose = ({ reason }) => [reason satisfies string | undefined];
  port.addEventListener('message', ({ data }) => [data satisfies Answer]);
  port.on('message', (value) => [value satisfies Answer]);
  port.once('close', (reason) => [reason satisfies CloseReason]);
  port.addListener('messageerror', (error) => [error satisfies unknown]).removeListener('close', () => {});
  void (once(port, 'message') satisfies Promise<unknown[]>);
  // @ts-expect-error: a port has message, messageerror and close
  port.on('mesage', () => {});
  // @ts-expect-error: answers are no numbers
  port.on('message', (value: number) => value);
  anyPort(port);
}

// The transfer list of a handle goes into every `postMessage` there is, also those that want a mutable array.
type List = ReturnType<typeof channel>['remote']['transfer'];
export type _15 = Expect<Assignable<List, Transferable[]>>;
export type _16 = Expect<Assignable<List, readonly NodeTransferable[]>>;

// The thread that `spawn` starts can be ended without a cast, and is what the runtime's own declarations say.
type Spawned = ReturnType<typeof spawn>['worker'];
export type _17 = Expect<Assignable<Worker, Spawned>>;
export function listensToWorkers(worker: Spawned, buffer: ArrayBuffer): Worker {
  worker.on('error', (error) => {
    type _error = Expect<Equal<typeof error, unknown>>;
    const known: _error = true;
    return known;
  });
  worker.once('error', (error: Error) => error.message);
  worker.on('exit', (code) => code.toFixed()).once('online', () => {});
  const listener = (code: number): void => void code;
  worker.off('exit', listener);
  worker.postMessage({ buffer, from: worker.threadId });
  // @ts-expect-error: a Worker has no such event
  worker.on('exti', listener);
  return worker as Worker;
}

// Undefined stands for an option that is left out, whatever exactOptionalPropertyTypes says.
export function passesOn(port: Ours, timeoutMs: number | undefined): void {
  port.receive({ timeoutMs, interruptible: undefined });
  port.send({ id: 1 }, { timeoutMs, transfer: undefined });
  port.addEventListener('message', () => {}, { once: true, signal: undefined });
  void port.receiveAsync({ signal: new AbortController().signal });
}

// A Worker that the caller makes keeps its type.
export type _18 = Expect<Equal<ReturnType<Adopt>['worker'], Worker>>;
export type _19 = Expect<Equal<ReturnType<Adopt>['port'], Ours>>;
declare const adopt: typeof spawn<Answer, Job, Worker>;
type Adopt = typeof adopt;
export type _20 = Expect<Equal<Ours['ready'], Promise<void>>>;
export type _21 = Expect<Equal<Ours['error'], unknown>>;
// Under exactOptionalPropertyTypes an option that is `undefined` may still be passed on.
export const passedOn: ChannelOptions = { overflow: undefined, capacityBytes: undefined, spinMicroseconds: undefined };
