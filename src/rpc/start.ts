// A worker and its calls, in one step.
import { ClosedError, TimeoutError } from '../errors.ts';
import { START_TIMEOUT_MS_DEFAULT, TIMER_MS_MAX } from '../limits.ts';
import type { Href } from '../platform/host-types.ts';
import type { Port } from '../port/port.ts';
import { type AdoptOptions, checkSpawnNames, type SpawnOptions } from '../port/spawn.ts';
import type { SpawnedWorker } from '../port/spawned-worker.ts';
import { connectionOf } from './connection.ts';
import { type MadeMember, type MemberStart, makeMember } from './making.ts';
import { CALL_OPTIONS, CONNECTION_OPTIONS, type ConnectionOptions, callOptions, resolved } from './options.ts';
import type { Remote } from './types.ts';
import { type WrapOptions, wrap } from './wrap.ts';

/** What `start` resolves with. Disposed of, the port is closed and the worker terminated, or the child asked to end. */
export type Started<Api, M extends MadeMember> = Disposable & { readonly api: Remote<Api> } & {
  readonly [K in keyof M]: M[K];
};

/**
 * Starts a worker that exposes an `Api` at its `parentPort()`, and resolves once it does. The worker's module says
 * `expose(api, parentPort())`. A worker that lives keeps the process alive, as any: dispose of what this resolves with, or `worker.unref()`.
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
 * @param make the URL of the module; what makes the Worker in the form that bundlers recognise; or a function that returns an object with a `port`, and a `worker`
 *   or `child` behind it, as `fork` of millrace/process does
 * @throws (rejects) ClosedError if the worker ends before, with its error as `cause`; TimeoutError, and the worker is terminated; UsageError ERR_OPTION;
 *   what the runtime's Worker throws
 */
export function start<Api extends object, W extends { terminate(): unknown } = { terminate(): unknown }>(
  make: () => W,
  options?: AdoptOptions & WrapOptions,
): Promise<Started<Api, { readonly port: Port; readonly worker: W }>>;
export function start<Api extends object, M extends MadeMember = MadeMember>(
  make: () => M,
  options?: WrapOptions & Pick<AdoptOptions, 'startTimeoutMs'>,
): Promise<Started<Api, M>>;
export function start<Api extends object>(
  make: Href | string,
  options?: SpawnOptions & WrapOptions,
): Promise<Started<Api, { readonly port: Port; readonly worker: SpawnedWorker }>>;
export async function start<Api extends object>(
  make: MemberStart,
  options: SpawnOptions & WrapOptions = {},
): Promise<Started<Api, MadeMember>> {
  const ours = [...CALL_OPTIONS, ...CONNECTION_OPTIONS];
  checkSpawnNames(options, ours);
  const own: Record<string, unknown> = {};
  const rest: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) {
    (ours.includes(name) ? own : rest)[name] = value;
  }
  // Before anything is started that would not be called.
  resolved(callOptions(own, CONNECTION_OPTIONS) as ConnectionOptions);
  const made = makeMember(make, rest);
  const { port } = made;
  const end = (): void => {
    port.close();
    made.end('leisure').catch(() => {});
  };
  try {
    const api = wrap<Api>(port, own);
    // What the worker's first call needs is compiled over there before it comes: 0.7 of the time that one takes (2.0 ms for 2.7).
    connectionOf(port).out.greet();
    await exposed(port, options.startTimeoutMs ?? START_TIMEOUT_MS_DEFAULT);
    return { ...made.given, api, [Symbol.dispose]: end };
  } catch (error) {
    end();
    throw error;
  }
}

/** Comes true when the other side has exposed something. */
function exposed(port: Port, timeoutMs: number): Promise<void> {
  let over = (): void => {};
  const met = new Promise<void>((resolve, reject) => {
    const late = (): void => {
      const text = `Cannot start: the worker lives, and has exposed nothing at its parentPort() for ${timeoutMs} ms`;
      reject(new TimeoutError(text, { timeoutMs }));
    };
    const timer = timeoutMs > TIMER_MS_MAX ? undefined : setTimeout(late, timeoutMs);
    over = () => clearTimeout(timer);
    connectionOf(port).whenMet(resolve);
    // `ready` knows best why there will be none.
    port.ready.catch(reject);
    void port.closed.then((reason) => {
      reject(
        new ClosedError(`Cannot start: the worker has ended (${reason}), and exposed nothing`, reason, port.error),
      );
    });
  });
  return met.finally(() => over());
}
