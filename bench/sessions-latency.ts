// Latency at a fixed rate. Requests are due by the clock, whether or not earlier answers have come, and each is timed
// from when it was due, not from when the sender got round to it: without that (coordinated omission), a stall would
// hide the very requests that it delayed.
import type { BenchOptions, Contestant, Sample, Session } from './contest.ts';
import { CpuMeter } from './cpu.ts';
import { withDeadline } from './deadline.ts';
import { expected, type LoadSpec } from './loads.ts';
import { openHost, ROUND_DEADLINE_MS, same } from './sessions.ts';
import { quantile } from './stats.ts';
import type { ThreadSubject, Wait } from './subject.ts';
import type { ThreadChannel, ThreadHost } from './thread-host.ts';

const PERCENTILES: readonly (readonly [string, number])[] = [
  ['p90', 0.9],
  ['p99', 0.99],
  ['p99.9', 0.999],
  ['p99.99', 0.9999],
  ['max', 1],
];

class LatencySession implements Session {
  readonly #host: ThreadHost;
  readonly #channel: ThreadChannel;
  readonly #rate: number;
  #allUs: number[] = [];

  constructor(host: ThreadHost, channel: ThreadChannel, rate: number) {
    this.#host = host;
    this.#channel = channel;
    this.#rate = rate;
  }

  async round(ms: number): Promise<Sample> {
    const count = Math.max(8, Math.round((ms / 1000) * this.#rate));
    const { done } = await this.#channel.order('echo', count);
    const meter = new CpuMeter();
    const began = performance.now();
    const timesUs = await withDeadline(this.#run(count), ROUND_DEADLINE_MS, 'the requests were not answered');
    const wallMs = performance.now() - began;
    const cpuUs = meter.stop();
    const checked = same(await done, expected(this.#channel.load, count));
    for (const time of timesUs) this.#allUs.push(time);
    const extra = Object.fromEntries(PERCENTILES.map(([name, q]) => [name, quantile(this.#allUs, q)]));
    return { value: quantile(timesUs, 0.5), checked, cpuUs, messages: count, wallMs, extra, cumulative: true };
  }

  warmedUp(): void {
    this.#allUs = [];
  }

  /** Answers come in the order of the requests. */
  #run(count: number): Promise<number[]> {
    const { end, load } = this.#channel;
    const timesUs: number[] = [];
    const gapMs = 1000 / this.#rate;
    return new Promise((resolve, reject) => {
      const start = performance.now() + 1;
      let sent = 0;
      const tick = (): void => {
        try {
          while (sent < count && performance.now() >= start + sent * gapMs) end.post!(load.items[sent++ & load.mask]);
          if (sent < count) setImmediate(tick);
        } catch (error) {
          reject(error);
        }
      };
      end.listen!(() => {
        timesUs.push((performance.now() - (start + timesUs.length * gapMs)) * 1000);
        if (timesUs.length < count) return;
        end.listen!(null);
        resolve(timesUs);
      });
      tick();
    });
  }

  async stop(): Promise<void> {
    await this.#channel.close();
    await this.#host.stop();
  }
}

export interface LatencyOptions {
  readonly subject: ThreadSubject;
  readonly wait: Wait;
  readonly spec: LoadSpec;
  readonly options: BenchOptions;
  readonly rate: number;
}

export function latency(options: LatencyOptions, label: string): Contestant {
  return {
    subject: options.subject.name,
    label,
    wait: options.wait,
    start: async () => {
      const { host, channel } = await openHost(options);
      return new LatencySession(host, channel, options.rate);
    },
  };
}
