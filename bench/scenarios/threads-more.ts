// Questions of ours that no seed asked: one to many, tails, growth.
import { type RowPlan, type Scenario, type Setting, sized } from '../contest.ts';
import type { LoadSpec } from '../loads.ts';
import { flow, microsecondsEach } from '../sessions.ts';
import { fan } from '../sessions-fan.ts';
import { latency } from '../sessions-latency.ts';
import { presentThreadSubjects } from '../subjects/list.ts';
import { chosen, sizeName, specOfValue, streamWaitOf } from './common.ts';
import { waitLabel } from './round-trip.ts';

export const fanOut: Scenario = {
  name: 'fan-out',
  title: 'One sender, every message to every worker',
  seed: '',
  unit: 'msg/s',
  better: 'higher',
  baseline: 'native-port',
  note: 'Deliveries per second over all workers, objects of about 118 B as JSON. Contenders with one channel per worker send to each in turns of 64 messages; BroadcastChannel posts once. With more workers than cores the scheduler is part of the answer.',
  rows: async (setting) => {
    const counts = sized(setting, { full: [1, 2, 8], quick: [2], smoke: [2] });
    const spec = specOfValue('req118');
    const subjects = (await presentThreadSubjects(setting)).filter((subject) => subject.forms.includes('object'));
    const rows: RowPlan[] = counts.map((workers) => ({
      label: workers === 1 ? '1 worker' : `${workers} workers`,
      params: { workers, value: 'req118' },
      contestants: subjects.map((subject) =>
        fan({ subject, wait: streamWaitOf(subject), spec, options: setting.options, workers }),
      ),
    }));
    return chosen(setting, rows);
  },
};

export const latencyHistogram: Scenario = {
  name: 'latency-histogram',
  title: 'Latency at a fixed rate: median, and the tail beside it',
  seed: '',
  unit: 'us',
  better: 'lower',
  baseline: 'native-port',
  note: 'Requests of about 118 B leave at a fixed rate, each timed from the moment when it was due until its echo is back (corrected for coordinated omission). The main thread keeps turning its event loop to meet the rate, so this shows the worker waking up, not the main thread. Percentiles are over all requests of all rounds: 2,000 and 40,000 in a full run, so that the last one of the slow rate rests on its slowest two.',
  pace: (setting) =>
    sized(setting, {
      full: { rounds: 5, roundMs: 400, warmMs: 500 },
      quick: { roundMs: 100, warmMs: 200 },
      smoke: { rounds: 1, roundMs: 20 },
    }),
  rows: async (setting) => {
    const rates = sized(setting, { full: [1000, 20_000], quick: [5000], smoke: [1000] });
    const spec = specOfValue('req118');
    const subjects = await presentThreadSubjects(setting);
    const rows: RowPlan[] = rates.map((rate) => ({
      label: `${rate.toLocaleString('en-US')} requests a second`,
      params: { rate },
      contestants: subjects.flatMap((subject) =>
        subject.waits
          .filter((wait) => wait !== 'block/block' && subject.forms.length > 0)
          .map((wait) => {
            return latency(
              { subject, wait, spec, options: setting.options, rate },
              waitLabel(subject, wait, setting.options),
            );
          }),
      ),
    }));
    return chosen(setting, rows);
  },
};

/** A few rivals are enough to show a slope. */
const SCALING: readonly string[] = ['native-port', 'native-port:transfer', 'sab-message-port', 'nxtedition-shared'];

export const scaling: Scenario = {
  name: 'scaling',
  title: 'How the cost of a message grows with its size and with the burst',
  seed: '',
  unit: 'us',
  better: 'lower',
  baseline: 'native-port',
  note: 'Microseconds per message until the last of the burst was consumed. Sizes: streams of bytes. Bursts: so many objects of about 118 B at once to a worker that was idle, so that the first rows show the wake-up and the last ones the stream. The number of open ports is scenario many-ports.',
  rows: async (setting) => [...(await sizeRows(setting)), ...(await burstRows(setting))],
};

async function sizeRows(setting: Setting): Promise<RowPlan[]> {
  const sizes = sized(setting, { full: [16, 4096, 1 << 20], quick: [1 << 20], smoke: [256] });
  return chosen(
    setting,
    await Promise.all(sizes.map((size) => scalingRow(setting, `${sizeName(size)} each`, { form: 'bytes', size }))),
  );
}

async function burstRows(setting: Setting): Promise<RowPlan[]> {
  const bursts = sized(setting, { full: [1, 10, 100, 10_000], quick: [10], smoke: [10] });
  const spec = specOfValue('req118');
  return chosen(
    setting,
    await Promise.all(bursts.map((burst) => scalingRow(setting, `burst of ${burst}`, spec, burst))),
  );
}

async function scalingRow(setting: Setting, label: string, spec: LoadSpec, burst?: number): Promise<RowPlan> {
  const subjects = (await presentThreadSubjects(setting)).filter(
    ({ name, forms }) => forms.includes(spec.form) && (SCALING.includes(name) || name.startsWith('millrace')),
  );
  const contestants = subjects.map((subject) =>
    flow({ subject, wait: streamWaitOf(subject), spec, options: setting.options, gauge: microsecondsEach, burst }),
  );
  return { label, params: { size: spec.size, burst: burst ?? 0 }, contestants };
}
