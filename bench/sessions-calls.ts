// Contestants that call functions of a worker.
import type { Caller, CallSubject } from './call-subject.ts';
import type { Contestant, Sample, Session } from './contest.ts';
import { CpuMeter } from './cpu.ts';
import { withDeadline } from './deadline.ts';
import { digest, expected, makeLoad } from './loads.ts';
import { Pacer } from './pacer.ts';
import { specOfValue } from './scenarios/common.ts';
import { ROUND_DEADLINE_MS } from './sessions.ts';
import { median, quantile } from './stats.ts';

interface Work {
  /** Does so many of what the row is about, and adds up what comes back. */
  run(caller: Caller, count: number): Promise<number>;
  /** What that comes to. */
  wanted(count: number): number;
}

/** Sum of the numbers below `count`. */
function sumBelow(count: number): number {
  return (count * (count - 1)) / 2;
}

/** As many loops as calls are to be under way, each of which awaits its call before it makes the next. */
async function lanes(under: number, count: number, call: (n: number) => Promise<number>): Promise<number> {
  let next = 0;
  let sum = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      // Not in one expression: that would add to what the sum was before the call.
      const value = await call(next++);
      sum += value;
    }
  };
  await Promise.all(Array.from({ length: under }, lane));
  return sum;
}

/** `under` calls of `add` under way at any time. */
export function adding(under: number): Work {
  return {
    run: ({ add }, count) => lanes(under, count, (n) => add!(n, 1)),
    wanted: (count) => sumBelow(count) + count,
  };
}

const load = makeLoad(specOfValue('req118'));
export function echoing(under: number): Work {
  return {
    run: async ({ echo }, count) => {
      const first = load.items[0];
      if (digest(await echo!(first)) !== digest(first)) return Number.NaN;
      const weigh = async (n: number): Promise<number> => load.weigh(await echo!(load.items[n & load.mask]));
      return (await lanes(under, count, weigh)) | 0;
    },
    wanted: (count) => expected(load, count).sum,
  };
}

export const reading: Work = {
  run: async ({ items }, count) => {
    let sum = 0;
    for await (const item of await items!(count)) sum += item;
    return sum;
  },
  wanted: sumBelow,
};

export function callingBack(times: number): Work {
  return {
    run: async ({ callBack }, count) => {
      let sum = 0;
      for (let n = 0; n < count; n += times) {
        const some = await callBack!((each) => each + 1, times);
        sum += some;
      }
      return sum;
    },
    wanted: (count) => (count / times) * (sumBelow(times) + times),
  };
}

export function tasking(under: number): Work {
  return {
    run: ({ task }, count) => lanes(under, count, async () => ((await task!()) === undefined ? 1 : 0)),
    wanted: (count) => count,
  };
}

export const blocking: Work = {
  run: async ({ addBlocked }, count) => {
    let sum = 0;
    for (let n = 0; n < count; n++) sum += addBlocked!(n, 1);
    return sum;
  },
  wanted: (count) => sumBelow(count) + count,
};

interface Timed {
  readonly seconds: number;
  readonly cpuUs: number | undefined;
  readonly checked: boolean;
}

class CallSession implements Session {
  readonly #caller: Caller;
  readonly #pacer: Pacer<Timed>;
  readonly #perSecond: string;

  constructor(caller: Caller, work: Work, step: number, perSecond: string) {
    this.#caller = caller;
    this.#perSecond = perSecond;
    this.#pacer = new Pacer(async (count) => {
      const meter = new CpuMeter();
      const start = performance.now();
      const sum = await withDeadline(work.run(caller, count), ROUND_DEADLINE_MS, 'the calls were not answered');
      const seconds = (performance.now() - start) / 1000;
      return { seconds, cpuUs: meter.stop(), checked: sum === work.wanted(count) };
    }, step);
  }

  async round(ms: number): Promise<Sample> {
    const { seconds, cpuUs, checked, count } = await this.#pacer.fill(ms);
    const extra = { [this.#perSecond]: count / seconds };
    return { value: (seconds * 1e6) / count, checked, cpuUs, messages: count, wallMs: seconds * 1000, extra };
  }
  async stop(): Promise<void> {
    await this.#caller.close();
  }
}

function contestant({ name, label, wait }: CallSubject, start: () => Promise<Session>): Contestant {
  return { subject: name, label, wait, start };
}

export interface Kept {
  readonly work: Work;
  /** Counts are multiples of it. */
  readonly step?: number;
  /** Name of the further figure; its end says the unit (extra.ts). */
  readonly perSecond: string;
}

/** Microseconds each, while nothing else is done. */
export function calling(subject: CallSubject, { work, step = 1, perSecond }: Kept): Contestant {
  return contestant(subject, async () => new CallSession(await subject.open(), work, step, perSecond));
}

/** Fewer would leave a round to one accident. */
const RESTED_CALLS_MIN = 5;

class RestedSession implements Session {
  readonly #caller: Caller;
  readonly #restMs: number;
  readonly #flow: Pacer<{ readonly seconds: number }>;
  readonly #flowMs: number;
  #flowed = false;
  #timesUs: number[] = [];

  constructor(caller: Caller, restMs: number, flowMs: number) {
    this.#caller = caller;
    this.#restMs = restMs;
    this.#flowMs = flowMs;
    this.#flow = new Pacer(async (count) => {
      const start = performance.now();
      await adding(1).run(caller, count);
      return { seconds: (performance.now() - start) / 1000 };
    });
  }

  async round(ms: number): Promise<Sample> {
    if (!this.#flowed) await this.#flow.fill(this.#flowMs);
    this.#flowed = true;
    const add = this.#caller.add!;
    const count = Math.max(RESTED_CALLS_MIN, Math.ceil(ms / this.#restMs));
    const timesUs: number[] = [];
    let checked = true;
    for (let n = 0; n < count; n++) {
      await new Promise((resolve) => setTimeout(resolve, this.#restMs));
      const start = performance.now();
      const sum = await add(n, 1);
      timesUs.push((performance.now() - start) * 1000);
      checked &&= sum === n + 1;
    }
    this.#timesUs.push(...timesUs);
    return { value: median(timesUs), checked, extra: { p90: quantile(this.#timesUs, 0.9) }, cumulative: true };
  }
  warmedUp(): void {
    this.#timesUs = [];
  }
  async stop(): Promise<void> {
    await this.#caller.close();
  }
}

/** Microseconds of one call after a rest, the rest itself not timed; before the first round calls flowed for `flowMs`. */
export function rested(subject: CallSubject, restMs: number, flowMs: number): Contestant {
  return contestant(subject, async () => new RestedSession(await subject.open(), restMs, flowMs));
}

/** Microseconds each of a new worker's first `count` calls, one after the other; the very first stands beside it. */
export function firstCalls(subject: CallSubject, count: number): Contestant {
  const round = async (): Promise<Sample> => {
    const caller = await subject.open();
    try {
      const meter = new CpuMeter();
      const start = performance.now();
      const first = await caller.add!(1, 2);
      const firstUs = (performance.now() - start) * 1000;
      const rest = adding(1);
      const running = rest.run(caller, count - 1);
      const sum = await withDeadline(running, ROUND_DEADLINE_MS, 'the calls were not answered');
      const checked = sum === rest.wanted(count - 1) && first === 3;
      const wallMs = performance.now() - start;
      const value = (wallMs * 1000) / count;
      return { value, checked, cpuUs: meter.stop(), messages: count, wallMs, extra: { 'the first': firstUs } };
    } finally {
      await caller.close();
    }
  };
  return contestant(subject, async () => ({ round, stop: () => {} }));
}
