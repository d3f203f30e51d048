// Messages of worker processes that are not busy: after a rest, the first ones of all, those of one channel of many.
import { type Contestant, type RowPlan, type Scenario, type Setting, sized } from '../contest.ts';
import type { ProcessSubject } from '../process-subject.ts';
import { firstRequests, overOneOfMany, rested } from '../sessions-process-cold.ts';
import { presentProcessSubjects } from '../subjects/process-list.ts';
import { chosen } from './common.ts';

/** Each costs a process a row or a round: near relatives of these would answer the same question. */
const ASKED: ReadonlySet<string> = new Set([
  'child-process-send',
  'unix-json',
  'unix-opt',
  'bun-ipc',
  'millrace-process:memory',
  'millrace-process:memory-parked',
  'millrace-process:unix',
  'tcp-json',
  'ws-json',
  'millrace-net:ws',
  'millrace-net:tcp',
  'redis',
  'millrace-redis:topic',
  'nats:request',
  'millrace-nats:topic',
]);

/** Enough to see that the frame works: the load of the article tries all of them. */
const IN_SMOKE: ReadonlySet<string> = new Set(['unix-json', 'millrace-process:memory', 'millrace-process:unix']);

async function asked(setting: Setting): Promise<readonly ProcessSubject[]> {
  const names = sized(setting, { full: ASKED, quick: ASKED, smoke: IN_SMOKE });
  return (await presentProcessSubjects(setting)).filter(({ name }) => names.has(name));
}

export const processAfterRest: Scenario = {
  name: 'process-after-rest',
  title: 'One round trip to another process after a rest',
  seed: '',
  unit: 'us',
  better: 'lower',
  baseline: 'child-process-send',
  note: 'A request of a worker process with 100 characters and its answer, after a rest of so many milliseconds, in which the worker waits for a timer and the master sleeps; the rest is not timed. Traffic flowed before the first round: what is cold is the caches and the processes. The value is the median of a round’s trips, p90 is over those of all rounds.',
  pace: (setting) =>
    sized(setting, {
      full: { warmMs: 200, startMs: 900 },
      quick: { warmMs: 60, startMs: 500 },
      smoke: { rounds: 1 },
    }),
  rows: async (setting) => {
    const rests = sized(setting, { full: [1, 3, 30], quick: [3], smoke: [1] });
    const flowMs = sized(setting, { full: 400, quick: 200, smoke: 1 });
    const subjects = await asked(setting);
    const rows: RowPlan[] = rests.map((restMs) => ({
      label: `after ${restMs} ms`,
      params: { restMs },
      contestants: subjects.map((subject) => rested(subject, restMs, flowMs)),
    }));
    return chosen(setting, rows);
  },
};

export const processFirstThousand: Scenario = {
  name: 'process-first-thousand',
  title: 'A worker process’s first 1,000 round trips',
  seed: '',
  unit: 'ms',
  better: 'lower',
  baseline: 'child-process-send',
  note: 'Milliseconds for 1,000 requests with 100 characters, one after the other, of a worker process that was only just made, and of them the very first. It has loaded the contender and met its master when the clock starts, and has sent nothing. The master has answered workers before.',
  pace: (setting) =>
    sized(setting, {
      full: { roundMs: 350, warmMs: 500, startMs: 300 },
      quick: { rounds: 3, roundMs: 250, warmMs: 1, startMs: 250 },
      smoke: { rounds: 1, warmMs: 1 },
    }),
  rows: async (setting) => {
    const trips = sized(setting, { full: 1000, quick: 1000, smoke: 10 });
    const contestants = (await asked(setting)).map((subject) => firstRequests(subject, trips));
    return chosen(setting, [{ label: 'a new worker of a running master', params: { trips }, contestants }]);
  },
};

export const processChannels: Scenario = {
  name: 'process-channels',
  title: 'A round trip to another process over one of many channels',
  seed: '',
  unit: 'us',
  better: 'lower',
  baseline: 'unix-json',
  note: 'Microseconds of a request with 100 characters, one after the other, over one channel in the middle; the others are open to the same process and idle. Ours are channels of one connection, of 16 KiB a direction; sockets are one each.',
  pace: (setting) =>
    sized(setting, {
      full: { warmMs: 400, startMs: 2500 },
      quick: { warmMs: 150, startMs: 1000 },
      smoke: { rounds: 1 },
    }),
  rows: async (setting) => {
    const counts = sized(setting, { full: [1, 10, 100, 1000], quick: [1, 100], smoke: [3] });
    const subjects = (await asked(setting)).filter(({ joinMany }) => joinMany !== undefined);
    const rows: RowPlan[] = counts.map((channels) => ({
      label: channels === 1 ? '1 channel' : `${channels.toLocaleString('en-US')} channels`,
      params: { channels },
      contestants: subjects.map((subject): Contestant => overOneOfMany(subject, channels)),
    }));
    return chosen(setting, rows);
  },
};
