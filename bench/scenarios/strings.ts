// Strings: the table of seed 002, and the cases that it leaves open (strings that are new, strings inside objects).
import { type RowPlan, type Scenario, type Setting, sized } from '../contest.ts';
import { isolated } from '../isolate.ts';
import type { LoadSpec } from '../loads.ts';
import type { Gauge } from '../sessions.ts';
import { posts } from '../sessions-strings.ts';
import { presentThreadSubjects } from '../subjects/list.ts';
import { chosen, streamers, streamWaitOf } from './common.ts';

const BUN_SIZES: readonly (readonly [string, number])[] = [
  ['11 chars', 11],
  ['14 KB', 14 * 1024],
  ['3 MB', 3 * 1000 * 1000],
];

async function bunRows(setting: Setting): Promise<RowPlan[]> {
  const rows: RowPlan[] = [];
  const subjects = (await presentThreadSubjects(setting)).filter((subject) => subject.forms.includes('string'));
  for (const [label, size] of sized(setting, {
    full: BUN_SIZES,
    quick: [BUN_SIZES[0]!, BUN_SIZES[2]!],
    smoke: BUN_SIZES.slice(0, 2),
  })) {
    const spec: LoadSpec = { form: 'string', size, distinct: 1 };
    const contestants = subjects.map((subject) =>
      posts({ subject, wait: streamWaitOf(subject), spec, options: setting.options }),
    );
    rows.push({ label, params: { size }, contestants });
  }
  return chosen(setting, rows);
}

export const bunStrings: Scenario = {
  name: 'bun-strings',
  title: 'postMessage(string): the cost of the call, of delivery, and the peak memory',
  seed: '002',
  unit: 'ns',
  better: 'lower',
  baseline: 'native-port',
  note:
    'The same string is sent again and again, as in the seed, in bursts of up to 64; the number is the time of the sending call, "delivered" the time until the worker has read length and both ends, divided by the burst. ' +
    'Each contender runs in a process of its own, whose peak resident memory is given. A contender that hands over in batches is timed until its batch is handed over.',
  pace: (setting) => sized(setting, { full: { roundMs: 80, startMs: 300 }, quick: { startMs: 300 }, smoke: {} }),
  inner: bunRows,
  rows: async (setting) => {
    const rows = await bunRows(setting);
    if (setting.size === 'smoke') return rows;
    return rows.map((row) => ({
      ...row,
      contestants: row.contestants.map((one) => isolated(one, { scenario: 'bun-strings', row: row.label, setting })),
    }));
  },
};

const nanosecondsEach: Gauge = (count, seconds) => (seconds * 1e9) / count;

export const strings: Scenario = {
  name: 'strings',
  title: 'Strings of all sizes, repeated and new, bare and inside an object',
  seed: '',
  unit: 'ns',
  better: 'lower',
  baseline: 'native-port',
  note: 'Time per message until the worker has it. "Repeated": 64 different strings in turn, so a contender that remembers strings may. "New": no string is ever sent twice. "In an object": { id, from, text }, object in, object out.',
  rows: async (setting) => {
    const sizes = sized(setting, { full: [4096, 65536, 1 << 20], quick: [4096], smoke: [256] });
    const rows: RowPlan[] = [];
    for (const size of sizes) {
      const specs: [string, LoadSpec][] = [
        [`${size} characters, repeated`, { form: 'string', size }],
        [`${size} characters, new`, { form: 'string', size, fresh: true }],
        [`${size} characters, new, in an object`, { form: 'object', value: 'text', size, fresh: true }],
      ];
      for (const [label, spec] of specs) {
        const contestants = await streamers(setting, spec, nanosecondsEach);
        const params = { size, form: spec.form, repeated: spec.fresh ? 'no' : 'yes' };
        rows.push({ label, params, contestants });
      }
    }
    return chosen(setting, rows);
  },
};
