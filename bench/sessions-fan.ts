// One sender, several workers, every message to every worker.
import type { BenchOptions, Contestant, Sample, Session } from './contest.ts';
import { CpuMeter } from './cpu.ts';
import { withDeadline } from './deadline.ts';
import { stream } from './drivers.ts';
import { expected, type LoadSpec } from './loads.ts';
import { Pacer } from './pacer.ts';
import { ROUND_DEADLINE_MS, same } from './sessions.ts';
import { labelOf, type ThreadSubject, type Wait } from './subject.ts';
import { type ThreadChannel, ThreadHost } from './thread-host.ts';

export interface FanOptions {
  readonly subject: ThreadSubject;
  readonly wait: Wait;
  readonly spec: LoadSpec;
  readonly options: BenchOptions;
  readonly workers: number;
}

/** Messages to one worker before the next has its turn: a batch, as a sensible sender would make it. */
const CHUNK = 64;

class FanSession implements Session {
  readonly #hosts: readonly ThreadHost[];
  readonly #channels: readonly ThreadChannel[];
  /** One post reaches everybody. */
  readonly #broadcasts: boolean;
  readonly #pacer = new Pacer((count) => this.#run(count), CHUNK);

  constructor(hosts: readonly ThreadHost[], channels: readonly ThreadChannel[], broadcasts: boolean) {
    this.#hosts = hosts;
    this.#channels = channels;
    this.#broadcasts = broadcasts;
  }

  async round(ms: number): Promise<Sample> {
    const meter = new CpuMeter();
    const { seconds, checked, count } = await this.#pacer.fill(ms);
    const messages = count * this.#channels.length;
    return { value: messages / seconds, checked, cpuUs: meter.stop(), messages, wallMs: seconds * 1000 };
  }

  async #run(count: number): Promise<{ seconds: number; checked: boolean }> {
    const orders = await Promise.all(this.#channels.map((channel) => channel.order('receive', count)));
    const load = this.#channels[0]!.load;
    const start = performance.now();
    if (this.#broadcasts) await stream(this.#channels[0]!.end, load, count, this.#channels[0]!.progress);
    else {
      for (let from = 0; from < count; from += CHUNK) {
        const part = Math.min(CHUNK, count - from);
        for (const { end, progress } of this.#channels) await stream(end, load, part, progress, from);
      }
    }
    const all = Promise.all(orders.map(({ done }) => done));
    const tallies = await withDeadline(all, ROUND_DEADLINE_MS, 'the round did not end');
    const seconds = (performance.now() - start) / 1000;
    const wanted = expected(load, count);
    return { seconds, checked: tallies.every((tally) => same(tally, wanted)) };
  }

  async stop(): Promise<void> {
    for (const channel of this.#channels) await channel.close();
    for (const host of this.#hosts) await host.stop();
  }
}

/** Deliveries per second over all workers. */
export function fan(options: FanOptions): Contestant {
  const { subject, wait, spec, workers } = options;
  return {
    subject: subject.name,
    label: labelOf(subject, options.options),
    wait,
    start: async () => {
      const hosts: ThreadHost[] = [];
      const channels: ThreadChannel[] = [];
      try {
        for (let i = 0; i < workers; i++) {
          const host = new ThreadHost();
          hosts.push(host);
          const shared = subject.broadcasts ? channels[0] : undefined;
          channels.push(await host.open(subject, wait, spec, options.options, { shared }));
        }
      } catch (error) {
        for (const host of hosts) await host.stop();
        throw error;
      }
      return new FanSession(hosts, channels, subject.broadcasts === true);
    },
  };
}
