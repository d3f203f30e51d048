// One who works at the jobs of a queue: takes them, gives signs of life while they are done, and says how each ended.
import { platform } from '#platform';
import { ClosedError, UsageError } from '../errors.ts';
import * as limits from '../limits.ts';
import { type Settleable, settleable } from '../port/waiters.ts';
import type { Driver } from './driver.ts';
import { settledInTime } from './in-time.ts';
import { plainCause } from './package-of.ts';
import type { Job, QueueStore, Taken, Worker, WorkOptions } from './queue.ts';
import { type DrainOptions, drainOf } from './requests.ts';
import { messageOf, nameOf } from './thrown.ts';

/** What a worker was told, with what was not filled in. */
interface How {
  readonly concurrency: number;
  readonly maxAttempts: number;
  readonly retryMs: number;
  readonly ackMs: number;
  readonly onError: WorkOptions['onError'];
}

export class Working<T> implements Worker {
  readonly #store: QueueStore;
  readonly #driver: Driver;
  readonly #read: (bytes: Uint8Array) => T;
  readonly #does: (value: T, job: Job) => unknown;
  readonly #how: How;
  readonly #doing = new Set<Promise<void>>();
  /** Of jobs that are worked at: what stops the signs of life. */
  readonly #kept = new Map<AbortController, { readonly job: Taken; readonly stop: () => void }>();
  /** There is a hand free, or nobody takes anything more. */
  #freed: Settleable<void> = settleable();
  readonly #taking: Promise<void>;
  readonly #left: () => void;
  #closing: Promise<void> | undefined;
  #over = false;

  constructor(
    store: QueueStore,
    driver: Driver,
    read: (bytes: Uint8Array) => T,
    does: (value: T, job: Job) => unknown,
    how: How,
    left: (worker: Working<T>) => void,
  ) {
    this.#store = store;
    this.#driver = driver;
    this.#read = read;
    this.#does = does;
    this.#how = how;
    this.#left = () => left(this);
    this.#taking = this.#take();
  }
  get running(): number {
    return this.#doing.size;
  }
  async close(options: DrainOptions = {}): Promise<void> {
    const drainMs = drainOf(options);
    this.#closing ??= this.#close(drainMs);
    await this.#closing;
  }
  async #close(drainMs: number): Promise<void> {
    this.#freed.resolve();
    // What is asked of a server that is lost may never be answered.
    await settledInTime(this.#taking, limits.QUEUE_CLOSE_MS);
    this.#over = true;
    await settledInTime(Promise.all(this.#doing), drainMs);
    // Others are to have those jobs.
    const backs: Promise<void>[] = [];
    for (const [lost, { job, stop }] of this.#kept) {
      stop();
      // One that was lost is another one's.
      if (!lost.signal.aborted) backs.push(job.back());
      lost.abort(new ClosedError('The worker is closed, and its time is over', 'closed'));
    }
    if (backs.length > 0) await settledInTime(Promise.allSettled(backs), limits.ENGINE_LAST_MS);
    this.#left();
  }
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #take(): Promise<void> {
    while (this.#closing === undefined) {
      const free = this.#how.concurrency - this.#doing.size;
      if (free === 0) {
        this.#freed = settleable();
        await this.#freed.promise;
        continue;
      }
      try {
        await this.#driver.ready();
        await this.#store.take(free, limits.QUEUE_WAIT_MS, (job) => {
          // Nobody here waits for it any more.
          if (this.#over) {
            job.back().catch(() => {});
            return;
          }
          const doing = this.#do(job).catch(() => {});
          this.#doing.add(doing);
          void doing.then(() => {
            this.#doing.delete(doing);
            this.#freed.resolve();
          });
        });
      } catch (error) {
        if (!(await this.#again(error as Error))) return;
      }
    }
  }
  /** Whether there is a server to ask again, later: one that was started anew may have no such queue. */
  async #again(error: Error): Promise<boolean> {
    if (this.#driver.up && this.#closing === undefined) {
      try {
        if (!this.#store.isGone(error)) throw error;
        await this.#store.make();
      } catch (thrown) {
        // A client that has just lost its server says so a moment later.
        if (thrown instanceof UsageError || this.#store.isSaid(thrown)) this.#tell(plainCause(thrown));
      }
    }
    await new Promise((resolve) => setTimeout(resolve, limits.QUEUE_AGAIN_MS));
    return await this.#driver.ready().then(
      () => true,
      () => false,
    );
  }
  /** What it throws is reported, as of any listener. */
  #tell(error: Error): void {
    try {
      this.#how.onError?.(error);
    } catch (thrown) {
      platform.reportError(thrown);
    }
  }

  /** Where the server does not hear how it ended, another worker has the job in its time. */
  async #do(job: Taken): Promise<void> {
    const { maxAttempts, retryMs, ackMs } = this.#how;
    const { attempt } = job;
    // A server does not say which.
    let failed: unknown = new Error(
      'how its last try ended was not heard: its worker died, or the server did not get its word, and it may be done',
    );
    // One whose workers die each time is tried no more often than one that throws.
    if (attempt <= maxAttempts) {
      const lost = new AbortController();
      const stop = this.#keep(job, lost);
      try {
        await this.#does(this.#read(job.bytes), { attempt, signal: lost.signal });
        // From here on it is nothing that can be given back.
        stop();
        await settledInTime(job.done(), ackMs);
        return;
      } catch (error) {
        // It is another one's, or given back: this try is none.
        if (lost.signal.aborted) return;
        failed = error;
      } finally {
        stop();
      }
    }
    const why = failed instanceof Error ? `${nameOf(failed)}: ${messageOf(failed)}` : messageOf(failed);
    const settled =
      attempt >= maxAttempts
        ? job.bury(Math.min(attempt, maxAttempts), why.slice(0, limits.QUEUE_WHY_MAX))
        : job.again(Math.min(retryMs * 2 ** Math.min(attempt - 1, 40), limits.QUEUE_RETRY_MS_MAX));
    // Where the server does not hear of it, the job is given out again when its time is up.
    await settledInTime(settled, ackMs);
  }
  /** Gives signs of life, until it is stopped: a server that was not heard for `ackMs` has given the job away. */
  #keep(job: Taken, lost: AbortController): () => void {
    const { ackMs } = this.#how;
    let heardMs = performance.now();
    let why: unknown;
    const sign = async (): Promise<void> => {
      const saidMs = performance.now();
      if (saidMs - heardMs > ackMs)
        lost.abort(
          new ClosedError(
            `No sign has reached the server in ${ackMs} ms: another worker has the job, or will have`,
            'lost',
            why,
          ),
        );
      else if (await job.extend()) heardMs = saidMs;
      else lost.abort(new ClosedError('Another worker has the job by now', 'lost'));
    };
    const signs = setInterval(
      () =>
        void sign().catch((error) => {
          why = error;
        }),
      ackMs / 3,
    );
    const stop = (): void => {
      clearInterval(signs);
      this.#kept.delete(lost);
    };
    this.#kept.set(lost, { job, stop });
    return stop;
  }
}
