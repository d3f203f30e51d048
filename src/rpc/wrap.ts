// Both ends of calls over a port.
import { UsageError } from '../errors.ts';
import { checkNames } from '../port/options.ts';
import type { Port } from '../port/port.ts';
import { connectionOf } from './connection.ts';
import { callableOf, Exposure } from './exposure.ts';
import { type CallOptions, CONNECTION_OPTIONS, type ConnectionOptions, callOptions, shown, wrong } from './options.ts';
import { invokeAsync, makeRemote } from './proxy.ts';
import { invokeSync } from './sync.ts';
import type { Remote, SyncRemote } from './types.ts';

// biome-ignore lint/suspicious/noExplicitAny: whatever the port is said to carry
type AnyPort = Port<any, any>;

export interface ExposeOptions extends ConnectionOptions {
  /** The names that can be called; default: every own function, and every method of its own classes. */
  readonly only?: readonly string[] | undefined;
}
export interface WrapOptions extends ConnectionOptions, CallOptions {}

/**
 * Lets the other side of a port call methods of `api`: its own functions, and those of its classes up to the runtime's own. Nothing else: no accessor, no
 * `constructor`, `__proto__` or `then`; objects within it only where they are a `reference`. From now on what comes over the port is calls.
 *
 * Keeps the process alive while the port is open.
 * ```ts
 * import { attach, channel } from 'millrace';
 * import { expose, wrap } from 'millrace/rpc';
 * const { port, remote } = channel();
 * const server = { add: (a: number, b: number) => a + b };
 * expose(server, attach(remote));                          // in another thread
 * const api = wrap<typeof server>(port);
 * console.log(await api.add(1, 2));                        // 3
 * port.close();
 * ```
 * @throws UsageError ERR_OPTION; ERR_BUSY if something is exposed at this port, or somebody else reads it
 */
export function expose(api: object, port: AnyPort, options: ExposeOptions = {}): void {
  checkNames(options, [...CONNECTION_OPTIONS, 'only']);
  const { only, ...own } = options;
  checkCallable(api, only);
  const connection = connectionOf(port, own);
  connection.serving.expose(new Exposure(api, only));
  connection.out.greet();
}

/** Nobody could call anything, or not what was named: it is said here, and not to whoever calls. @throws UsageError ERR_OPTION */
function checkCallable(api: unknown, only: unknown): void {
  if ((typeof api !== 'object' && typeof api !== 'function') || api === null) {
    throw new UsageError('ERR_OPTION', `Cannot expose ${shown(api)}: expected an object with methods`, { value: api });
  }
  const names = callableOf(api);
  if (names.size === 0) {
    const what =
      typeof api === 'function'
        ? 'expose({ name: it }, port)'
        : 'an object with functions of its own, or methods of its class';
    throw new UsageError(
      'ERR_OPTION',
      `Cannot expose ${shown(api)}: nothing of it may be called, for methods of the runtime's classes may not; expose ${what}, objects within it only where they are a reference`,
      { value: api },
    );
  }
  if (only === undefined) return;
  if (!(Array.isArray(only) && only.length > 0 && only.every((name) => typeof name === 'string')))
    throw wrong('only', only, 'an array of names');
  for (const name of only as string[]) {
    if (names.has(name)) continue;
    throw new UsageError(
      'ERR_OPTION',
      `Option only cannot hold ${shown(name)}: nothing of that name may be called; it may hold ${[...names].join(', ')}`,
      { option: 'only', value: only },
    );
  }
}

/**
 * What the other side of a port exposes. Each call returns a promise, which settles in every case: with the result, with what was thrown there (an Error of the
 * same class), or with a ClosedError when the port ends, whose `reason` says how and whose `cause` of what. Arguments and results are copied as `postMessage` copies
 * them; functions, references, generators and ReadableStreams among them, also deep within arrays and plain objects, go as what can be called and read from there.
 *
 * Never blocks: calls of one turn travel together, 16 at a time, and wait here while the port is full. What is read or called of a call's promise before it has gone out goes along:
 * `api.user(1).name` is one trip. Keeps the process alive while a call is pending.
 * ```ts
 * import { attach, channel } from 'millrace';
 * import { expose, wrap } from 'millrace/rpc';
 * const { port, remote } = channel();
 * const server = {
 *   user: (id: number) => ({ id, name: 'Ada' }),
 *   async *count(to: number) { for (let i = 1; i <= to; i++) yield i; },
 *   each: async (list: number[], told: (n: number) => void) => { for (const n of list) await told(n); },
 * };
 * expose(server, attach(remote));                            // in another thread
 * const api = wrap<typeof server>(port);
 * console.log(await api.user(7).name);                       // Ada
 * for await (const n of await api.count(3)) console.log(n);  // 1 2 3
 * await api.each([4, 5], (n) => console.log(n));             // 4 5
 * port.close();
 * ```
 * @throws UsageError ERR_OPTION. Its calls (they reject): what was thrown there; TimeoutError ERR_TIMEOUT; the reason of an aborted `signal`; ClosedError ERR_CLOSED;
 *   UsageError ERR_NO_METHOD, ERR_LIMIT; DataCloneError ERR_DATA_CLONE; CodecError ERR_LOST
 */
export function wrap<Api extends object>(port: AnyPort, options: WrapOptions = {}): Remote<Api> {
  const { own, call } = split(options);
  const connection = connectionOf(port, own);
  return makeRemote({ connection, target: 0, path: [], options: call, invoke: invokeAsync }) as unknown as Remote<Api>;
}

/**
 * The same, for threads that may block: each call returns its result, or throws. Meanwhile this thread serves what it is called back for, and whoever blocks in a
 * call to it.
 * ```ts
 * import { spawn } from 'millrace';
 * import { wrapSync } from 'millrace/rpc';
 * const worker = `
 *   import { parentPort } from ${JSON.stringify(import.meta.resolve('millrace'))};
 *   import { expose } from ${JSON.stringify(import.meta.resolve('millrace/rpc'))};
 *   expose({ sum: async (list) => list.reduce((a, b) => a + b) }, parentPort());`;
 * const { port } = spawn(`data:text/javascript,${encodeURIComponent(worker)}`);
 * const api = wrapSync<{ sum(list: number[]): Promise<number> }>(port);
 * console.log(api.sum([1, 2, 3]));                         // 6
 * port.close();
 * ```
 * @throws UsageError ERR_OPTION. Its calls: what was thrown there; TimeoutError at `timeoutMs`; ClosedError; UnsupportedError where this thread may not
 *   block, or the port's medium brings nothing to a thread that is blocked
 */
export function wrapSync<Api extends object>(port: AnyPort, options: WrapOptions = {}): SyncRemote<Api> {
  const { own, call } = split(options);
  const connection = connectionOf(port, own);
  return makeRemote({
    connection,
    target: 0,
    path: [],
    options: call,
    invoke: invokeSync,
  }) as unknown as SyncRemote<Api>;
}

function split(options: WrapOptions): { own: ConnectionOptions; call: CallOptions | undefined } {
  const { timeoutMs, signal, callbacks, ...own } = callOptions(options, CONNECTION_OPTIONS);
  const none = timeoutMs === undefined && signal === undefined && callbacks === undefined;
  return { own, call: none ? undefined : { timeoutMs, signal, callbacks } };
}
