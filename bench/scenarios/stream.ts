import { type RowPlan, type Scenario, type Setting, sized } from '../contest.ts';
import type { LoadSpec, ValueName } from '../loads.ts';
import { limitBytes } from '../native/limits.ts';
import { messagesPerSecond } from '../sessions.ts';
import { chosen, sizeName, specOfValue, streamers } from './common.ts';

function specs(setting: Setting): { label: string; spec: LoadSpec }[] {
  const bytes = sized(setting, { full: [64, 4096, 65536], quick: [65536], smoke: [64] });
  const lines = sized(setting, { full: [4096, 65536], quick: [] as number[], smoke: [] as number[] });
  const texts = sized(setting, { full: [64], quick: [], smoke: [64] });
  const values: ValueName[] = sized<ValueName[]>(setting, {
    full: ['req118', 'obj500'],
    quick: ['req118'],
    smoke: ['req118'],
  });
  return [
    ...bytes.map((size) => ({ label: `${sizeName(size)} bytes`, spec: { form: 'bytes', size } as const })),
    ...lines.map((size) => ({
      label: `${sizeName(size)} bytes, each line read`,
      spec: { form: 'bytes', size, read: 'lines' } as const,
    })),
    ...texts.map((size) => ({ label: `${sizeName(size)} string`, spec: { form: 'string', size } as const })),
    ...values.map((value) => ({ label: `object ${value}`, spec: specOfValue(value) })),
  ];
}

export const stream: Scenario = {
  name: 'stream',
  title: 'One way, main thread to worker',
  seed: '',
  unit: 'msg/s',
  better: 'higher',
  baseline: 'native-port',
  note:
    'Messages per second until the worker has consumed the last one. Bytes: the reader reads the first and the last byte of each message where it lies (or a byte of each 64-byte line, where the row says so); contenders that hand out their own copy are timed with that copy. ' +
    'Strings and objects arrive as strings and objects.',
  rows: async (setting) => {
    const rows: RowPlan[] = [];
    for (const { label, spec } of specs(setting)) {
      const contestants = await streamers(setting, spec, messagesPerSecond);
      if (spec.form === 'bytes') contestants.push(...limitBytes(setting, spec));
      const params = {
        form: spec.form,
        size: spec.size,
        ...(spec.value && { value: spec.value }),
        read: spec.read ?? 'ends',
      };
      rows.push({ label, params, contestants });
    }
    return chosen(setting, rows);
  },
};
