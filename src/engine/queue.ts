// Work queues on a server that keeps them: each job is done at least once. Who takes a job says when it is done; where that is not said, by a worker that died or
// is cut off, another one has it, later.
import { ClosedError, UsageError } from '../errors.ts';
import * as limits from '../limits.ts';
import { checked, checkNames, type NumberRule } from '../port/options.ts';
import type { Driver } from './driver.ts';
import { randomId } from './names.ts';
import { FORMS, type Form, RecordReader, RecordWriter } from './record.ts';

/** How a queue is kept, on a server of one kind. */
export interface QueueStore {
  /** @throws (rejects) what the server says, and where it is lost: then nobody knows whether it is there */
  put(bytes: Uint8Array, delayMs: number, id: string | undefined): Promise<void>;
  /** Gives out so many jobs at the most, each as soon as it is there; resolves with the last of them, or after `waitMs`. */
  take(count: number, waitMs: number, given: (job: Taken) => void): Promise<void>;
  stats(): Promise<QueueStats>;
  /** Some dead letters, which are this side's until each is settled, or for as long as a job. */
  takeDead(count: number): Promise<TakenDead[]>;
  close(): Promise<void>;
}
export interface Taken {
  readonly bytes: Uint8Array;
  /** How many times it was given out, this one included. */
  readonly attempt: number;
  done(): Promise<void>;
  /** To be given out again. */
  again(delayMs: number): Promise<void>;
  /** To the dead letters. */
  bury(attempts: number, why: string): Promise<void>;
  /** It is still being worked at. */
  extend(): Promise<void>;
}
export interface TakenDead {
  readonly bytes: Uint8Array;
  readonly attempts: number;
  readonly why: string;
  /** Forgets it. */
  drop(): Promise<void>;
  /** To be worked at again, from the first attempt on. */
  retry(): Promise<void>;
}

export interface QueueStats {
  /** Jobs that nobody works at, those included whose time has not come, which JetStream counts as running once they were given out too soon. */
  readonly waiting: number;
  readonly running: number;
  readonly dead: number;
}

export interface QueueOptions {
  /** Milliseconds without a sign of a worker after which its jobs go to others; default 30,000. A worker that lives gives signs by itself. All who use a queue say the same. */
  readonly ackMs?: number | undefined;
  /** `packed`, the default, or `json`, for workers in other languages. */
  readonly codec?: Form | undefined;
}
export interface PutOptions {
  /** Milliseconds before it is given out. */
  readonly delayMs?: number | undefined;
  /** What a job that is put again is known by, for two minutes: it is put once. For who does not know whether the server got it. */
  readonly id?: string | undefined;
}
export interface WorkOptions {
  /** Jobs at a time; default 1. */
  readonly concurrency?: number | undefined;
  /** Times that a job is tried before it goes to the dead letters; default 5. */
  readonly maxAttempts?: number | undefined;
  /** Milliseconds before the second try, which double up to the next, for five minutes at the most; default 1000. */
  readonly retryMs?: number | undefined;
}
export interface Job {
  /** Which try it is, from 1 on. */
  readonly attempt: number;
  /** Aborted where the job was lost meanwhile: the server may have given it to another worker. */
  readonly signal: AbortSignal;
}
export interface Worker {
  /** Jobs that are being worked at. */
  readonly running: number;
  /** Takes no more jobs; when those that it has are settled. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
/** A job that was tried in vain. */
export interface DeadLetter<T = unknown> {
  readonly value: T;
  readonly attempts: number;
  /** What the last try said. */
  readonly why: string;
  drop(): Promise<void>;
  retry(): Promise<void>;
}

const ACK: NumberRule = { fallback: limits.QUEUE_ACK_MS, min: 1000, max: limits.TIMEOUT_MS_MAX };
const ID = /^[\x21-\x7e]{1,128}$/;

export function resolveQueue(options: QueueOptions): { readonly ackMs: number; readonly form: Form } {
  checkNames(options, ['ackMs', 'codec']);
  return {
    ackMs: checked('ackMs', options.ackMs, ACK) as number,
    form: checked('codec', options.codec, { fallback: 'packed', names: FORMS }) as Form,
  };
}

/** A queue of jobs, by its name. */
export class EngineQueue<T = unknown> {
  readonly name: string;
  readonly #driver: Driver;
  readonly #store: QueueStore;
  readonly #ackMs: number;
  readonly #writer: RecordWriter;
  readonly #reader = new RecordReader();
  readonly #left: () => void;
  readonly #workers = new Set<Working<T>>();
  #closed = false;

  /** @internal */
  constructor(
    name: string,
    driver: Driver,
    store: QueueStore,
    { ackMs, form }: ReturnType<typeof resolveQueue>,
    left: () => void,
  ) {
    this.#left = left;
    this.name = name;
    this.#driver = driver;
    this.#store = store;
    this.#ackMs = ackMs;
    this.#writer = new RecordWriter(randomId(), form, driver.maxBytes);
  }

  /**
   * Puts a job; resolves once the server has it.
   * @param value of 256 KiB at the most, encoded
   * @throws (rejects) DataCloneError; UsageError ERR_OPTION, ERR_TOO_LARGE; ClosedError where the server was lost: whether it has the job, nobody knows, and `id` is for those who put it again
   */
  async put(value: T, options: PutOptions = {}): Promise<void> {
    checkNames(options, ['delayMs', 'id']);
    const delayMs = checked('delayMs', options.delayMs, { fallback: 0, min: 0, max: limits.TIMEOUT_MS_MAX }) as number;
    const { id } = options;
    if (id !== undefined && (typeof id !== 'string' || !ID.test(id))) {
      const text = `Option id cannot be ${JSON.stringify(id) ?? String(id)}: it takes a text of 1 to 128 printable characters of ASCII`;
      throw new UsageError('ERR_OPTION', text, { option: 'id', value: id });
    }
    this.#checkOpen('put a job');
    const [bytes] = this.#writer.write(value, 0, 1) as [Uint8Array];
    await this.#said(() => this.#store.put(bytes, delayMs, id));
  }
  /** Some clients keep what is said while there is no server for as long as there is none. */
  async #said<R>(say: () => Promise<R>): Promise<R> {
    try {
      return await inTime(
        this.#driver.ready().then(say),
        limits.ENGINE_REQUEST_MS,
        `nothing came in ${limits.ENGINE_REQUEST_MS} ms`,
      );
    } catch (cause) {
      const text = `The server at ${this.#driver.where} has not answered for queue ${this.name}: ${(cause as Error).message}`;
      throw new ClosedError(text, 'lost', cause);
    }
  }
  #checkOpen(what: string): void {
    if (this.#closed) throw new ClosedError(`Cannot ${what}: this queue was closed`, 'closed');
  }

  /**
   * Works at jobs, beside all others that do: each goes to one of them. A job is done when what `does` returns has come true; what it throws is a try in vain.
   * @throws UsageError ERR_OPTION; ClosedError
   */
  work(does: (value: T, job: Job) => unknown, options: WorkOptions = {}): Worker {
    checkNames(options, ['concurrency', 'maxAttempts', 'retryMs']);
    if (typeof does !== 'function')
      throw new UsageError('ERR_OPTION', `Cannot work with ${String(does)}: it takes a function`, { option: 'does' });
    const of = (name: keyof WorkOptions, rule: NumberRule): number => checked(name, options[name], rule) as number;
    const how = {
      concurrency: of('concurrency', { fallback: 1, min: 1, max: limits.QUEUE_CONCURRENCY_MAX }),
      maxAttempts: of('maxAttempts', { fallback: limits.QUEUE_ATTEMPTS, min: 1, max: 1_000_000 }),
      retryMs: of('retryMs', { fallback: limits.QUEUE_RETRY_MS, min: 0, max: limits.QUEUE_RETRY_MS_MAX }),
      ackMs: this.#ackMs,
    };
    this.#checkOpen('work');
    const working = new Working<T>(this.#store, this.#driver, (bytes) => this.#read(bytes), does, how);
    this.#workers.add(working);
    return working;
  }
  #read(bytes: Uint8Array): T {
    const record = this.#reader.read(bytes);
    if (record === undefined) throw new TypeError('It is no job of this library, or of another version');
    return this.#reader.value(record, [record.bytes]) as T;
  }

  /** @throws (rejects) ClosedError where the server is lost */
  async stats(): Promise<QueueStats> {
    this.#checkOpen('ask');
    return await this.#said(() => this.#store.stats());
  }
  /**
   * Some of the jobs that were tried in vain, the oldest first. Each is this side's for `ackMs`: `drop` or `retry` it.
   * @throws (rejects) ClosedError where the server is lost
   */
  async deadLetters(count: number = 100): Promise<DeadLetter<T>[]> {
    this.#checkOpen('ask');
    const taken = await this.#said(() => this.#store.takeDead(count));
    return taken.map((dead) => ({
      value: this.#valueOf(dead.bytes),
      attempts: dead.attempts,
      why: dead.why,
      drop: () => this.#said(() => dead.drop()),
      retry: () => this.#said(() => dead.retry()),
    }));
  }
  #valueOf(bytes: Uint8Array): T {
    try {
      return this.#read(bytes);
    } catch {
      // What cannot be read may be why it is here.
      return bytes as T;
    }
  }

  /** Ends its workers, once the jobs that they have are settled. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#left();
    await Promise.all([...this.#workers].map((worker) => worker.close()));
    await this.#store.close();
  }
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Rejects with `late` where it takes longer. */
async function inTime<R>(promise: Promise<R>, ms: number, late: string): Promise<R> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(late)), ms);
  });
  try {
    return await Promise.race([promise, over]);
  } finally {
    clearTimeout(timer);
  }
}

interface How {
  readonly concurrency: number;
  readonly maxAttempts: number;
  readonly retryMs: number;
  readonly ackMs: number;
}

class Working<T> implements Worker {
  readonly #store: QueueStore;
  readonly #driver: Driver;
  readonly #read: (bytes: Uint8Array) => T;
  readonly #does: (value: T, job: Job) => unknown;
  readonly #how: How;
  readonly #doing = new Set<Promise<void>>();
  readonly #taking: Promise<void>;
  #closed = false;
  #over = false;

  constructor(
    store: QueueStore,
    driver: Driver,
    read: (bytes: Uint8Array) => T,
    does: (value: T, job: Job) => unknown,
    how: How,
  ) {
    this.#store = store;
    this.#driver = driver;
    this.#read = read;
    this.#does = does;
    this.#how = how;
    this.#taking = this.#take();
  }
  get running(): number {
    return this.#doing.size;
  }
  async close(): Promise<void> {
    this.#closed = true;
    // What is asked of a server that is lost may never be answered.
    await inTime(this.#taking, limits.QUEUE_CLOSE_MS, '').catch(() => {});
    this.#over = true;
    await Promise.all(this.#doing);
  }
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #take(): Promise<void> {
    while (!this.#closed) {
      const free = this.#how.concurrency - this.#doing.size;
      if (free === 0) {
        await Promise.race(this.#doing);
        continue;
      }
      try {
        await this.#driver.ready();
        await this.#store.take(free, limits.QUEUE_WAIT_MS, (job) => {
          // Nobody waits for it any more: another worker has it in its time.
          if (this.#over) return;
          const doing = this.#do(job);
          this.#doing.add(doing);
          void doing.finally(() => this.#doing.delete(doing));
        });
      } catch {
        if (!(await this.#serverAgain())) return;
      }
    }
  }
  /** Whether there is a server to ask again, later. */
  async #serverAgain(): Promise<boolean> {
    await new Promise((resolve) => setTimeout(resolve, limits.QUEUE_AGAIN_MS));
    return await this.#driver.ready().then(
      () => true,
      () => false,
    );
  }

  async #do(job: Taken): Promise<void> {
    const { maxAttempts, retryMs, ackMs } = this.#how;
    const { attempt } = job;
    const lost = new AbortController();
    let failed: unknown;
    // One whose workers die each time is tried no more often than one that throws.
    if (attempt > maxAttempts) failed = new Error('its workers have ended without a word');
    else {
      const signs = setInterval(() => void job.extend().catch((error) => lost.abort(error)), ackMs / 3);
      try {
        await this.#does(this.#read(job.bytes), { attempt, signal: lost.signal });
        failed = undefined;
        await inTime(job.done(), ackMs, '').catch(() => {});
        return;
      } catch (error) {
        failed = error ?? new Error(String(error));
      } finally {
        clearInterval(signs);
      }
    }
    const why = failed instanceof Error ? `${failed.name}: ${failed.message}` : String(failed);
    const settled =
      attempt >= maxAttempts
        ? job.bury(Math.min(attempt, maxAttempts), why.slice(0, limits.QUEUE_WHY_MAX))
        : job.again(Math.min(retryMs * 2 ** (attempt - 1), limits.QUEUE_RETRY_MS_MAX));
    // Where the server does not hear of it, the job is given out again when its time is up.
    await inTime(settled, ackMs, '').catch(() => {});
  }
}
