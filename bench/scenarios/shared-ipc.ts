// The third table of seed 001: CPU efficiency.
import { type RowPlan, type Scenario, type Setting, sized } from '../contest.ts';
import type { LoadSpec } from '../loads.ts';
import { counting, counts } from '../sessions-counters.ts';
import { absentees, presentThreadSubjects } from '../subjects/list.ts';
import { chosen, sizeName } from './common.ts';

/** Those whose two ends can take turns in one thread. */
const TAKE_TURNS: readonly string[] = [
  'native-port:polled',
  'millrace-ring',
  'millrace-port:block',
  'nxtedition-shared',
  'millrace-shared',
];

const IN_ONE_THREAD =
  'Sender and receiver take turns in one thread, so nothing waits and nothing spins; start-up is taken off by subtracting a shorter run.';

async function rows(setting: Setting): Promise<RowPlan[]> {
  const reason = unavailable(setting);
  if (reason) {
    absentees.set('shared-ipc', { subject: 'shared-ipc', ...reason });
    return [];
  }
  const specs: LoadSpec[] = sized<LoadSpec[]>(setting, {
    full: [
      { form: 'bytes', size: 64 },
      // At the speed of callgrind each row takes minutes, most of them for the start of the runtime.
      ...(counting() === 'perf'
        ? ([
            { form: 'string', size: 64 },
            { form: 'bytes', size: 4096 },
          ] as const)
        : []),
    ],
    quick: [{ form: 'bytes', size: 64 }],
    smoke: [],
  });
  const subjects = (await presentThreadSubjects(setting)).filter(({ name }) => TAKE_TURNS.includes(name));
  const found: RowPlan[] = specs.map((spec) => ({
    label: `${sizeName(spec.size)} ${spec.form === 'bytes' ? 'buffer' : 'string'}`,
    params: { form: spec.form, size: spec.size },
    contestants: subjects
      .filter(({ name, forms }) => forms.includes(spec.form) || name === 'native-port:polled')
      .map((subject) => counts(subject, spec, setting.options)),
  }));
  return chosen(setting, found);
}

function unavailable(setting: Setting): { reason: string; remedy?: string } | undefined {
  if (setting.size === 'smoke') return { reason: 'not part of the smoke run' };
  if (counting() === 'none') {
    return { reason: 'no hardware counters and no valgrind here', remedy: 'apt-get install linux-perf valgrind' };
  }
  if (counting() === 'callgrind' && setting.size === 'quick') {
    return { reason: 'no hardware counters here; the stand-in, callgrind, takes minutes: leave --quick out' };
  }
  return undefined;
}

export const sharedIpc: Scenario = {
  name: 'shared-ipc',
  seed: '001',
  baseline: 'native-port:polled',
  get title() {
    return counting() === 'perf'
      ? 'CPU efficiency: instructions per cycle'
      : 'CPU efficiency: instructions per message (callgrind, in place of hardware counters)';
  },
  get unit() {
    return counting() === 'perf' ? 'instructions/cycle' : 'instructions/message';
  },
  get better() {
    return counting() === 'perf' ? ('higher' as const) : ('lower' as const);
  },
  get note() {
    return counting() === 'perf'
      ? `${IN_ONE_THREAD} Instructions per cycle say how well the processor is kept busy, not how little it has to do: see instructions/message.`
      : `${IN_ONE_THREAD} This machine shows no hardware counters, so there are no cycles; the count is exact for this program, but blind to caches and to the other core.`;
  },
  // Two counted runs are one sample, and they repeat to the per mille.
  pace: (setting) =>
    counting() === 'perf' ? {} : sized(setting, { full: { rounds: 1, roundMs: 18_000 }, quick: {}, smoke: {} }),
  rows,
};
