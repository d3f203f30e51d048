// How threads start on Node, and what bun.ts and deno.ts vary of it.
import type { Transferable, Worker, WorkerOptions } from 'node:worker_threads';
import { type BootData, NODE_BOOTSTRAP, START_KEY } from './bootstrap.ts';
import { builtin, process } from './builtins.ts';
import type { Start, StartPlatform, ThreadEnded } from './contract.ts';
import { DeviceRandom } from './random.ts';
import { type StartInbox, startMessage, TakingInbox } from './start-inbox.ts';

const workerThreads = /* @__PURE__ */ builtin('node:worker_threads');

/** The event of an error that tells of it whether or not somebody listens to errors. */
export const errorMonitor = (): symbol => builtin('node:events').errorMonitor;

/** Starts `source`, one of bootstrap.ts, in a new thread. What the caller's options hold goes on to the user's module. */
export function startWorker(source: string | URL, url: URL, start: Start, options: WorkerOptions): Worker {
  const boot: BootData = { url: url.href, start: start.data, end: start.end, workerData: options.workerData };
  return new workerThreads.Worker(source, {
    ...options,
    eval: typeof source === 'string',
    workerData: boot,
    transferList: [...(options.transferList ?? []), ...start.transfer] as Transferable[],
  });
}

/** Tells how the thread of this Worker ended. `errors` is the event to listen to. */
export function watchWorker(worker: Worker, errors: string | symbol, ended: ThreadEnded): void {
  let failed: { readonly error: unknown } | undefined;
  worker.on(errors as 'error', (error: unknown) => {
    failed ??= { error };
  });
  // 1 is what a terminated one ends with, on Bun and Deno too; it may also have chosen that itself.
  worker.on('exit', (code) => ended(failed ? 'crash' : code === 1 ? undefined : 'exit', failed?.error));
}

/** Hands its start data to a Worker of node:worker_threads that somebody made. */
export function adoptWorker(
  worker: unknown,
  data: unknown,
  transfer: readonly unknown[],
  errors: string | symbol,
  ended: ThreadEnded,
): void {
  const made = worker as Worker;
  watchWorker(made, errors, ended);
  made.postMessage(startMessage(data), transfer as Transferable[]);
  // It had ended before: no event will tell. Deno gives no sign of it.
  if (made.threadId === -1) ended(undefined, undefined);
}

let random: DeviceRandom | undefined;

export const nodeStart: StartPlatform = {
  randomWords(count: number): Uint32Array {
    random ??= new DeviceRandom(builtin('node:fs'));
    return random.words(count);
  },

  get data(): unknown {
    return (process as { [START_KEY]?: unknown })[START_KEY];
  },

  spawn(url: URL, start: Start, options: object, ended: ThreadEnded): unknown {
    const worker = startWorker(NODE_BOOTSTRAP, url, start, options);
    // Listens without taking: an error that nobody handles stays uncaught.
    watchWorker(worker, errorMonitor(), ended);
    return worker;
  },

  tellsEnd(worker: unknown): boolean | undefined {
    return worker instanceof workerThreads.Worker || undefined;
  },

  adopt(worker: unknown, data: unknown, transfer: readonly unknown[], ended: ThreadEnded): void {
    adoptWorker(worker, data, transfer, errorMonitor(), ended);
  },

  openInbox(): StartInbox | undefined {
    const { parentPort: port } = workerThreads;
    if (port === null) return undefined;
    return new TakingInbox({
      port,
      take: workerThreads.receiveMessageOnPort,
      redeliver: (port, message) => port.emit('message', message),
    });
  },
};
