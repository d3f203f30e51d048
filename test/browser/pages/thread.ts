// A worker for a check, with its part written where the check is: a role is a function whose text travels. It must therefore
// use nothing but its argument and globals. test/kit/thread.ts is the same for the other runtimes.
import * as millrace from '../../../src/index.ts';
import { afterwards, rest, within } from './checks.ts';

/** What a role is given in its thread. */
export interface Stage<D = unknown> {
  readonly data: D;
  /** This thread's end of the channel: what `parentPort()` gives a spawned one, else attached at the first call. */
  port(options?: millrace.PortOptions): millrace.Port;
  /** The handle itself, for a thread that passes it on or attaches it later. */
  readonly remote: millrace.Remote;
  readonly millrace: typeof millrace;
  /** Tells the page something, the native way. */
  say(value: unknown, transfer?: Transferable[]): void;
  /** What the page sends with `tell`, once. */
  hear<T = unknown>(): Promise<T>;
  /** Blocks this thread for so long. */
  rest(ms: number): void;
  /**
   * From now on this thread, where it sleeps for longer than it does while messages come, counts that in memory and sleeps until it is rung: no
   * look that it takes by itself helps it.
   */
  sleepSoundly(asleep: Int32Array): void;
}
// biome-ignore lint/suspicious/noExplicitAny: each role knows its own data
export type Role = (stage: Stage<any>) => unknown;

/** What the page posts to a worker that is no spawned one, before anything else. */
export interface Casting {
  readonly data: unknown;
  readonly remote: unknown;
}
/** What a worker posts. */
export interface Said {
  readonly said?: unknown;
  readonly failed?: string;
  readonly done?: unknown;
}

export class PageThread {
  readonly worker: Worker;
  /** What the role returned; rejects if it threw, or its script does not load. */
  readonly result: Promise<unknown>;
  readonly #said: unknown[] = [];
  readonly #listeners: ((value: unknown) => void)[] = [];

  constructor(worker: Worker) {
    this.worker = worker;
    this.result = new Promise((resolve, reject) => {
      worker.addEventListener('message', ({ data }: MessageEvent<Said>) => {
        if ('said' in data) this.#hear(data.said);
        else if ('failed' in data) reject(new Error(`in the worker: ${data.failed}`));
        else if ('done' in data) resolve(data.done);
      });
      worker.addEventListener('error', (event) => reject(new Error(`worker: ${event.message ?? 'does not load'}`)));
    });
    this.result.catch(() => {});
    afterwards(() => worker.terminate());
  }

  #hear(value: unknown): void {
    const listener = this.#listeners.shift();
    if (listener === undefined) this.#said.push(value);
    else listener(value);
  }

  /** The next thing that the role says. */
  next(): Promise<unknown> {
    if (this.#said.length > 0) return Promise.resolve(this.#said.shift());
    const said = new Promise((resolve) => this.#listeners.push(resolve));
    return within('the worker to say something', Promise.race([said, this.result.then(() => said)]));
  }
  tell(value: unknown, transfer: readonly unknown[] = []): void {
    this.worker.postMessage({ told: value }, transfer as Transferable[]);
  }
  /** What the role returned. */
  done(): Promise<unknown> {
    return within('the worker to finish', this.result);
  }
}

/** A role travels as its worker's name, which is there from the first line on. */
function workerFor(role: Role, spawned: boolean): Worker {
  const name = role.toString();
  return spawned
    ? new Worker(new URL('./thread-worker.js?spawned', import.meta.url), { type: 'module', name })
    : new Worker(new URL('./thread-worker.js', import.meta.url), { type: 'module', name });
}

export interface ThreadOptions {
  readonly data?: unknown;
  /** The handle that `stage.port()` attaches, made here or passing through. */
  readonly remote?: unknown;
}

export function startThread(role: Role, { data, remote }: ThreadOptions = {}): PageThread {
  const thread = new PageThread(workerFor(role, false));
  const casting: Casting = { data, remote };
  thread.worker.postMessage(casting, remote === undefined ? [] : (millrace.transferOf(remote) as Transferable[]));
  return thread;
}

export interface Talk {
  readonly port: millrace.Port;
  readonly thread: PageThread;
}

/** A thread with a channel to it. */
export function talkTo(role: Role, options?: millrace.ChannelOptions, data?: unknown): Talk {
  const { port, remote } = millrace.channel(options);
  afterwards(() => port.close());
  return { port, thread: startThread(role, { data, remote }) };
}

/** The same by `spawn`. */
export function spawnThread(role: Role, options?: millrace.AdoptOptions): Talk {
  const { port, worker } = millrace.spawn(() => workerFor(role, true), options);
  afterwards(() => port.close());
  return { port, thread: new PageThread(worker) };
}

/** Waits until a thread has slept soundly so often: `Stage.sleepSoundly`. */
export async function asleepFor(times: number, asleep: Int32Array): Promise<void> {
  const count = async (): Promise<void> => {
    while (Atomics.load(asleep, 0) < times) await rest(10);
  };
  await within(`it to sleep ${times} times`, count());
}

/** The next message, not by a listener. */
export const next = (port: millrace.Port): Promise<unknown> => within('a message', port.receiveAsync());
