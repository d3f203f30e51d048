// Work queues on a server that keeps them: each job is done at least once. Who takes a job says when it is done; where that is not said, by a worker that died or
// is cut off, another one has it, later.
import { ClosedError, MillraceError, UsageError } from '../errors.ts';
import * as limits from '../limits.ts';
import { checkFunction } from '../net/options.ts';
import { checked, checkNames, type NumberRule } from '../port/options.ts';
import type { Driver } from './driver.ts';
import { inTime, lateAt, settledInTime } from './in-time.ts';
import { randomId } from './names.ts';
import { plainCause, refusedBy } from './package-of.ts';
import { FORMS, type Form, RecordReader, RecordWriter } from './record.ts';
import { type DrainOptions, drainOf } from './requests.ts';
import { Working } from './working.ts';

/** How a queue is kept, on a server of one kind. */
export interface QueueStore {
  /**
   * Makes what is not there, as on a server that was started anew without what it had kept.
   * @throws (rejects) what the server says
   */
  make(): Promise<void>;
  /** Whether that is what the server says by this; whether it is the server at all that says it. */
  isGone(error: unknown): boolean;
  isSaid(error: unknown): boolean;
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
  /** The same, at once, and as if it had not been tried this time. */
  back(): Promise<void>;
  /** To the dead letters. */
  bury(attempts: number, why: string): Promise<void>;
  /** It is still being worked at. False: another worker has it by now. */
  extend(): Promise<boolean>;
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
  /** Is told what the server says where it gives no jobs though it is there, each time that it is asked: a permission that is missing, a queue that is gone and cannot be made. */
  readonly onError?: ((error: Error) => void) | undefined;
}
export interface Job {
  /** Which try it is, from 1 on. */
  readonly attempt: number;
  /** Aborted where the job was lost meanwhile: the server has given it to another worker, or may have, for it has heard no sign for `ackMs`; and where the worker is closed, and its time is over. */
  readonly signal: AbortSignal;
}
export interface Worker {
  /** Jobs that are being worked at. */
  readonly running: number;
  /**
   * Takes no more jobs; when those that it has are settled, or `drainMs` are over: then their signals are aborted, and those jobs are given back at once.
   * @throws (rejects) UsageError ERR_OPTION
   */
  close(options?: DrainOptions): Promise<void>;
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

/**
 * All who use a queue say the same: who waits less long takes jobs that others work at.
 * @param remedy how it is changed, once all have ended
 * @throws UsageError ERR_OPTION
 */
export function checkAckMs(found: unknown, own: number, remedy: string): void {
  if (found === own) return;
  const text = `Option ackMs cannot be ${own}: whoever has made this queue says ${shown(found)}, and all who use it say the same (${remedy}, once all have ended, lets them say another)`;
  throw new UsageError('ERR_OPTION', text, { option: 'ackMs', value: own });
}
function shown(found: unknown): string {
  return typeof found === 'number' ? String(found) : 'something else';
}

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
  #closing: Promise<void> | undefined;

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
    this.#writer = new RecordWriter(randomId(), form, () => driver.maxBytes);
  }

  /**
   * Puts a job; resolves once the server has it.
   * @param value of 256 KiB at the most, encoded
   * @throws (rejects) DataCloneError; UsageError ERR_OPTION, ERR_TOO_LARGE; RefusedError for what the server says; ClosedError where the server was lost: whether it has the job, nobody knows, and `id` is for those who put it again
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
    await this.#said('put a job into', () => this.#store.put(bytes, delayMs, id));
  }
  /** Some clients keep what is said while there is no server for as long as there is none. */
  async #said<R>(what: string, say: () => Promise<R>): Promise<R> {
    const [driver, store, ms] = [this.#driver, this.#store, limits.ENGINE_REQUEST_MS];
    let given = false;
    const again = async (error: unknown): Promise<R> => {
      if (!store.isGone(error)) throw error;
      await store.make();
      if (given) throw error;
      return await say();
    };
    const action = `Cannot ${what} queue ${this.name}`;
    let isSaid = false;
    const says = async (): Promise<R> => {
      await driver.ready();
      // Nobody waits for it any more: it is not to be done.
      if (given) throw new Error('it was given up');
      isSaid = true;
      return await say();
    };
    try {
      return await inTime(says().catch(again), ms, () => {
        given = true;
        return lateAt(driver, action, ms, `the server at ${driver.where} has not answered`);
      });
    } catch (thrown) {
      const cause = thrown instanceof MillraceError ? thrown : plainCause(thrown);
      if (driver.closed) throw new ClosedError(`${action}: the engine is closed`, 'closed', cause);
      if (store.isSaid(thrown)) {
        throw refusedBy(`${action}: the server at ${driver.where} says`, cause);
      }
      throw new ClosedError(
        `${cause.message.startsWith(action) ? '' : `${action}: `}${cause.message}; ${isSaid ? 'nobody knows whether that was done' : 'it was not done'}`,
        'lost',
        cause,
      );
    }
  }
  #checkOpen(what: string): void {
    if (this.#closing !== undefined) throw new ClosedError(`Cannot ${what}: this queue was closed`, 'closed');
  }

  /**
   * Works at jobs, beside all others that do: each goes to one of them. A job is done when what `does` returns has come true; what it throws is a try in vain.
   * @throws UsageError ERR_OPTION; ClosedError
   */
  work(does: (value: T, job: Job) => unknown, options: WorkOptions = {}): Worker {
    checkNames(options, ['concurrency', 'maxAttempts', 'retryMs', 'onError']);
    const onError = checkFunction('onError', options.onError);
    if (typeof does !== 'function')
      throw new UsageError('ERR_OPTION', `Cannot work with ${String(does)}: it takes a function`, { option: 'does' });
    const of = (name: keyof WorkOptions, rule: NumberRule): number => checked(name, options[name], rule) as number;
    const how = {
      concurrency: of('concurrency', { fallback: 1, min: 1, max: limits.QUEUE_CONCURRENCY_MAX }),
      maxAttempts: of('maxAttempts', { fallback: limits.QUEUE_ATTEMPTS, min: 1, max: 1_000_000 }),
      retryMs: of('retryMs', { fallback: limits.QUEUE_RETRY_MS, min: 0, max: limits.QUEUE_RETRY_MS_MAX }),
      ackMs: this.#ackMs,
      onError,
    };
    this.#checkOpen('work');
    const read = (bytes: Uint8Array): T => this.#read(bytes);
    const left = (worker: Working<T>): void => void this.#workers.delete(worker);
    const working = new Working<T>(this.#store, this.#driver, read, does, how, left);
    this.#workers.add(working);
    return working;
  }
  #read(bytes: Uint8Array): T {
    const record = this.#reader.read(bytes);
    if (record === undefined) throw new TypeError('It is no job of this library, or of another version');
    return this.#reader.value(record, [record.bytes]) as T;
  }

  /** @throws (rejects) ClosedError where the server is lost; RefusedError for what else it says */
  async stats(): Promise<QueueStats> {
    this.#checkOpen('ask');
    return await this.#said('count', () => this.#store.stats());
  }
  /**
   * Some of the jobs that were tried in vain, the oldest first. Each is this side's for `ackMs`: `drop` or `retry` it.
   * @param count 1 to 10,000 at the most
   * @throws (rejects) UsageError ERR_OPTION; ClosedError where the server is lost; RefusedError for what else it says
   */
  async deadLetters(count: number = 100): Promise<DeadLetter<T>[]> {
    // Nothing given is nothing said; null is.
    checked('count', count ?? Number.NaN, { fallback: 100, min: 1, max: limits.QUEUE_DEAD_MAX });
    this.#checkOpen('ask');
    const taken = await this.#said('read', () => this.#store.takeDead(count));
    return taken.map((dead) => {
      // It is settled once, whoever says so again.
      let settled: Promise<void> | undefined;
      const settle = (how: () => Promise<void>): Promise<void> => {
        settled ??= this.#said('settle a dead letter of', how).catch((error) => {
          settled = undefined;
          throw error;
        });
        return settled;
      };
      return {
        value: this.#valueOf(dead.bytes),
        attempts: dead.attempts,
        why: dead.why,
        drop: () => settle(() => dead.drop()),
        retry: () => settle(() => dead.retry()),
      };
    });
  }
  #valueOf(bytes: Uint8Array): T {
    try {
      return this.#read(bytes);
    } catch {
      // What cannot be read may be why it is here.
      return bytes as T;
    }
  }

  /**
   * Ends its workers, once the jobs that they have are settled, or `drainMs` are over.
   * @throws (rejects) UsageError ERR_OPTION
   */
  async close(options: DrainOptions = {}): Promise<void> {
    const drainMs = drainOf(options);
    this.#closing ??= this.#close(drainMs);
    await this.#closing;
  }
  async #close(drainMs: number): Promise<void> {
    await Promise.all([...this.#workers].map((worker) => worker.close({ drainMs })));
    await settledInTime(this.#store.close(), limits.ENGINE_LAST_MS);
    this.#left();
  }
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
