// A queue that a hub keeps, as its members have it.
import { checkAckMs, type QueueStats, type QueueStore, type Taken, type TakenDead } from '../engine/queue.ts';
import { QUEUE } from './words.ts';

type Ask = (word: number, ...said: unknown[]) => Promise<unknown>;
type GivenJob = readonly [number: number, bytes: Uint8Array, attempt: number];
type GivenDead = readonly [number: number, bytes: Uint8Array, attempts: number, why: string];

export class HubQueue implements QueueStore {
  readonly #ask: (action: string, ...said: unknown[]) => Promise<unknown>;
  readonly #ackMs: number;

  private constructor(ask: Ask, subject: string, ackMs: number) {
    this.#ask = (action, ...said) => ask(QUEUE, subject, action, ...said);
    this.#ackMs = ackMs;
  }
  /** @throws (rejects) UsageError ERR_OPTION for another `ackMs` than others say; ClosedError */
  static async open(ask: Ask, subject: string, ackMs: number): Promise<HubQueue> {
    const queue = new HubQueue(ask, subject, ackMs);
    await queue.make();
    return queue;
  }
  async make(): Promise<void> {
    const found = await this.#ask('make', this.#ackMs);
    checkAckMs(found, this.#ackMs, 'a hub that is made anew');
  }
  isGone(error: unknown): boolean {
    return (error as { code?: unknown }).code === 'gone';
  }
  isSaid(error: unknown): boolean {
    const { code } = error as { code?: unknown };
    return code === 'gone' || code === 'full';
  }

  async put(bytes: Uint8Array, delayMs: number, id: string | undefined): Promise<void> {
    await this.#ask('put', bytes, delayMs, id ?? null);
  }
  async take(count: number, waitMs: number, given: (job: Taken) => void): Promise<void> {
    const jobs = (await this.#ask('take', count, waitMs)) as readonly GivenJob[];
    for (const job of jobs) given(this.#taken(job));
  }
  #taken([number, bytes, attempt]: GivenJob): Taken {
    const say = async (action: string, ...said: unknown[]): Promise<void> => {
      await this.#ask(action, number, attempt, ...said);
    };
    return {
      bytes,
      attempt,
      done: () => say('done'),
      again: (delayMs) => say('again', delayMs),
      back: () => say('back'),
      bury: (attempts, why) => say('bury', attempts, why),
      extend: async () => (await this.#ask('extend', number, attempt)) === true,
    };
  }
  async stats(): Promise<QueueStats> {
    return (await this.#ask('stats')) as QueueStats;
  }
  async takeDead(count: number): Promise<TakenDead[]> {
    const dead: GivenDead[] = [];
    // A message holds so many.
    for (;;) {
      const some = (await this.#ask('dead', count - dead.length)) as readonly GivenDead[];
      dead.push(...some);
      if (some.length === 0 || dead.length >= count) break;
    }
    return dead.map(([number, bytes, attempts, why]) => ({
      bytes,
      attempts,
      why,
      drop: async () => void (await this.#ask('drop', number)),
      retry: async () => void (await this.#ask('retry', number)),
    }));
  }
  async close(): Promise<void> {}
}
