// Many threads or processes behind one remote: each call goes to the one with the least to do.
import { ClosedError, UsageError } from '../../errors.ts';
import type { MemberStart } from '../making.ts';
import { makeRemote } from '../proxy.ts';
import type { Remote } from '../types.ts';
import { Crew, type PoolStats } from './crew.ts';
import { type PoolOptions, resolvePool } from './options.ts';

/** Made by `pool`. */
export class Pool<Api extends object = object> {
  /**
   * What the members expose. A call goes to the member with the least to do, or waits for one; `within(pool.api, { timeoutMs, signal })` counts from the call
   * on. What is built upon a call, and functions, references and streams that come of it, are that member's. Arguments are copied when the call is sent, which may
   * be later, or a second time after a crash: they are not to be changed until it has settled.
   */
  readonly api: Remote<Api>;
  readonly #crew: Crew;

  constructor(crew: Crew) {
    this.#crew = crew;
    const home = {
      port: {
        get reason(): string | undefined {
          return crew.over?.reason;
        },
        close: () => this.close(),
      },
      get ended(): ClosedError | undefined {
        return crew.over;
      },
    };
    this.api = makeRemote<typeof home>({
      connection: home,
      target: 0,
      path: [],
      options: undefined,
      invoke: ({ options }, path, values) => crew.call(path, values, options),
    }) as unknown as Remote<Api>;
  }

  /** Members that there are now, or that start. */
  get size(): number {
    return this.#crew.size;
  }
  /** Whether one more call would have to wait, and be refused (ERR_QUEUE_FULL). False after the end. */
  get full(): boolean {
    return this.#crew.full;
  }
  /**
   * Resolves when one more call is taken again; at once if it is. Who ignores the promise need not catch its rejection.
   * @throws (rejects) ClosedError if the pool is closed first
   */
  drained(): Promise<void> {
    return this.#crew.drained();
  }
  /** Resolves when nothing waits and nothing runs: no task, no stream of one, and nothing that was aborted. */
  drain(): Promise<void> {
    return this.#crew.drain();
  }
  stats(): PoolStats {
    return this.#crew.stats();
  }

  /** Resolves when the pool has ended and its threads with it: as `closed`, or as what the last of its members died of that had done nothing. */
  get closed(): Promise<string> {
    return this.#crew.closed.promise;
  }
  /**
   * Ends all members at once, and rejects what waits and what runs with a ClosedError; `await pool.drain()` before it lets that come to its end. Resolves when
   * the threads have ended. The same as `using` and `await using` at the end of their block.
   */
  async close(): Promise<void> {
    await this.#crew.end(new ClosedError('Cannot call: the pool was closed', 'closed'));
    await this.closed;
  }
  [Symbol.dispose](): void {
    void this.close();
  }
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/**
 * A pool of workers that expose an `Api` at their `parentPort()`, each as `spawn` would start it. They are started as they are needed.
 * ```ts
 * import { pool, within } from 'millrace/rpc';
 * const worker = `
 *   import { parentPort } from ${JSON.stringify(import.meta.resolve('millrace'))};
 *   import { expose } from ${JSON.stringify(import.meta.resolve('millrace/rpc'))};
 *   expose({ square: (n) => n * n }, parentPort());`;
 * await using squares = pool<{ square(n: number): number }>(`data:text/javascript,${encodeURIComponent(worker)}`, { size: 2 });
 * const all = await Promise.all([1, 2, 3].map((n) => squares.api.square(n)));
 * console.log(all, await within(squares.api, { timeoutMs: 10_000 }).square(4));   // [1, 4, 9] 16
 * ```
 * A thread that ends fails the tasks that it had begun, with a ClosedError, and is replaced; what had not begun goes to another one.
 * @param start the URL, absolute, of the worker's module; what makes a Worker, in the form that bundlers recognise; or what opens a port, as `fork` does
 * @throws UsageError ERR_OPTION
 */
export function pool<Api extends object>(start: MemberStart, options: PoolOptions = {}): Pool<Api> {
  const isUrl = typeof start === 'object' && start !== null && typeof start.href === 'string';
  if (typeof start !== 'function' && typeof start !== 'string' && !isUrl) {
    throw new UsageError(
      'ERR_OPTION',
      `Cannot make a pool of ${String(start)}: expected a URL, or a function that makes a Worker or a port`,
      { option: 'start', value: start },
    );
  }
  return new Pool<Api>(new Crew(start, resolvePool(options)));
}
