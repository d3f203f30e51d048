// Contestants over a thread channel: streaming one way, round trips, round trips to a parked reader.
import type { BenchOptions, Contestant, Sample, Session } from './contest.ts';
import { CpuMeter } from './cpu.ts';
import { withDeadline } from './deadline.ts';
import { parkedRoundTrip, roundTrips, stream } from './drivers.ts';
import { digest, expected, freshCount, freshLoad, type Load, type LoadSpec, type Tally } from './loads.ts';
import { type Filled, Pacer } from './pacer.ts';
import { median, quantile } from './stats.ts';
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

/** What a piece of work gave and cost, and whether both ends agree. */
interface Run {
  readonly seconds: number;
  readonly cpuUs: number | undefined;
  readonly checked: boolean;
}

/** Repeats a burst until `ms` are over, what stands between bursts included. Only the bursts are timed and charged. */
async function bursts(ms: number, burst: number, work: (count: number) => Promise<Run>): Promise<Filled<Run>> {
  const end = performance.now() + ms;
  let seconds = 0;
  let cpuUs: number | undefined = 0;
  let checked = true;
  let count = 0;
  do {
    const run = await work(burst);
    seconds += run.seconds;
    cpuUs = run.cpuUs === undefined ? undefined : cpuUs! + run.cpuUs;
    checked &&= run.checked;
    count += burst;
  } while (performance.now() < end);
  return { seconds, cpuUs, checked, count };
}

export interface FlowOptions extends Parts {
  readonly gauge: Gauge;
  /** A round is many bursts of so many messages, each timed by itself, with the worker idle before it. */
  readonly burst?: number | undefined;
}

class FlowSession implements Session {
  readonly #parts: FlowOptions;
  readonly #host: ThreadHost;
  readonly #channel: ThreadChannel;
  readonly #burst: number | undefined;
  readonly #pacer = new Pacer((count) => this.#run(count));
  #verified = false;
  #batch = 0;

  constructor(parts: FlowOptions, host: ThreadHost, channel: ThreadChannel) {
    this.#parts = parts;
    this.#host = host;
    this.#channel = channel;
    this.#burst = parts.spec.fresh ? freshCount(parts.spec) : parts.burst;
  }

  async round(ms: number): Promise<Sample> {
    if (!this.#verified) await verify(this.#channel);
    this.#verified = true;
    const { seconds, cpuUs, checked, count } = this.#burst
      ? await bursts(ms, this.#burst, (burst) => this.#run(burst))
      : await this.#pacer.fill(ms);
    const value = this.#parts.gauge(count, seconds, this.#channel.load);
    return { value, checked, cpuUs, messages: count, wallMs: seconds * 1000 };
  }

  async #run(count: number): Promise<Run> {
    const channel = this.#channel;
    const load = this.#parts.spec.fresh ? freshLoad(channel.load, count, ++this.#batch) : channel.load;
    const { done } = await channel.order('receive', count);
    const meter = new CpuMeter();
    const start = performance.now();
    await stream(channel.end, load, count, channel.progress);
    const tally = await withDeadline(done, ROUND_DEADLINE_MS, 'the round did not end');
    const seconds = (performance.now() - start) / 1000;
    return { seconds, cpuUs: meter.stop(), checked: same(tally, expected(load, count)) };
  }

  async stop(): Promise<void> {
    await this.#channel.close();
    await this.#host.stop();
  }
}

export interface TripOptions extends Parts {
  /** A round is many bursts of so many round trips, each timed by itself. */
  readonly burst?: number | undefined;
  /** Pause before each round trip, so that the reader is asleep. */
  readonly pauseMs?: number;
  /** Trips without a pause before the first round, so that what runs after a rest is cold in the caches only. */
  readonly flowMs?: number;
}

/** Fewer would leave a round to one accident. */
const PAUSED_TRIPS_MIN = 5;

class TripSession implements Session {
  readonly #parts: TripOptions;
  readonly #host: ThreadHost;
  readonly #channel: ThreadChannel;
  readonly #mainBlocks: boolean;
  readonly #pacer = new Pacer((count) => this.#run(count));
  #flowed = false;
  #pausedUs: number[] = [];

  constructor(parts: TripOptions, host: ThreadHost, channel: ThreadChannel) {
    this.#parts = parts;
    this.#host = host;
    this.#channel = channel;
    this.#mainBlocks = parts.wait === 'block/block';
  }

  async round(ms: number): Promise<Sample> {
    const { pauseMs, burst, flowMs } = this.#parts;
    if (flowMs && !this.#flowed) await this.#pacer.fill(flowMs);
    this.#flowed = true;
    if (pauseMs) return this.#parked(Math.max(PAUSED_TRIPS_MIN, Math.ceil(ms / pauseMs)), pauseMs);
    const { seconds, cpuUs, checked, count } = burst
      ? await bursts(ms, burst, (trips) => this.#run(trips))
      : await this.#pacer.fill(ms);
    return { value: (seconds * 1e6) / count, checked, cpuUs, messages: count, wallMs: seconds * 1000 };
  }

  async #run(count: number): Promise<Run> {
    const channel = this.#channel;
    // A contender that thinks in calls has its own answering side.
    const answers = channel.end.ask === undefined || this.#mainBlocks;
    const echoed = answers ? await channel.order('echo', count) : undefined;
    const meter = new CpuMeter();
    const start = performance.now();
    const running = roundTrips(channel.end, channel.load, count, this.#mainBlocks);
    const tally = await withDeadline(running, ROUND_DEADLINE_MS, 'the round trips did not end');
    const seconds = (performance.now() - start) / 1000;
    const cpuUs = meter.stop();
    const wanted = expected(channel.load, count);
    const far = echoed ? await withDeadline(echoed.done, ROUND_DEADLINE_MS, 'the echo did not end') : wanted;
    return { seconds, cpuUs, checked: same(tally, wanted) && same(far, wanted) };
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
    for (const time of times) this.#pausedUs.push(time / 1000);
    const extra = { p90: quantile(this.#pausedUs, 0.9) };
    return { value: median(times) / 1000, checked, cpuUs, messages: count, wallMs, extra, cumulative: true };
  }

  warmedUp(): void {
    this.#pausedUs = [];
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
    wait: options.wait,
    start: async () => {
      const { host, channel } = await openHost(options);
      return new FlowSession(options, host, channel);
    },
  };
}

/** A contestant that makes round trips; the value is microseconds each. */
export function trips(options: TripOptions, label: string): Contestant {
  return {
    subject: options.subject.name,
    label,
    wait: options.wait,
    start: async () => {
      const { host, channel } = await openHost(options);
      return new TripSession(options, host, channel);
    },
  };
}
