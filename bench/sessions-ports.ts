// Many channels to one worker, all open and listening; one of them talks.
import type { BenchOptions, Contestant, Sample, Session } from './contest.ts';
import { CpuMeter } from './cpu.ts';
import { withDeadline } from './deadline.ts';
import { roundTrips } from './drivers.ts';
import { expected, type LoadSpec } from './loads.ts';
import { Pacer } from './pacer.ts';
import { ROUND_DEADLINE_MS, same } from './sessions.ts';
import { labelOf, type ThreadSubject } from './subject.ts';
import { type ThreadChannel, ThreadHost } from './thread-host.ts';

class PortsSession implements Session {
  readonly #host: ThreadHost;
  readonly #channels: readonly ThreadChannel[];
  readonly #bytesEach: number;
  readonly #pacer = new Pacer((count) => this.#run(count));

  constructor(host: ThreadHost, channels: readonly ThreadChannel[], bytesEach: number) {
    this.#host = host;
    this.#channels = channels;
    this.#bytesEach = bytesEach;
  }

  async round(ms: number): Promise<Sample> {
    const meter = new CpuMeter();
    const { seconds, checked, count: messages } = await this.#pacer.fill(ms);
    const value = (seconds * 1e6) / messages;
    const cpuUs = meter.stop();
    return { value, checked, cpuUs, messages, wallMs: seconds * 1000, perUnitBytes: this.#bytesEach };
  }

  async #run(count: number): Promise<{ seconds: number; checked: boolean }> {
    const channel = this.#channels[this.#channels.length >> 1]!;
    const { done } = await channel.order('echo', count);
    const start = performance.now();
    const running = roundTrips(channel.end, channel.load, count, false);
    const near = await withDeadline(running, ROUND_DEADLINE_MS, 'the round trips did not end');
    const seconds = (performance.now() - start) / 1000;
    const wanted = expected(channel.load, count);
    return { seconds, checked: same(near, wanted) && same(await done, wanted) };
  }

  async stop(): Promise<void> {
    // The worker takes its ends with it; ours are closed one by one.
    await this.#host.stop();
    for (const { end } of this.#channels) await end.close();
  }
}

export interface PortsOptions {
  readonly subject: ThreadSubject;
  readonly spec: LoadSpec;
  readonly options: BenchOptions;
  readonly ports: number;
}

/** Microseconds per round trip over one of `ports` channels, and resident memory per channel, both sides together. */
export function manyPorts({ subject, spec, options, ports }: PortsOptions): Contestant {
  return {
    subject: subject.name,
    label: labelOf(subject, options),
    wait: 'loop/loop',
    start: async () => {
      const host = new ThreadHost();
      try {
        // The first channel brings code and pools along, which are not the price of a channel.
        const channels = [await host.open(subject, 'loop/loop', spec, options, { idle: true, ports })];
        const before = process.memoryUsage().rss;
        while (channels.length < ports) {
          const batch = Array.from({ length: Math.min(100, ports - channels.length) }, () =>
            host.open(subject, 'loop/loop', spec, options, { idle: true, ports }),
          );
          channels.push(...(await Promise.all(batch)));
        }
        const bytesEach = ports === 1 ? 0 : Math.max(0, (process.memoryUsage().rss - before) / (ports - 1));
        return new PortsSession(host, channels, bytesEach);
      } catch (error) {
        await host.stop();
        throw error;
      }
    },
  };
}
