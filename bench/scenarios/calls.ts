// Functions of a worker, called.
import type { Ability, CallSubject } from '../call-subject.ts';
import { type Contestant, type RowPlan, type Scenario, type Setting, sized } from '../contest.ts';
import {
  adding,
  blocking,
  calling,
  callingBack,
  echoing,
  firstCalls,
  reading,
  rested,
  tasking,
} from '../sessions-calls.ts';
import { presentCallSubjects } from '../subjects/call-list.ts';
import { POOL_THREADS } from '../subjects/calls-pools.ts';
import { chosen } from './common.ts';

const UNDER = 100;
const TIMES = 100;

async function row(
  setting: Setting,
  ability: Ability,
  label: string,
  params: RowPlan['params'],
  make: (subject: CallSubject) => Contestant,
): Promise<RowPlan> {
  return { label, params, contestants: (await presentCallSubjects(setting, ability)).map(make) };
}

async function rows(setting: Setting): Promise<RowPlan[]> {
  const first = sized(setting, { full: 1000, quick: 1000, smoke: 20 });
  const flowMs = sized(setting, { full: 400, quick: 200, smoke: 1 });
  const calls = (under: number): string => (under === 1 ? 'one at a time' : `${under} in flight`);
  const add = (under: number): Promise<RowPlan> =>
    row(setting, 'add', calls(under), { under }, (subject) =>
      calling(subject, { work: adding(under), perSecond: 'calls a second' }),
    );
  return chosen(setting, [
    await add(UNDER),
    await row(setting, 'echo', `${UNDER} in flight, object of 118 B`, { under: UNDER, value: 'req118' }, (subject) =>
      calling(subject, { work: echoing(UNDER), perSecond: 'calls a second' }),
    ),
    await add(1),
    await row(setting, 'add', 'one after 3 ms of rest', { restMs: 3 }, (subject) => rested(subject, 3, flowMs)),
    await row(
      setting,
      'add',
      `the first ${first === 1000 ? 'thousand' : first} of a new worker`,
      { first },
      (subject) => firstCalls(subject, first),
    ),
    await row(setting, 'items', 'items of a generator', { what: 'items' }, (subject) =>
      calling(subject, { work: reading, perSecond: 'items a second' }),
    ),
    await row(setting, 'callBack', `a call that calls back ${TIMES} times`, { times: TIMES }, (subject) =>
      calling(subject, { work: callingBack(TIMES), step: TIMES, perSecond: 'callbacks a second' }),
    ),
  ]);
}

const pace = (setting: Setting): ReturnType<NonNullable<Scenario['pace']>> =>
  sized(setting, { full: { warmMs: 900, startMs: 400 }, quick: { warmMs: 600, startMs: 300 }, smoke: {} });

export const callsScenario: Scenario = {
  name: 'calls',
  title: 'Calls of functions of a worker',
  seed: '',
  unit: 'us',
  better: 'lower',
  baseline: 'calls-comlink',
  note:
    'Microseconds each: of a call, of an item, of a callback. Two numbers there and their sum back, where no other value is named. "In flight": so many loops, each of which awaits its call before it makes the next. "After rest": the median of a round’s calls, after 3 ms in which the caller waited for a timer; p90 is over the calls of all rounds. "The first": of a worker that has loaded the contender and has its channel open when the clock starts, called by a thread that has called others before. ' +
    'Items are read one by one with for await; a callback is called when the one before is answered.',
  pace,
  rows,
};

export const callsBlocking: Scenario = {
  name: 'calls-blocking',
  title: 'Calls with the calling thread blocked',
  seed: '',
  unit: 'us',
  better: 'lower',
  baseline: 'synckit',
  note: 'Microseconds a call, two numbers there and their sum back. The caller blocks until it is answered, and makes the next one; the worker is on its event loop, and is not asleep for long.',
  pace,
  rows: async (setting) =>
    chosen(setting, [
      await row(setting, 'addBlocked', 'one after the other', { under: 1 }, (subject) =>
        calling(subject, { work: blocking, perSecond: 'calls a second' }),
      ),
    ]),
};

export const callsPool: Scenario = {
  name: 'calls-pool',
  title: 'Empty tasks of a pool',
  seed: '',
  unit: 'us',
  better: 'lower',
  baseline: 'pool-piscina',
  note: `Microseconds a task that does nothing, in a pool of ${POOL_THREADS} threads with ${UNDER} tasks under way: so many loops, each of which awaits its task before it gives the next.`,
  pace,
  rows: async (setting) =>
    chosen(setting, [
      await row(setting, 'task', `${UNDER} under way`, { under: UNDER }, (subject) =>
        calling(subject, { work: tasking(UNDER), perSecond: 'tasks a second' }),
      ),
    ]),
};
