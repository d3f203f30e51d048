// The messages of programs that are not busy: after a rest, and the first ones of all.
import { type Contestant, type RowPlan, type Scenario, type Setting, sized } from '../contest.ts';
import { isolated, isolatedEachRound } from '../isolate.ts';
import { firstRoundTrips } from '../sessions-first.ts';
import type { Wait } from '../subject.ts';
import { presentThreadSubjects } from '../subjects/list.ts';
import { chosen, specOfValue } from './common.ts';
import { trippers, waitLabel } from './round-trip.ts';

/** Near relatives of these would take their time and answer the same question. */
const LEFT_OUT: ReadonlySet<string> = new Set(['native-port:json', 'broadcast-channel', 'birpc', 'piscina']);

/** Who blocks on both sides is in no hurry to be woken by a timer, and has no native way to compare with. */
function isAsked(name: string, wait: Wait): boolean {
  return wait !== 'block/block' && !LEFT_OUT.has(name);
}

export const afterRest: Scenario = {
  name: 'after-rest',
  title: 'One round trip after a rest',
  seed: '',
  unit: 'us',
  better: 'lower',
  baseline: 'native-port',
  note: 'A request of about 118 B and its answer, after a rest of so many milliseconds, in which the main thread waits for a timer on its event loop and the worker sleeps in its own way; the rest is not timed. Before the first round traffic flowed without rests until everything was compiled: what is cold is the caches and the threads. The value is the median of a round’s trips, p90 is over the trips of all rounds. The ratio to MessagePort is given for both ways of waiting.',
  pace: (setting) =>
    sized(setting, {
      full: { warmMs: 200, startMs: 600 },
      quick: { warmMs: 60, startMs: 350 },
      smoke: {},
    }),
  rows: async (setting) => {
    const rests = sized(setting, { full: [1, 3, 30], quick: [3], smoke: [1] });
    const flowMs = sized(setting, { full: 400, quick: 200, smoke: 1 });
    const rows: RowPlan[] = [];
    for (const pauseMs of rests) {
      const contestants = await trippers(setting, specOfValue('req118'), { pauseMs, flowMs }, isAsked);
      rows.push({ label: `after ${pauseMs} ms`, params: { restMs: pauseMs, value: 'req118' }, contestants });
    }
    return chosen(setting, rows);
  },
};

const QUICK_OUT = /sab.*:(async|mw)$/;

const JUST_STARTED = 'a program just started';
const RUNNING = 'a new worker of a running program';

async function firstRows(setting: Setting): Promise<RowPlan[]> {
  const count = sized(setting, { full: 1000, quick: 1000, smoke: 20 });
  const spec = specOfValue('req118');
  const { options } = setting;
  const contestants: Contestant[] = [];
  const present = await presentThreadSubjects(setting);
  // Each costs a process a round: in a quick run the other ways of the two doors are left out.
  const asked = sized(setting, {
    full: present,
    quick: present.filter(({ name }) => !QUICK_OUT.test(name)),
    smoke: present,
  });
  for (const subject of asked) {
    for (const wait of subject.waits.filter((one) => isAsked(subject.name, one))) {
      contestants.push(firstRoundTrips({ subject, wait, spec, options, count }, waitLabel(subject, wait, options)));
    }
  }
  const rows = [JUST_STARTED, RUNNING].map((label) => ({ label, params: { parent: label, count }, contestants }));
  return chosen(setting, setting.size === 'smoke' ? rows.slice(1) : rows);
}

export const firstThousand: Scenario = {
  name: 'first-thousand',
  title: 'A worker’s first 1,000 round trips of 118 bytes',
  seed: '',
  unit: 'ms',
  better: 'lower',
  baseline: 'native-port',
  note: 'Milliseconds for 1,000 round trips, one after the other, of a worker that was only just made, and of them the very first. The worker has loaded the contender and opened its channel when the clock starts (see startup and open), and has sent nothing. "A program just started": parent and worker are both in a process that is new in every round. "A running program": the parent has made such trips with other workers before. Nothing is warmed up in the worker, by definition.',
  pace: (setting) =>
    sized(setting, {
      full: { roundMs: 300, startMs: 400, warmMs: 300 },
      quick: { rounds: 3, roundMs: 150, startMs: 150, warmMs: 1 },
      smoke: { rounds: 1, warmMs: 1 },
    }),
  inner: firstRows,
  rows: async (setting) => {
    const rows = await firstRows(setting);
    if (setting.size === 'smoke') return rows;
    return rows.map((row) => ({
      ...row,
      contestants: row.contestants.map((one) => {
        const order = { scenario: 'first-thousand', row: row.label, setting };
        return row.label === JUST_STARTED ? isolatedEachRound(one, order) : isolated(one, order);
      }),
    }));
  },
};
