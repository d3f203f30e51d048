// One thread or process of a pool, its connection, and what it has been given.
import { platform } from '#platform';
import { type ClosedError, TimeoutError, type UnsupportedError, UsageError } from '../../errors.ts';
import { POOL_AHEAD_MAX, POOL_SILENT_LOOKS, TIMER_MS_MAX } from '../../limits.ts';
import { type Connection, type ConnectionPool, connectionOf } from '../connection.ts';
import type { Made } from '../making.ts';
import * as kinds from '../messages.ts';
import type { Pending } from '../pending.ts';
import { Claims } from './claims.ts';
import type { ResolvedPool } from './options.ts';
import { Task } from './task.ts';

/** Who has the members. */
export interface MemberOwner {
  readonly options: ResolvedPool;
  /** It may have room for more. */
  freed(member: Member): void;
  /** It has begun none of these, oldest first; they wait again, and are sent to others behind this. */
  gaveBack(tasks: readonly Task[]): void;
  /** It is to end, and takes nothing more. */
  terminated(member: Member): void;
  /** It is over. Tasks that had begun reject behind this. */
  ended(member: Member, error: Error): void;
}

/** What a member has done, and does. */
export interface MemberStats {
  /** `starting`: its port is not open yet; `ending`: it takes nothing more. */
  readonly state: 'starting' | 'ready' | 'ending';
  /** Tasks that it was sent and has not answered. */
  readonly pending: number;
  readonly completed: number;
  readonly failed: number;
}

export class Member implements ConnectionPool {
  readonly connection: Connection;
  state: 'starting' | 'ready' | 'ending' = 'starting';
  /** Tasks that it was sent and has not answered. */
  pending = 0;
  completed = 0;
  failed = 0;
  /** How many tasks it is sent before it has a place for them: as many as it does between two looks. */
  ahead = 0;
  /** The pool has ended it. */
  stopped = false;
  /** Looks in a row since which it has done nothing. */
  silent = 0;
  /** What it had done at the last look for its speed, and for whether it is needed. */
  #looked = 0;
  #idled = -1;
  readonly #owner: MemberOwner;
  readonly #made: Made;
  /** None: the two have no memory in common. */
  #claims: Claims | undefined = typeof SharedArrayBuffer === 'undefined' ? undefined : new Claims();
  /** Tasks that were aborted, and may run on. */
  readonly #aborted: Set<number> = new Set();
  #late: TimeoutError | undefined;

  constructor(owner: MemberOwner, made: Made) {
    this.#owner = owner;
    this.#made = made;
    const { port } = made;
    // The pool's calls hold the process, as long as there are any.
    made.unref();
    this.connection = connectionOf(port, { maxPending: 2 ** 24 });
    if (this.connection.pool !== undefined) {
      throw new UsageError(
        'ERR_BUSY',
        'Cannot start a member at this port: another one has it; the function must open a port of its own each time',
      );
    }
    this.connection.pool = this;
    this.connection.out.send({
      message: [kinds.POOLED, owner.options.concurrency, this.#claims?.memory],
      transfer: undefined,
      refused: () => this.#withoutClaims(),
    });
    this.connection.whenMet(() => this.#open());
    const { startTimeoutMs } = owner.options;
    if (startTimeoutMs <= TIMER_MS_MAX) platform.later(() => this.#notOpen(startTimeoutMs), startTimeoutMs);
  }

  #open(): void {
    if (this.state !== 'starting') return;
    this.state = 'ready';
    this.#owner.freed(this);
  }
  #notOpen(startTimeoutMs: number): void {
    if (this.state !== 'starting') return;
    const late = `Cannot start: the member lives, and exposes nothing for ${startTimeoutMs} ms`;
    this.#late = new TimeoutError(late, { timeoutMs: startTimeoutMs });
    this.terminate();
  }

  // ---- tasks --------------------------------------------------------------------------------------------------

  /** Tasks that may begin at once; negative: so many were sent that wait over there. */
  get places(): number {
    return this.state === 'ready' ? this.#owner.options.concurrency - this.pending - this.#aborted.size : 0;
  }
  /** Tasks that may be sent, and wait over there. */
  get room(): number {
    const takes = this.state === 'ready' && this.#aborted.size === 0 && this.#claims !== undefined;
    return takes ? this.places + this.ahead : 0;
  }
  /** What it is at work on; streams that it reads or writes count. */
  get load(): number {
    return this.pending + this.#aborted.size + this.connection.streams.size;
  }

  send(task: Task): void {
    const { calls } = this.connection;
    const { path, options } = task;
    const values = task.plain ? task.values : [...task.values];
    this.pending++;
    const pending = calls.start(0, path, values, false, options?.callbacks && { callbacks: options.callbacks }, task);
    // It was refused, which the task was told.
    if (pending === undefined) this.pending--;
    else if (task.plain) this.#claims?.offer(pending.id);
    task.sent(this, pending);
  }
  /** One of its tasks has settled. */
  done({ pending }: Task, failed: boolean): void {
    this.pending--;
    if (failed) this.failed++;
    else this.completed++;
    if (failed && pending !== undefined) this.#claims?.over(pending.id);
  }
  /** Nobody waits for a task any more. Where it has begun it is aborted there, and has its grace. */
  giveUp(task: Task, error: unknown): void {
    const pending = task.pending as Pending;
    if (this.#takeBack(task)) {
      this.connection.calls.withdraw(pending);
      task.reject(error);
      return;
    }
    const { id } = pending;
    const { graceMs } = this.#owner.options;
    // One that has not been sent does not run.
    if (!pending.queued) this.#aborted.add(id);
    this.connection.calls.giveUp(pending, error);
    if (graceMs > TIMER_MS_MAX) return;
    platform.later(() => {
      if (this.#aborted.has(id)) this.terminate();
    }, graceMs);
  }
  over(id: number): void {
    if (this.#aborted.delete(id)) this.#owner.freed(this);
  }
  streamOver(): void {
    this.#owner.freed(this);
  }

  #takeBack({ plain, pending }: Task): boolean {
    if (!plain || pending === undefined || pending.followers !== undefined || pending.packed !== undefined)
      return false;
    const taken = this.#claims?.takeBack(pending.id) === true;
    if (taken && pending.queued) this.#claims?.unsent(pending.id);
    return taken;
  }
  /** All that has not begun goes back to the pool. */
  giveBack(): void {
    const { calls } = this.connection;
    const back: Task[] = [];
    for (const { settler } of [...calls.pending()]) {
      if (settler instanceof Task && this.#takeBack(settler)) back.push(settler);
    }
    for (const task of back) {
      calls.withdraw(task.pending as Pending);
      this.pending--;
      task.cameBack();
    }
    if (back.length > 0) this.#owner.gaveBack(back);
  }
  #withoutClaims(): boolean {
    this.#claims = undefined;
    const message: kinds.Message = [kinds.POOLED, this.#owner.options.concurrency];
    this.connection.out.postNow({ message, transfer: undefined });
    return false;
  }

  // ---- looks --------------------------------------------------------------------------------------------------

  /**
   * How quick it is, in tasks since the last look.
   * @param elapsedMs 0: this is the first one
   * @param more there is more to do than it has: what it has done is what it can
   */
  look(elapsedMs: number, more: boolean): void {
    const all = this.completed + this.failed;
    const done = all - this.#looked;
    this.#looked = all;
    if (elapsedMs === 0) return;
    this.silent = done > 0 || this.pending === 0 ? 0 : this.silent + 1;
    if (this.silent === 0 && this.pending === 0) return;
    const quick = Math.min(POOL_AHEAD_MAX, Math.floor(done / elapsedMs));
    this.ahead = more || this.silent > 0 ? quick : Math.max(this.ahead, quick);
    if (this.silent >= POOL_SILENT_LOOKS && this.places < 0) this.giveBack();
  }
  /** Whether nothing has happened since this was asked before. */
  isIdle(): boolean {
    const all = this.completed + this.failed;
    const idle = this.state === 'ready' && this.load === 0 && all === this.#idled;
    this.#idled = all;
    // Functions and references of its own that somebody here holds would end with it.
    return idle && this.connection.values.remotes.size === 0;
  }
  stats(): MemberStats {
    return { state: this.state, pending: this.pending, completed: this.completed, failed: this.failed };
  }

  // ---- the end ------------------------------------------------------------------------------------------------

  /** At once, whatever it does. Its end is told as that of a member that has died. */
  terminate(): void {
    if (this.state === 'ending') return;
    this.state = 'ending';
    this.stopped = this.#late === undefined;
    this.giveBack();
    if (this.stopped) this.#owner.terminated(this);
    this.#made.end('once').catch(() => {});
    // Nobody knows what is behind this port: at least no one waits for it.
    if (!this.#made.hasEnd) this.connection.port.close();
  }
  /** It is not needed any more. Resolves when its thread has ended. */
  async close(): Promise<void> {
    this.state = 'ending';
    this.stopped = true;
    this.connection.port.close();
    await this.#made.end('leisure').catch(() => {});
  }
  ending(error: ClosedError | UnsupportedError): void {
    this.state = 'ending';
    this.giveBack();
    this.#aborted.clear();
    if (!this.stopped) this.#endBehind();
    this.#owner.ended(this, this.#late ?? error);
  }
  /** Who is behind a port that has ended, and lives, is nobody's any more. As an aborted task it may come to its end by itself. */
  #endBehind(): void {
    const { graceMs } = this.#owner.options;
    if (graceMs <= TIMER_MS_MAX) platform.later(() => void this.#made.end('leisure').catch(() => {}), graceMs);
  }
}
