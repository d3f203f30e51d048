// A fresh worker's first round trips, with the compiler at work: nothing is warm, on purpose.
import type { Contestant, Sample, Session } from './contest.ts';
import { CpuMeter } from './cpu.ts';
import { withDeadline } from './deadline.ts';
import { roundTrips } from './drivers.ts';
import { expected } from './loads.ts';
import { openHost, type Parts, ROUND_DEADLINE_MS, same } from './sessions.ts';
import type { ThreadChannel } from './thread-host.ts';

export interface FirstOptions extends Parts {
  readonly count: number;
}

async function timed(channel: ThreadChannel, count: number): Promise<{ ms: number; sum: number }> {
  const began = performance.now();
  const running = roundTrips(channel.end, channel.load, count, false);
  const { sum } = await withDeadline(running, ROUND_DEADLINE_MS, 'the round trips did not end');
  return { ms: performance.now() - began, sum };
}

/** The worker is there, its channel open, nothing was sent: from here the clock runs. */
async function firstTrips(channel: ThreadChannel, count: number): Promise<Sample> {
  const answers = channel.end.ask === undefined;
  const echoed = answers ? await channel.order('echo', count) : undefined;
  const meter = new CpuMeter();
  const first = await timed(channel, 1);
  const rest = await timed(channel, count - 1);
  const cpuUs = meter.stop();
  const { load } = channel;
  const sum = (expected(load, 1).sum + expected(load, count - 1).sum) | 0;
  const far = echoed && (await withDeadline(echoed.done, ROUND_DEADLINE_MS, 'the echo did not end'));
  const checked = ((first.sum + rest.sum) | 0) === sum && (far === undefined || same(far, { count, sum }));
  const value = first.ms + rest.ms;
  return { value, checked, cpuUs, messages: count, wallMs: value, extra: { 'the first': first.ms } };
}

/** Milliseconds for a new worker's first `count` round trips. */
export function firstRoundTrips(options: FirstOptions, label: string): Contestant {
  const round = async (): Promise<Sample> => {
    const { host, channel } = await openHost(options);
    try {
      return await firstTrips(channel, options.count);
    } finally {
      await channel.close();
      await host.stop();
    }
  };
  const start = async (): Promise<Session> => ({ round, stop: () => {} });
  return { subject: options.subject.name, label, wait: options.wait, start };
}
