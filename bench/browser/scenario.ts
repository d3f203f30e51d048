// The scenario `browsers`: the rows that are measured in each engine, by the measuring of measure/. Runs in the page.
import { type Contestant, type Pace, type RowPlan, type Scenario, type Setting, sized } from '../contest.ts';
import type { Absent } from '../schema.ts';
import { payloadNamed } from './measure/payloads.ts';
import { contestant, type Direction } from './measure/sessions.ts';
import type { Place } from './measure/subject.ts';
import { labelOf, subjects, whyAbsent } from './measure/subjects.ts';

interface RowOfPage {
  readonly label: string;
  readonly payload: string;
  readonly direction: Direction;
  readonly place?: Place;
  readonly batch?: number;
  readonly pauseMs?: number;
  /** Beginnings of the names of who has no place in it. */
  readonly without?: RegExp;
}

/** Long enough for any spinning to have ended. */
const PAUSE_MS = 3;
/** Its calls go one way. */
const CALLS = /^comlink/;
/** Doors of ours and the rival's other ways, where one of each says enough. */
const RELATIVES = /^millrace-sab|:mw$/;

/** Labels are what goals.ts knows rows by. */
const ROWS: readonly RowOfPage[] = [
  { label: 'round trip, 118 B object', payload: 'req118', direction: 'round-trip' },
  { label: 'round trip, 118 B text', payload: 'text118', direction: 'round-trip' },
  { label: 'round trip after 3 ms of silence', payload: 'req118', direction: 'round-trip', pauseMs: PAUSE_MS },
  { label: '32 objects there and back at once', payload: 'req118', direction: 'round-trip', batch: 32 },
  { label: 'round trip between two workers', payload: 'req118', direction: 'round-trip', place: 'workers' },
  { label: '500 B objects to a worker', payload: 'obj500', direction: 'to-worker' },
  { label: '500 B objects to the page', payload: 'obj500', direction: 'to-page', without: CALLS },
  { label: '3 MB text delivered, new each time', payload: 'text3m', direction: 'delivery' },
  { label: '3 MB text delivered, the same again', payload: 'text3m-again', direction: 'delivery' },
  // As JSON a block of bytes is not a block of bytes.
  { label: '64 KiB block, round trip', payload: 'block64k', direction: 'round-trip', without: /sab/ },
  { label: '64 KiB blocks to a worker', payload: 'block64k', direction: 'to-worker', without: /sab/ },
];

const NOT_EVERYWHERE: readonly Direction[] = ['to-worker', 'to-page', 'delivery'];

/** Who could not take part in the rows that were planned last. */
export const absentees: Map<string, Absent> = new Map<string, Absent>();

async function contestants(row: RowOfPage, setting: Setting): Promise<Contestant[]> {
  const { direction, place = 'page', batch = 1, pauseMs = 0 } = row;
  const payload = payloadNamed(row.payload);
  const wanted = ({ name }: { readonly name: string }): boolean =>
    (setting.subjects.length === 0 || setting.subjects.some((beginning) => name.startsWith(beginning))) &&
    !row.without?.test(name) &&
    !(NOT_EVERYWHERE.includes(direction) && RELATIVES.test(name));
  const found: Contestant[] = [];
  for (const subject of subjects.filter(wanted)) {
    if (!subject.places.includes(place)) continue;
    const reason = await whyAbsent(subject);
    if (reason === undefined) {
      const label = await labelOf(subject);
      found.push(contestant({ subject, label, place, payload, direction, batch, pauseMs, trips: undefined }));
    } else absentees.set(subject.name, { subject: subject.name, reason });
  }
  return found;
}

export const browsers: Scenario = {
  name: 'browsers',
  title: 'A page and its workers',
  seed: '000',
  unit: 'us',
  better: 'lower',
  baseline: 'native-port',
  note:
    'One load of an isolated page; microseconds for each message or round trip. The first row is the table that sab-message-port gives for Chrome: all ways of waiting stand in one row, as they do there, though a worker that blocks can do nothing else. ' +
    '"Delivered": the worker reads the text and answers with a number. One way: as many messages as 4 MiB have are posted in one go, timed until the last was read. ' +
    'Clocks of pages tick every 5 us in Chromium, every 20 us in Firefox and WebKit: a round times many messages at once, or takes the middle of many.',
  pace: (setting): Partial<Pace> =>
    sized(setting, {
      full: { rounds: 9, roundMs: 120, warmMs: 450 },
      quick: { rounds: 5, roundMs: 40, warmMs: 120 },
      smoke: {},
    }),
  rows: async (setting): Promise<RowPlan[]> => {
    const plans: RowPlan[] = [];
    for (const row of ROWS) {
      const { label, payload, direction, place = 'page', batch = 1, pauseMs = 0 } = row;
      const names = [label, payload, direction, place];
      if (setting.payloads.length > 0 && !setting.payloads.some((name) => names.includes(name))) continue;
      const params = { payload, direction, place, batch, pauseMs };
      plans.push({ label, params, contestants: await contestants(row, setting) });
    }
    return plans.filter((plan) => plan.contestants.length > 0);
  },
};
