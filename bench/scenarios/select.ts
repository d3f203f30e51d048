// What it costs to wait for a thousand channels instead of one.
import { type RowPlan, type Scenario, type Setting, sized } from '../contest.ts';
import { selects } from '../sessions-select.ts';
import { chosen } from './common.ts';

const HOW = ['receive', 'select'] as const;

function rows(setting: Setting): Promise<RowPlan[]> {
  const counts = sized(setting, { full: [1, 10, 1000], quick: [1000], smoke: [10] });
  const plans = counts.flatMap((ports) =>
    [false, true].map((rests) => ({
      label: `${ports.toLocaleString('en-US')} port${ports === 1 ? '' : 's'}, ${rests ? 'asleep' : 'traffic flows'}`,
      params: { ports, waits: rests ? 'asleep' : 'traffic flows' },
      contestants: HOW.map((how) => selects({ how, ports, rests })),
    })),
  );
  return Promise.resolve(chosen(setting, plans));
}

export const selectScenario: Scenario = {
  name: 'select',
  title: 'Blocked on many channels, of which one talks',
  seed: '',
  unit: 'us',
  better: 'lower',
  baseline: 'millrace-port:receive',
  note: 'Both threads block. Traffic flows: microseconds a round trip over the one that talks, which neither thread sleeps in. Asleep: the worker rests for 1 ms before each message, and the microseconds are from its send to our having received it. All channels are linked before the first round.',
  pace: (setting) =>
    sized(setting, { full: { warmMs: 450, startMs: 1500 }, quick: { warmMs: 150, startMs: 700 }, smoke: {} }),
  rows,
};
