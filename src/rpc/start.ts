// A worker and its calls, in one step.
import { TimeoutError } from '../errors.ts';
import { START_TIMEOUT_MS_DEFAULT, TIMER_MS_MAX } from '../limits.ts';
import type { Href } from '../platform/host-types.ts';
import type { Port } from '../port/port.ts';
import { type AdoptOptions, type SpawnOptions, spawn } from '../port/spawn.ts';
import type { SpawnedWorker } from '../port/spawned-worker.ts';
import { CALL_OPTIONS, CONNECTION_OPTIONS } from './options.ts';
import type { Remote } from './types.ts';
import { type WrapOptions, wrap } from './wrap.ts';

/** What `start` resolves with. Disposed of, the port is closed and the worker terminated. */
export interface Started<Api, W> extends Disposable {
  readonly api: Remote<Api>;
  readonly port: Port;
  readonly worker: W;
}

/**
 * Starts a worker that exposes an `Api` at its `parentPort()`, and resolves once that is open. The worker's module says
 * `expose(api, parentPort())`.
 *
 * An uncaught error of the worker's is no error of this thread: pending calls reject with a ClosedError whose `cause` it is, and `port.error` holds it.
 *
 * ```ts
 * import { start } from 'millrace/rpc';
 * const worker = `
 *   import { parentPort } from ${JSON.stringify(import.meta.resolve('millrace'))};
 *   import { expose } from ${JSON.stringify(import.meta.resolve('millrace/rpc'))};
 *   expose({ sum: (list) => list.reduce((a, b) => a + b), die() { setTimeout(() => { throw new RangeError('out of luck'); }); return new Promise(() => {}); } }, parentPort());`;
 * const { api } = await start<{ sum(list: number[]): number; die(): void }>(`data:text/javascript,${encodeURIComponent(worker)}`);
 * console.log(await api.sum([1, 2, 3]));                     // 6
 * await api.die().catch(({ reason, cause }) => console.log(reason, cause.message));   // crash out of luck
 * ```
 *
 * `startTimeoutMs` (30,000 unless said) counts until then; options of `spawn` and `wrap` go together.
 * @param make the URL of the module, or what makes the Worker in the form that bundlers recognise
 * @throws (rejects) ClosedError if the worker ends before, with its error as `cause`; TimeoutError, and the worker is terminated; UsageError ERR_OPTION;
 *   what the runtime's Worker throws
 */
export function start<Api extends object, W extends { terminate(): unknown } = { terminate(): unknown }>(
  make: () => W,
  options?: AdoptOptions & WrapOptions,
): Promise<Started<Api, W>>;
export function start<Api extends object>(
  make: Href | string,
  options?: SpawnOptions & WrapOptions,
): Promise<Started<Api, SpawnedWorker>>;
export async function start<Api extends object>(
  make: Href | string | (() => { terminate(): unknown }),
  options: SpawnOptions & WrapOptions = {},
): Promise<Started<Api, { terminate(): unknown }>> {
  const own: Record<string, unknown> = {};
  const rest: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) {
    (CALL_OPTIONS.includes(name) || CONNECTION_OPTIONS.includes(name) ? own : rest)[name] = value;
  }
  const { port, worker } = spawn(make as () => { terminate(): unknown }, rest);
  // What it dies of is told to whoever calls it, and by `port.error`; a Worker of Node's whose error nobody hears takes this process along.
  (worker as { on?(type: 'error', heard: () => void): unknown }).on?.('error', () => {});
  const end = (): void => {
    port.close();
    void worker.terminate();
  };
  try {
    const api = wrap<Api>(port, own);
    await within(port, options.startTimeoutMs ?? START_TIMEOUT_MS_DEFAULT);
    return { api, port, worker, [Symbol.dispose]: end };
  } catch (error) {
    end();
    throw error;
  }
}

function within({ ready }: Port, timeoutMs: number): Promise<void> {
  if (timeoutMs > TIMER_MS_MAX) return ready;
  return new Promise((resolve, reject) => {
    const late = `Cannot start: the worker lives, and has not called parentPort() for ${timeoutMs} ms`;
    const timer = setTimeout(() => reject(new TimeoutError(late, { timeoutMs })), timeoutMs);
    ready.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
