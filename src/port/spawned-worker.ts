// The Worker that `spawn` returns, in types of our own: declarations that named those of node:worker_threads would need
// Node's in every program.

/** Its parameter is compared as a method's is: a listener may say that the error it takes is an Error, which it is usually. */
type ErrorListener = { method(error: unknown): unknown }['method'];

/**
 * The runtime's own Worker (of `node:worker_threads`, on Bun and Deno too), as far as a caller usually needs it. For the rest say
 * which it is: `worker as Worker`, with the type imported from `node:worker_threads`.
 */
export interface SpawnedWorker {
  readonly threadId: number;
  /** Ends the thread at once, wherever it is; `port.closed` says `terminated`. */
  terminate(): Promise<unknown>;
  /** Beside the port and its order; over there, a `message` of the native `parentPort` of node:worker_threads. */
  postMessage(value: unknown, transfer?: never[]): void;
  /** `error` is what the thread threw and nobody caught: without a listener the process crashes of it. */
  on(event: 'error', listener: ErrorListener): this;
  on(event: 'exit', listener: (exitCode: number) => unknown): this;
  on(event: 'online', listener: () => unknown): this;
  on(event: 'message' | 'messageerror', listener: (value: unknown) => unknown): this;
  once(event: 'error', listener: ErrorListener): this;
  once(event: 'exit', listener: (exitCode: number) => unknown): this;
  once(event: 'online', listener: () => unknown): this;
  once(event: 'message' | 'messageerror', listener: (value: unknown) => unknown): this;
  off(event: SpawnedWorkerEvent, listener: (...values: never[]) => unknown): this;
  /** A thread that runs keeps the process alive, whatever its port does; `unref` lets the process go. */
  ref(): void;
  unref(): void;
}
type SpawnedWorkerEvent = 'error' | 'exit' | 'online' | 'message' | 'messageerror';
