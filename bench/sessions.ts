// Contestants over a thread channel: streaming one way, round trips, round trips to a parked reader.
import type { BenchOptions, Contestant, Sample, Session } from './contest.ts';
import { CpuMeter } from './cpu.ts';
import { withDeadline } from './deadline.ts';
import { parkedRoundTrip, roundTrips, stream } from './drivers.ts';
import { digest, expected, freshCount, freshLoad, type Load, type LoadSpec, type Tally } from './loads.ts';
import { median } from './stats.ts';
import { labelOf, type ThreadSubject, type Wait } from './subject.ts';
import { type ThreadChannel, ThreadHost } from './thread-host.ts';

/** What a timed piece of work becomes in the scenario's unit. */
export type Gauge = (count: number, seconds: number, load: Load) => number;

export const messagesPerSecond: Gauge = (count, seconds) => count / seconds;
export const bytesPerSecond: Gauge = (count, seconds, load) => (count * load.sizeBytes) / seconds;
export const microsecondsEach: Gauge = (count, seconds) => (seconds * 1e6) / count;

export const ROUND_DEADLINE_MS = 30_000;

export interface Parts {
  readonly subject: ThreadSubject;
  readonly wait: Wait;
  readonly spec: LoadSpec;
  readonly options: BenchOptions;
}

export async function openHost(parts: Parts): Promise<{ host: ThreadHost; channel: ThreadChannel }> {
  const host = new ThreadHost();
  try {
    return { host, channel: await host.open(parts.subject, parts.wait, parts.spec, parts.options) };
  } catch (error) {
    await host.stop();
    throw error;
  }
}

export function same(a: Tally, b: Tally): boolean {
  return a.count === b.count && a.sum === b.sum;
}

/** Sends the start of the pool and compares every field of what arrives; only then is speed worth measuring. */
export async function verify(channel: ThreadChannel): Promise<void> {
  const load = channel.load;
  const count = Math.min(64, load.items.length);
  const deep = load.spec.form === 'bytes' ? load : { ...load, weigh: digest };
  const { done } = await channel.order('receive', count, load.spec.form !== 'bytes');
  await stream(channel.end, load, count, channel.progress);
  const seen = await withDeadline(done, ROUND_DEADLINE_MS, 'the check of the values did not end');
  const wanted = expected(deep, count);
  if (!same(seen, wanted)) {
    throw new Error(`values arrived changed: ${seen.count} messages, digest ${seen.sum} instead of ${wanted.sum}`);
  }
}

/**
 * Repeats `work` with more messages until it takes a good part of `ms`, and returns the count for a round. Also the
 * warm-up: the loops have been compiled when it returns.
 */
export async function calibrate(ms: number, start: number, work: (count: number) => Promise<unknown>): Promise<number> {
  let count = start;
  for (;;) {
    const began = performance.now();
    await work(count);
    const took = Math.max(0.01, performance.now() - began);
    if (took > ms / 2 || count > 2 ** 24) return Math.max(1, Math.round((count * ms) / took));
    count = Math.min(Math.ceil((count * ms * 0.7) / took), count * 8);
  }
}

export interface FlowOptions extends Parts {
  readonly gauge: Gauge;
  /** A fixed amount of work per round instead of a time. */
  readonly count?: number | undefined;
  /** A round is many bursts of so many messages, each timed by itself, with the worker idle before it. */
  readonly burst?: number | undefined;
}

class FlowSession implements Session {
  readonly #parts: FlowOptions;
  readonly #host: ThreadHost;
  readonly #channel: ThreadChannel;
  #count = 0;
  #batch = 0;

  constructor(parts: FlowOptions, host: ThreadHost, channel: ThreadChannel) {
    this.#parts = parts;
    this.#host = host;
    this.#channel = channel;
  }

  async round(ms: number): Promise<Sample> {
    if (this.#count === 0) {
      await verify(this.#channel);
      const { count, spec } = this.#parts;
      if (spec.fresh) await this.#run(freshCount(spec));
      this.#count = spec.fresh
        ? freshCount(spec)
        : (count ?? (await calibrate(ms, this.#parts.burst ?? 64, (n) => this.#bursts(n))));
    }
    const meter = new CpuMeter();
    const { seconds, checked, count } = await this.#bursts(this.#count);
    const value = this.#parts.gauge(count, seconds, this.#channel.load);
    return { value, checked, cpuUs: meter.stop(), messages: count, wallMs: seconds * 1000 };
  }

  async #bursts(count: number): Promise<{ seconds: number; checked: boolean; count: number }> {
    const burst = this.#parts.burst ?? count;
    let seconds = 0;
    let checked = true;
    let sent = 0;
    for (; sent < count; sent += burst) {
      const run = await this.#run(burst);
      seconds += run.seconds;
      checked &&= run.checked;
    }
    return { seconds, checked, count: sent };
  }

  async #run(count: number): Promise<{ seconds: number; checked: boolean }> {
    const channel = this.#channel;
    const load = this.#parts.spec.fresh ? freshLoad(channel.load, count, ++this.#batch) : channel.load;
    const { done } = await channel.order('receive', count);
    const start = performance.now();
    await stream(channel.end, load, count, channel.progress);
    const tally = await withDeadline(done, ROUND_DEADLINE_MS, 'the round did not end');
    const seconds = (performance.now() - start) / 1000;
    return { seconds, checked: same(tally, expected(load, count)) };
  }

  async stop(): Promise<void> {
    await this.#channel.close();
    await this.#host.stop();
  }
}

export interface TripOptions extends Parts {
  readonly count?: number | undefined;
  /** Pause before each round trip, so that the reader is asleep. */
  readonly pauseMs?: number;
}

class TripSession implements Session {
  readonly #parts: TripOptions;
  readonly #host: ThreadHost;
  readonly #channel: ThreadChannel;
  readonly #mainBlocks: boolean;
  #count = 0;

  constructor(parts: TripOptions, host: ThreadHost, channel: ThreadChannel) {
    this.#parts = parts;
    this.#host = host;
    this.#channel = channel;
    this.#mainBlocks = parts.wait === 'block/block';
  }

  async round(ms: number): Promise<Sample> {
    if (this.#count === 0) {
      const work = (count: number): Promise<unknown> => this.#run(count);
      this.#count = this.#parts.count ?? (await calibrate(ms, 32, work));
      if (this.#parts.pauseMs) this.#count = Math.ceil(ms / this.#parts.pauseMs);
    }
    if (this.#parts.pauseMs) return this.#parked(this.#count, this.#parts.pauseMs);
    const meter = new CpuMeter();
    const { seconds, checked } = await this.#run(this.#count);
    const count = this.#count;
    return { value: (seconds * 1e6) / count, checked, cpuUs: meter.stop(), messages: count, wallMs: seconds * 1000 };
  }

  async #run(count: number): Promise<{ seconds: number; checked: boolean }> {
    const channel = this.#channel;
    // A contender that thinks in calls has its own answering side.
    const answers = channel.end.ask === undefined || this.#mainBlocks;
    const echoed = answers ? await channel.order('echo', count) : undefined;
    const start = performance.now();
    const running = roundTrips(channel.end, channel.load, count, this.#mainBlocks);
    const tally = await withDeadline(running, ROUND_DEADLINE_MS, 'the round trips did not end');
    const seconds = (performance.now() - start) / 1000;
    const wanted = expected(channel.load, count);
    const far = echoed ? await withDeadline(echoed.done, ROUND_DEADLINE_MS, 'the echo did not end') : wanted;
    return { seconds, checked: same(tally, wanted) && same(far, wanted) };
  }

  async #parked(count: number, pauseMs: number): Promise<Sample> {
    const channel = this.#channel;
    const answers = channel.end.ask === undefined || this.#mainBlocks;
    const echoed = answers ? await channel.order('echo', count) : undefined;
    const meter = new CpuMeter();
    const began = performance.now();
    const times: number[] = [];
    for (let i = 0; i < count; i++) {
      const item = channel.load.items[i & channel.load.mask];
      times.push(await parkedRoundTrip(channel.end, item, this.#mainBlocks, pauseMs));
    }
    const wallMs = performance.now() - began;
    const cpuUs = meter.stop();
    const tally = await echoed?.done;
    const checked = tally === undefined || same(tally, expected(channel.load, count));
    return { value: median(times) / 1000, checked, cpuUs, messages: count, wallMs };
  }

  async stop(): Promise<void> {
    await this.#channel.close();
    await this.#host.stop();
  }
}

/** A contestant that streams a load one way. */
export function flow(options: FlowOptions, label: string = labelOf(options.subject, options.options)): Contestant {
  return {
    subject: options.subject.name,
    label,
    start: async () => {
      const { host, channel } = await openHost(options);
      return new FlowSession(options, host, channel);
    },
  };
}

/** A contestant that makes round trips; the value is microseconds each. */
export function trips(options: TripOptions, label: string): Contestant {
  return {
    subject: `${options.subject.name}`,
    label,
    start: async () => {
      const { host, channel } = await openHost(options);
      return new TripSession(options, host, channel);
    },
  };
}
