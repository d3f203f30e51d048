import { type RowPlan, type Scenario, sized } from '../contest.ts';
import type { ValueName } from '../loads.ts';
import { messagesPerSecond } from '../sessions.ts';
import { chosen, specOfValue, streamers } from './common.ts';

const LABELS: Readonly<Partial<Record<ValueName, string>>> = {
  req118: 'request, 118 B as JSON',
  obj500: 'object, 500 B',
  obj757: 'object, 757 B',
  doc10k: 'nested document, 10 KB',
  nums1000: '1,000 integers',
  floats1000: '1,000 doubles',
  rich: 'Map, Set, Date, BigInt, bytes',
};

export const values: Scenario = {
  name: 'values',
  title: 'Values, object in, object out',
  seed: '',
  unit: 'msg/s',
  better: 'higher',
  baseline: 'native-port',
  note: 'Smaller objects are in stream. The worker gets a real object; before the clock runs, every field of the first messages was compared with what was sent. Contenders that only carry JSON have no row with a Map in it.',
  rows: async (setting) => {
    const names = sized<ValueName[]>(setting, {
      full: ['doc10k', 'nums1000', 'floats1000', 'rich'],
      quick: ['doc10k', 'rich'],
      smoke: ['obj500'],
    });
    const rows: RowPlan[] = [];
    for (const value of names) {
      const contestants = await streamers(setting, specOfValue(value), messagesPerSecond);
      rows.push({
        label: LABELS[value]!,
        params: { value },
        contestants: contestants.filter((one) => carries(one.subject, value)),
      });
    }
    return chosen(setting, rows);
  },
};

function carries(subject: string, value: ValueName): boolean {
  return value !== 'rich' || !(subject.startsWith('sab-message-port') || subject === 'native-port:json');
}
