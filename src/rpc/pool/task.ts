// One call of a pool: it waits, is sent to a member, perhaps comes back and is sent to another one, and settles once.
import { notWhenAborted, whenAborted } from '../aborts.ts';
import { lateError } from '../calls.ts';
import type { CallOptions } from '../options.ts';
import type { Pending, Settler } from '../pending.ts';
import { Call, type Path, rejected } from '../proxy.ts';
import { isMore } from '../values.ts';
import type { Member } from './member.ts';
import type { Queued } from './queue.ts';

/** Who has the tasks. */
export interface TaskOwner {
  /** Tells it when it is late. */
  late(task: Task, timeoutMs: number): void;
  /** It has settled; where it has a deadline, nobody is to be told any more. */
  settled(task: Task, failed: boolean): void;
}

export class Task implements Settler, Queued {
  readonly path: Path;
  readonly values: unknown[];
  readonly options: CallOptions | undefined;
  /** Nothing of it moves, or is called back: it can be sent a second time. */
  readonly plain: boolean;
  settled = false;
  /** It stands in the pool's line. */
  waits = false;
  /** When it is late, by `performance.now`. */
  deadline: number = Number.POSITIVE_INFINITY;
  /** Who has it, and as which call; neither: it waits. */
  member: Member | undefined;
  pending: Pending | undefined;
  readonly #owner: TaskOwner;
  readonly #call: Call;
  readonly #resolve: (value: unknown) => void;
  readonly #reject: (error: unknown) => void;
  #onAbort: (() => void) | undefined;

  constructor(
    owner: TaskOwner,
    call: Call,
    resolve: (value: unknown) => void,
    reject: (error: unknown) => void,
    path: Path,
    values: unknown[],
    options: CallOptions | undefined,
  ) {
    this.#owner = owner;
    this.#call = call;
    this.#resolve = resolve;
    this.#reject = reject;
    this.path = path;
    this.values = values;
    this.options = options;
    this.plain = values.every(isPlain);
  }

  get name(): string {
    return this.path.length > 0 ? this.path.join('.') : 'a function';
  }

  /** From now on it may be aborted, or late. False: it is aborted already, and has rejected. */
  limit(): boolean {
    const { signal, timeoutMs } = this.options ?? {};
    if (signal?.aborted === true) {
      this.reject(signal.reason);
      return false;
    }
    if (timeoutMs !== undefined && timeoutMs < Number.POSITIVE_INFINITY) this.#owner.late(this, timeoutMs);
    if (signal !== undefined) {
      this.#onAbort = () => this.giveUp(signal.reason);
      whenAborted(signal, this.#onAbort);
    }
    return true;
  }
  isLate(): void {
    this.giveUp(lateError(this.name, this.options?.timeoutMs ?? 0));
  }
  /** Nobody waits for it any more. */
  giveUp(error: unknown): void {
    if (this.settled) return;
    if (this.member === undefined) this.reject(error);
    else this.member.giveUp(this, error);
  }

  /** A member has it. What is built upon one that is sent ahead does not go along: it would stay there when that comes back. */
  sent(member: Member, pending: Pending | undefined): void {
    if (pending === undefined) return;
    this.member = member;
    this.pending = pending;
    Call.begin(this.#call, member.connection, member.places < 0 ? undefined : pending);
  }
  /** It waits once more. */
  cameBack(): void {
    this.member = undefined;
    this.pending = undefined;
    Call.again(this.#call);
  }

  resolve(value: unknown): void {
    this.#settle(false);
    this.#resolve(value);
  }
  reject(error: unknown, failure?: unknown): void {
    const { member } = this;
    this.#settle(true);
    if (failure !== undefined) {
      this.#resolve(rejected(failure));
      return;
    }
    // Of a call that nobody waits for the end of its thread is no news.
    if (member !== undefined && error === member.connection.ended) this.#call.catch(() => {});
    this.#reject(error);
    // What is built upon it learns of it.
    if (member === undefined) Call.begin(this.#call, undefined, undefined);
  }
  /** The pool is over. */
  end(error: unknown): void {
    this.#call.catch(() => {});
    this.reject(error);
  }
  #settle(failed: boolean): void {
    this.settled = true;
    const signal = this.options?.signal;
    if (this.#onAbort !== undefined && signal !== undefined) notWhenAborted(signal, this.#onAbort);
    this.#owner.settled(this, failed);
  }
}

function isPlain(value: unknown): boolean {
  return typeof value !== 'function' && (typeof value !== 'object' || value === null || !isMore(value));
}
