import {
  type BenchOptions,
  type Contestant,
  type Pace,
  type RowPlan,
  type Scenario,
  type Setting,
  sized,
} from '../contest.ts';
import type { LoadSpec } from '../loads.ts';
import { limitTrips } from '../native/limits.ts';
import { trips } from '../sessions.ts';
import { labelOf, type ThreadSubject, type Wait } from '../subject.ts';
import { presentThreadSubjects } from '../subjects/list.ts';
import { WAIT_NAMES } from '../wait.ts';
import { chosen, specOfValue } from './common.ts';

/** Loops that wait for each other are compiled late. */
export function tripPace(setting: Setting): Partial<Pace> {
  return sized(setting, { full: { warmMs: 450 }, quick: { warmMs: 200 }, smoke: {} });
}

/** The contender's label, with its way of waiting where that is not its name already. */
export function waitLabel(subject: ThreadSubject, wait: Wait, options: BenchOptions): string {
  const label = labelOf(subject, options);
  return label.includes(WAIT_NAMES[wait]) ? label : `${label}: ${WAIT_NAMES[wait]}`;
}

/** Long enough for any spinning to have ended, so that the reader is really asleep. */
const PAUSE_MS = 3;

export async function trippers(
  setting: Setting,
  spec: LoadSpec,
  more: { pauseMs?: number; burst?: number; flowMs?: number } = {},
  wanted: (name: string, wait: Wait) => boolean = () => true,
): Promise<Contestant[]> {
  const contestants: Contestant[] = [];
  for (const subject of await presentThreadSubjects(setting)) {
    for (const wait of subject.waits.filter((one) => wanted(subject.name, one))) {
      const label = waitLabel(subject, wait, setting.options);
      contestants.push(trips({ subject, wait, spec, options: setting.options, ...more }, label));
    }
  }
  return contestants;
}

export const roundTrip: Scenario = {
  name: 'round-trip',
  title: 'Round trip of a small object between main thread and worker',
  seed: '',
  unit: 'us',
  better: 'lower',
  baseline: 'native-port',
  note:
    'A request of about 118 bytes as JSON goes to the worker and comes back as an object; the next one starts then. "Traffic flowing": no pause in between, so that a short spin or poll finds the answer. ' +
    `"Reader parked": ${PAUSE_MS} ms of silence before each, so that everybody sleeps; timed without the pause. "Event loops": both sides return to theirs; "worker blocks": it sits in a blocking read, the main thread is on its event loop; "both block": neither returns to its loop. The CPU column says what the speed costs.`,
  pace: tripPace,
  rows: async (setting) => {
    const spec = specOfValue('req118');
    const rows: RowPlan[] = [
      {
        label: 'traffic flowing',
        params: { value: 'req118' },
        contestants: [...(await trippers(setting, spec)), ...limitTrips(setting)],
      },
    ];
    if (sized(setting, { full: true, quick: true, smoke: false })) {
      const contestants = await trippers(setting, spec, { pauseMs: PAUSE_MS });
      rows.push({ label: 'reader parked', params: { value: 'req118', pauseMs: PAUSE_MS }, contestants });
    }
    return chosen(setting, rows);
  },
};
