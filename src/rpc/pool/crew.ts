// The members of a pool and the tasks that wait for them: who gets which, who is started, and who is not needed any more.
import { platform } from '#platform';
import { ClosedError, UsageError } from '../../errors.ts';
import { POOL_LOOK_MS, POOL_RESTART_MS_MAX, POOL_SILENT_LOOKS, TIMER_MS_MAX } from '../../limits.ts';
import { KeepAlive } from '../../platform/keep-alive.ts';
import { type Settleable, settleable } from '../../port/waiters.ts';
import { Deadlines } from '../deadlines.ts';
import { type Made, type MemberStart, makeMember } from '../making.ts';
import type { CallOptions } from '../options.ts';
import { Call, type Path } from '../proxy.ts';
import { Member, type MemberOwner, type MemberStats } from './member.ts';
import type { ResolvedPool } from './options.ts';
import { TaskQueue } from './queue.ts';
import { Task, type TaskOwner } from './task.ts';

/** What a pool has done, and does. */
export interface PoolStats {
  /** Tasks that a member has. */
  readonly pending: number;
  /** Tasks that wait for one. */
  readonly queued: number;
  readonly completed: number;
  /** Tasks that have rejected: of what they threw, aborted, late, or over with their member. */
  readonly failed: number;
  /** Members that were started for others that had ended by themselves, or were terminated. */
  readonly restarts: number;
  readonly members: readonly MemberStats[];
}

export class Crew implements TaskOwner, MemberOwner {
  readonly options: ResolvedPool;
  readonly closed: Settleable<string> = settleable();
  /** Why nothing can be called any more. */
  over: ClosedError | undefined;
  readonly #start: MemberStart;
  readonly #members: Member[] = [];
  readonly #queue: TaskQueue<Task> = new TaskQueue();
  readonly #deadlines: Deadlines<Task> = new Deadlines((task) => task.isLate());
  readonly #keepAlive: KeepAlive = new KeepAlive();
  #completed = 0;
  #failed = 0;
  #restarts = 0;
  /** Members that have to be replaced. */
  #missing = 0;
  /** Members in a row that have ended before they had done anything; and that have ended, since a task was done. */
  #failures = 0;
  #crashes = 0;
  /** It is too early for another one. */
  #waits = false;
  #looks: ReturnType<typeof setInterval> | undefined;
  #lookedAt = 0;
  #watchesIdle = false;
  #room: Settleable<void> | undefined;
  #quiet: Settleable<void> | undefined;

  constructor(start: MemberStart, options: ResolvedPool) {
    this.#start = start;
    this.options = options;
    this.#grow();
  }

  // ---- tasks --------------------------------------------------------------------------------------------------

  call(path: Path, values: unknown[], options: CallOptions | undefined): Call {
    return Call.waiting((call, resolve, reject) => {
      const task = new Task(this, call, resolve, reject, path, values, options);
      this.#submit(task);
    });
  }
  #submit(task: Task): void {
    if (this.over !== undefined) {
      task.end(this.over);
      return;
    }
    if (!task.limit()) return;
    const member = this.#queue.length === 0 ? this.#memberFor(task) : undefined;
    if (member !== undefined) {
      member.send(task);
      if (member.places < 0) this.#look();
      return;
    }
    if (this.full) {
      const { queue: limit } = this.options;
      task.reject(
        new UsageError(
          'ERR_QUEUE_FULL',
          `Cannot call ${task.name}: ${limit} tasks wait in the pool already; await drained() first, or raise queue`,
          { limit },
        ),
      );
      return;
    }
    task.waits = true;
    this.#queue.push(task);
    this.#grow();
    this.#rehold();
    this.#look();
  }

  late(task: Task, timeoutMs: number): void {
    task.deadline = performance.now() + timeoutMs;
    this.#deadlines.add(task, task.deadline);
  }
  settled(task: Task, failed: boolean): void {
    if (task.deadline < Number.POSITIVE_INFINITY) this.#deadlines.delete(task);
    if (failed) this.#failed++;
    else this.#completed++;
    const { member } = task;
    if (member !== undefined) {
      member.done(task, failed);
      if (!failed) {
        this.#failures = 0;
        this.#crashes = 0;
      }
      this.freed(member);
    } else if (task.waits) {
      task.waits = false;
      this.#queue.left();
      if (this.over === undefined) this.#dispatch();
    }
  }

  gaveBack(tasks: readonly Task[]): void {
    if (this.over !== undefined) {
      for (const task of tasks) task.end(this.over);
      return;
    }
    for (const task of tasks) task.waits = true;
    this.#queue.giveBack(tasks);
  }
  freed(_member: Member): void {
    if (this.#queue.length > 0) {
      this.#dispatch();
      return;
    }
    this.#roomier();
    this.#quieter();
  }
  #dispatch(): void {
    let ahead = false;
    for (let task = this.#queue.first; task !== undefined; task = this.#queue.first) {
      const member = this.#memberFor(task);
      if (member === undefined) break;
      this.#queue.shift();
      task.waits = false;
      member.send(task);
      ahead ||= member.places < 0;
    }
    this.#grow();
    this.#rehold();
    if (ahead || this.#queue.length > 0) this.#look();
    this.#roomier();
    this.#quieter();
  }
  /** The one with the least to do that may begin it; where none may, one that has done as much in no time as it is sent now. */
  #memberFor(task: Task): Member | undefined {
    let best: Member | undefined;
    for (const member of this.#members) {
      if (member.places > 0 && (best === undefined || member.load < best.load)) best = member;
    }
    if (best !== undefined || !task.plain) return best;
    for (const member of this.#members) {
      if (member.room > 0 && (best === undefined || member.pending < best.pending)) best = member;
    }
    return best;
  }

  /** Looks at how quick the members are, as long as tasks wait, or were sent ahead. */
  #look(): void {
    if (this.#looks !== undefined) return;
    this.#lookedAt = performance.now();
    for (const member of this.#members) member.look(0, false);
    this.#looks = setInterval(() => {
      const now = performance.now();
      const elapsed = now - this.#lookedAt;
      this.#lookedAt = now;
      for (const member of [...this.#members]) member.look(elapsed, this.#queue.length > 0);
      this.#dispatch();
      const goesOn = this.#members.some(
        ({ silent, pending, places }) =>
          silent <= POOL_SILENT_LOOKS && pending > 0 && (places < 0 || this.#queue.length > 0),
      );
      if (!goesOn) this.#stopLooking();
    }, POOL_LOOK_MS);
  }
  #stopLooking(): void {
    clearInterval(this.#looks);
    this.#looks = undefined;
  }

  get full(): boolean {
    if (this.over !== undefined) return false;
    const { queue, concurrency, size } = this.options;
    // Those that a member will take as soon as it is there do not wait for others.
    if (this.#queue.length < queue + concurrency * (size - this.#count('ready'))) return false;
    return this.#members.every(({ places }) => places <= 0);
  }
  drained(): Promise<void> {
    if (this.over !== undefined) return refused(this.over);
    if (!this.full) return Promise.resolve();
    this.#room ??= ignorable();
    return this.#room.promise;
  }
  #roomier(): void {
    if (this.#room === undefined || this.full) return;
    this.#room.resolve();
    this.#room = undefined;
  }
  drain(): Promise<void> {
    if (this.#isQuiet) return Promise.resolve();
    this.#quiet ??= ignorable();
    this.#rehold();
    return this.#quiet.promise;
  }
  get #isQuiet(): boolean {
    return this.#queue.length === 0 && this.#members.every(({ load }) => load === 0);
  }
  #quieter(): void {
    if (this.#quiet === undefined || !this.#isQuiet) return;
    this.#quiet.resolve();
    this.#quiet = undefined;
    this.#rehold();
  }
  /**
   * Members hold the process while they have tasks; those that wait for one hold it here, and so does who waits for the end of all, for an aborted task holds it
   * no more. Behind the pool's own end its threads do, until they have ended.
   */
  #rehold(): void {
    this.#keepAlive.want(this.over === undefined && (this.#queue.length > 0 || this.#quiet !== undefined));
  }

  // ---- members ------------------------------------------------------------------------------------------------

  get size(): number {
    return this.#members.length - this.#count('ending');
  }
  #count(which: Member['state']): number {
    let count = 0;
    for (const { state } of this.#members) if (state === which) count++;
    return count;
  }
  stats(): PoolStats {
    const members = this.#members.map((member) => member.stats());
    return {
      pending: members.reduce((all, { pending }) => all + pending, 0),
      queued: this.#queue.length,
      completed: this.#completed,
      failed: this.#failed,
      restarts: this.#restarts,
      members,
    };
  }

  /** Starts as many as are needed, and may be. */
  #grow(): void {
    const { size, min, concurrency } = this.options;
    let living = this.size;
    let starting = this.#count('starting');
    while (
      this.over === undefined &&
      !this.#waits &&
      living < size &&
      (living < min || starting * concurrency < this.#queue.length)
    ) {
      this.#begin();
      living++;
      starting++;
    }
  }
  #begin(): void {
    if (this.#missing > 0) {
      this.#missing--;
      this.#restarts++;
    }
    let made: Made | undefined;
    try {
      made = makeMember(this.#start);
      const member = new Member(this, made);
      this.#members.push(member);
      // It may have ended before anybody listened.
      if (member.connection.ended !== undefined) member.ending(member.connection.ended);
    } catch (error) {
      made?.end('once').catch(() => {});
      const message = error instanceof Error ? error.message : String(error);
      this.#crashed(new ClosedError(`Cannot start a member: ${message}`, 'crash', error), false);
    }
    this.#watchIdle();
  }

  terminated(member: Member): void {
    this.#missing++;
    this.freed(member);
  }
  ended(member: Member, error: Error): void {
    const at = this.#members.indexOf(member);
    if (at >= 0) this.#members.splice(at, 1);
    if (this.over !== undefined) {
      this.#quieter();
      return;
    }
    if (!member.stopped) {
      // What had begun, or could not be taken back, is over with it: that it has done.
      const worked = member.pending > 0 || member.completed + member.failed > 0;
      this.#crashed(error instanceof ClosedError ? error : new ClosedError(error.message, 'terminated', error), worked);
    }
    this.#dispatch();
  }
  #crashed(error: ClosedError, worked: boolean): void {
    const { tries, delayMs, onCrash } = this.options;
    this.#missing++;
    this.#crashes++;
    if (worked) this.#failures = 0;
    else this.#failures++;
    if (!worked && (this.#failures >= tries || error.cause instanceof UsageError)) {
      const count = this.#failures;
      const ended = count === 1 ? 'a member has ended' : `${count} members in a row have ended`;
      const message = `Cannot call: ${ended} before anything was done${count === 1 ? '' : ', the last one so'}: ${error.message}`;
      this.end(new ClosedError(message, error.reason, error.cause));
    } else if (!worked || this.#crashes > 1) {
      this.#waits = true;
      const ms = Math.min(POOL_RESTART_MS_MAX, delayMs * 2 ** (this.#crashes - 1));
      platform.later(() => {
        this.#waits = false;
        this.#grow();
      }, ms);
    }
    try {
      onCrash?.(error);
    } catch (thrown) {
      platform.reportError(thrown);
    }
  }

  /** Ends, after `idleMs` without a task, members that are more than there have to be. */
  #watchIdle(): void {
    const { idleMs, min } = this.options;
    if (this.#watchesIdle || idleMs > TIMER_MS_MAX || this.size <= min) return;
    this.#watchesIdle = true;
    platform.later(() => {
      this.#watchesIdle = false;
      if (this.over !== undefined) return;
      for (const member of [...this.#members]) {
        if (member.isIdle() && this.size > min) void member.close();
      }
      this.#watchIdle();
    }, idleMs);
  }

  // ---- the end ------------------------------------------------------------------------------------------------

  async end(over: ClosedError): Promise<void> {
    if (this.over !== undefined) return;
    this.over = over;
    this.#stopLooking();
    this.#keepAlive.close();
    for (const task of this.#queue.takeAll()) {
      task.waits = false;
      task.end(over);
    }
    const ends = [...this.#members].map((member) => member.close());
    this.#room?.reject(over);
    this.#room = undefined;
    this.#quieter();
    await Promise.all(ends);
    this.closed.resolve(over.reason);
  }
}

function ignorable(): Settleable<void> {
  const made = settleable<void>();
  made.promise.catch(() => {});
  return made;
}
function refused(error: ClosedError): Promise<void> {
  const { promise, reject } = ignorable();
  reject(error);
  return promise;
}
