// A queue that a hub keeps, in memory: jobs that lie there or are lent, those whose time has not come, dead letters, ids of what was put, and who waits for jobs.
import { HUB_REPLY_BYTES, HUB_THING_BYTES, QUEUE_ID_MS } from '../limits.ts';
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
interface Later {
  readonly job: KeptJob;
  readonly dueMs: number;
}
interface Taker<B> {
  readonly by: B;
  readonly count: number;
  readonly given: (jobs: readonly KeptJob[]) => void;
  readonly timer: ReturnType<typeof setTimeout>;
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
  /** The next one is the last. */
  readonly #later: Later[] = [];
  readonly #dead: Shelf<KeptDead, B>;
  readonly #deadByNumber = new Map<number, KeptDead>();
  /** Until when each is known: the first one goes first. */
  readonly #ids = new Map<string, number>();
  readonly #takers = new Set<Taker<B>>();
  #next = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timerMs = Number.POSITIVE_INFINITY;

  constructor(ackMs: number, budget: Budget) {
    this.ackMs = ackMs;
    this.#budget = budget;
    this.#jobs = new Shelf(ackMs);
    this.#dead = new Shelf(ackMs);
    budget.used += HUB_THING_BYTES;
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
    if (delayMs > 0) this.#delay(job, now + delayMs);
    else this.#jobs.add(job);
  }
  #delay(job: KeptJob, dueMs: number): void {
    const later = this.#later;
    let [low, high] = [0, later.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((later[middle] as Later).dueMs > dueMs) low = middle + 1;
      else high = middle;
    }
    later.splice(low, 0, { job, dueMs });
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
    while ((later.at(-1)?.dueMs ?? Number.POSITIVE_INFINITY) <= now) jobs.add((later.pop() as Later).job);
    for (const taker of this.#takers) {
      if (jobs.lying === 0) break;
      const given = some(jobs, taker.by, taker.count, now);
      for (const job of given) job.attempt++;
      this.#takers.delete(taker);
      clearTimeout(taker.timer);
      taker.given(given);
    }
    this.#wake(Math.min(jobs.firstBackMs, later.at(-1)?.dueMs ?? Number.POSITIVE_INFINITY));
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
    if (!this.#jobs.remove(job)) {
      const at = this.#later.findIndex((each) => each.job === job);
      this.#later.splice(at, 1);
    }
    this.#byNumber.delete(job.number);
    this.#budget.used -= costOf(job.bytes);
  }
  #heldBy(by: B, number: number): KeptJob | undefined {
    const job = this.#byNumber.get(number);
    return job !== undefined && this.#jobs.isLentTo(job, by) ? job : undefined;
  }
  again(by: B, number: number, delayMs: number): void {
    const job = this.#heldBy(by, number);
    if (job === undefined) return;
    this.#jobs.remove(job);
    this.#enter(job, delayMs, performance.now());
    this.#serve();
  }
  /** As if it had not been given out this time. */
  back(by: B, number: number): void {
    const job = this.#heldBy(by, number);
    if (job === undefined) return;
    job.attempt--;
    this.#jobs.giveBack(job);
    this.#serve();
  }
  /** @returns whether it is still `by`'s */
  extend(by: B, number: number): boolean {
    const job = this.#heldBy(by, number);
    if (job !== undefined) this.#jobs.renew(job, by, performance.now());
    return job !== undefined;
  }
  bury(by: B, number: number, attempts: number, why: string): void {
    const job = this.#heldBy(by, number);
    if (job === undefined) return;
    this.#forget(job);
    const dead = { number, bytes: job.bytes, attempts, why };
    // It was there before: it need not ask for room.
    this.#budget.used += costOf(job.bytes);
    this.#deadByNumber.set(number, dead);
    this.#dead.add(dead);
  }

  get stats(): { waiting: number; running: number; dead: number } {
    this.#serve();
    return {
      waiting: this.#jobs.lying + this.#later.length,
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
    this.#budget.used -= costOf(dead.bytes);
    if (!again) return;
    this.#budget.used += costOf(dead.bytes);
    this.#enter({ number: this.#next++, bytes: dead.bytes, attempt: 0 }, 0, performance.now());
    this.#serve();
  }

  /** Whoever has gone waits for nothing, and what it had is for others, at once. */
  left(by: B): void {
    for (const taker of this.#takers) {
      if (taker.by !== by) continue;
      this.#takers.delete(taker);
      clearTimeout(taker.timer);
    }
    this.#jobs.takeBackFrom(by);
    this.#dead.takeBackFrom(by);
    this.#serve();
  }
  close(): void {
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
function costOf({ length }: Uint8Array): number {
  return length + HUB_THING_BYTES;
}
