// A queue that a hub keeps, in memory: jobs that lie there or are lent, those whose time has not come, dead letters, ids of what was put, and who waits for jobs.
import { platformStart } from '#platform';
import { HUB_QUEUE_BYTES, HUB_REPLY_BYTES, HUB_THING_BYTES, QUEUE_ID_MS } from '../limits.ts';
import { Later } from './later.ts';
import { Shelf } from './shelf.ts';

export interface KeptJob {
  readonly number: number;
  readonly bytes: Uint8Array;
  /** How often it was given out. */
  attempt: number;
}
export interface KeptDead {
  readonly number: number;
  readonly bytes: Uint8Array;
  readonly attempts: number;
  readonly why: string;
}
interface Taker<B> {
  readonly by: B;
  readonly count: number;
  readonly given: (jobs: readonly KeptJob[]) => void;
  readonly timer: ReturnType<typeof setTimeout>;
}

/** The most that one of a text takes. */
const CHARACTER_BYTES = 2;

/** Which job, and which of the times that it was given out. */
export interface Hold {
  readonly number: number;
  readonly attempt: number;
}

/** Bytes that all queues of a hub keep together. */
export interface Budget {
  used: number;
  readonly max: number;
}

/** @template B who borrows */
export class KeptQueue<B> {
  readonly ackMs: number;
  readonly #budget: Budget;
  readonly #jobs: Shelf<KeptJob, B>;
  readonly #byNumber = new Map<number, KeptJob>();
  readonly #later = new Later<KeptJob>();
  readonly #dead: Shelf<KeptDead, B>;
  readonly #deadByNumber = new Map<number, KeptDead>();
  /** Until when each is known: the first one goes first. */
  readonly #ids = new Map<string, number>();
  readonly #takers = new Set<Taker<B>>();
  /** Of the next job: from somewhere, so that a number of another hub's is none of this one's. */
  #next = somewhere();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timerMs = Number.POSITIVE_INFINITY;

  constructor(ackMs: number, budget: Budget) {
    this.ackMs = ackMs;
    this.#budget = budget;
    this.#jobs = new Shelf(ackMs);
    this.#dead = new Shelf(ackMs);
    budget.used += HUB_QUEUE_BYTES;
  }
  /** Nobody would notice if it was made anew. */
  get idle(): boolean {
    this.#serve();
    return this.#byNumber.size + this.#deadByNumber.size + this.#ids.size + this.#takers.size === 0;
  }

  /** @returns whether there was room for it */
  put(bytes: Uint8Array, delayMs: number, id: string | undefined): boolean {
    const now = performance.now();
    this.#forgetIds(now);
    if (id !== undefined && this.#ids.has(id)) return true;
    const costs = costOf(bytes) + (id === undefined ? 0 : HUB_THING_BYTES);
    if (this.#budget.used + costs > this.#budget.max) return false;
    this.#budget.used += costs;
    if (id !== undefined) this.#ids.set(id, now + QUEUE_ID_MS);
    this.#enter({ number: this.#next++, bytes, attempt: 0 }, delayMs, now);
    this.#serve();
    return true;
  }
  #enter(job: KeptJob, delayMs: number, now: number): void {
    this.#byNumber.set(job.number, job);
    if (delayMs > 0) this.#later.add(job, now + delayMs);
    else this.#jobs.add(job);
  }
  #forgetIds(now: number): void {
    for (const [id, untilMs] of this.#ids) {
      if (untilMs > now) return;
      this.#ids.delete(id);
      this.#budget.used -= HUB_THING_BYTES;
    }
  }

  /** Gives some as soon as there are any, or none after `waitMs`. */
  take(by: B, count: number, waitMs: number, given: (jobs: readonly KeptJob[]) => void): void {
    const timer = setTimeout(() => {
      this.#takers.delete(taker);
      given([]);
    }, waitMs);
    const taker: Taker<B> = { by, count, given, timer };
    this.#takers.add(taker);
    this.#serve();
  }
  /** Brings what is due to where it belongs, and gives out what lies there to those who wait, the first one first. */
  #serve(): void {
    const now = performance.now();
    const [jobs, later] = [this.#jobs, this.#later];
    jobs.takeBack(now);
    this.#dead.takeBack(now);
    this.#forgetIds(now);
    for (let due = later.take(now); due !== undefined; due = later.take(now)) jobs.add(due);
    for (const taker of this.#takers) {
      if (jobs.lying === 0) break;
      const given = some(jobs, taker.by, taker.count, now);
      for (const job of given) job.attempt++;
      this.#takers.delete(taker);
      clearTimeout(taker.timer);
      taker.given(given);
    }
    const [firstIdMs = Number.POSITIVE_INFINITY] = this.#ids.values();
    this.#wake(Math.min(jobs.firstBackMs, later.nextMs, firstIdMs));
  }
  /** One timer for whatever is next: whoever asks meanwhile looks, too. */
  #wake(atMs: number): void {
    if (atMs >= this.#timerMs && this.#timer !== undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#timerMs = atMs;
    if (atMs === Number.POSITIVE_INFINITY) return;
    const waitMs = Math.max(1, Math.ceil(atMs - performance.now()));
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#serve();
    }, waitMs);
    // What holds a hub's process are its members.
    (this.#timer as { unref?(): void }).unref?.();
  }

  /** It is done, whoever has it by now. */
  done(number: number): void {
    const job = this.#byNumber.get(number);
    if (job === undefined) return;
    this.#forget(job);
  }
  #forget(job: KeptJob): void {
    if (!this.#jobs.remove(job)) this.#later.remove(job);
    this.#byNumber.delete(job.number);
    this.#budget.used -= costOf(job.bytes);
  }
  /** The job that was given to `by`, if it has it still since this very time. */
  #heldBy(by: B, { number, attempt }: Hold): KeptJob | undefined {
    const job = this.#byNumber.get(number);
    return job?.attempt === attempt && this.#jobs.isLentTo(job, by) ? job : undefined;
  }
  again(by: B, hold: Hold, delayMs: number): void {
    const job = this.#heldBy(by, hold);
    if (job === undefined) return;
    this.#jobs.remove(job);
    this.#enter(job, delayMs, performance.now());
    this.#serve();
  }
  /** As if it had not been given out this time. */
  back(by: B, hold: Hold): void {
    const job = this.#heldBy(by, hold);
    if (job === undefined) return;
    job.attempt--;
    this.#jobs.giveBack(job);
    this.#serve();
  }
  /** @returns whether it is still `by`'s */
  extend(by: B, hold: Hold): boolean {
    const job = this.#heldBy(by, hold);
    if (job !== undefined) this.#jobs.renew(job, by, performance.now());
    return job !== undefined;
  }
  bury(by: B, hold: Hold, attempts: number, why: string): void {
    const job = this.#heldBy(by, hold);
    if (job === undefined) return;
    this.#forget(job);
    // It was there before: it need not ask for room, but for what is said of it.
    const room = Math.max(0, this.#budget.max - this.#budget.used - costOf(job.bytes));
    const dead = { number: job.number, bytes: job.bytes, attempts, why: why.slice(0, room / CHARACTER_BYTES) };
    this.#budget.used += costOfDead(dead);
    this.#deadByNumber.set(dead.number, dead);
    this.#dead.add(dead);
  }

  get stats(): { waiting: number; running: number; dead: number } {
    this.#serve();
    return {
      waiting: this.#jobs.lying + this.#later.size,
      running: this.#jobs.lent,
      dead: this.#deadByNumber.size,
    };
  }
  takeDead(by: B, count: number): readonly KeptDead[] {
    const now = performance.now();
    this.#dead.takeBack(now);
    return some(this.#dead, by, count, now);
  }
  /** @param again whether it is to be worked at again, from its first try on */
  settleDead(number: number, again: boolean): void {
    const dead = this.#deadByNumber.get(number);
    if (dead === undefined) return;
    this.#deadByNumber.delete(number);
    this.#dead.remove(dead);
    this.#budget.used -= costOfDead(dead);
    if (!again) return;
    this.#budget.used += costOf(dead.bytes);
    this.#enter({ number: this.#next++, bytes: dead.bytes, attempt: 0 }, 0, performance.now());
    this.#serve();
  }

  /**
   * Whoever has gone waits for nothing, and what it had is for others, at once.
   * @param mayComeBack it is told that there was nothing
   */
  left(by: B, mayComeBack: boolean): void {
    for (const taker of this.#takers) {
      if (taker.by !== by) continue;
      this.#takers.delete(taker);
      clearTimeout(taker.timer);
      if (mayComeBack) taker.given([]);
    }
    this.#jobs.takeBackFrom(by);
    this.#dead.takeBackFrom(by);
    this.#serve();
  }
  /** Whatever it has is gone. */
  close(): void {
    this.#budget.used -= HUB_QUEUE_BYTES + HUB_THING_BYTES * this.#ids.size;
    for (const { bytes } of this.#byNumber.values()) this.#budget.used -= costOf(bytes);
    for (const dead of this.#deadByNumber.values()) this.#budget.used -= costOfDead(dead);
    clearTimeout(this.#timer);
    for (const { timer } of this.#takers) clearTimeout(timer);
    this.#takers.clear();
  }
}

/** As many as one message is to hold, and one at the least. */
function some<T extends { readonly bytes: Uint8Array }, B>(
  shelf: Shelf<T, B>,
  by: B,
  count: number,
  nowMs: number,
): T[] {
  const given: T[] = [];
  for (let bytes = 0; given.length < count && bytes < HUB_REPLY_BYTES; ) {
    const thing = shelf.lend(by, nowMs);
    if (thing === undefined) break;
    given.push(thing);
    bytes += thing.bytes.length;
  }
  return given;
}
function costOfDead({ bytes, why }: KeptDead): number {
  return costOf(bytes) + CHARACTER_BYTES * why.length;
}
/** 48 bits. */
function somewhere(): number {
  const [high = 0, low = 0] = platformStart.randomWords(2);
  return (high >>> 0) * 2 ** 16 + (low >>> 16);
}
function costOf({ length }: Uint8Array): number {
  return length + HUB_THING_BYTES;
}
