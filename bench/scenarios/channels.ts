// What a channel costs before its first message, and what thousands of them cost the one that talks.
import { type RowPlan, type Scenario, type Setting, sized } from '../contest.ts';
import { besideItself, isolated } from '../isolate.ts';
import { opens } from '../sessions-open.ts';
import { manyPorts } from '../sessions-ports.ts';
import { presentThreadSubjects } from '../subjects/list.ts';
import { chosen, specOfValue } from './common.ts';

/** One subject for each kind of channel: how its ends will wait is not known to it yet. */
const OPENERS: readonly string[] = ['native-port', 'millrace-port:loop', 'sab-message-port', 'millrace-sab'];

async function openRows(setting: Setting): Promise<RowPlan[]> {
  const subjects = (await presentThreadSubjects(setting)).filter(({ name }) => OPENERS.includes(name));
  const alone = setting.size !== 'smoke';
  const rows = [false, true].map((handOver) => ({
    label: handOver ? 'one end handed to a worker' : 'both ends in one thread',
    params: { far: handOver ? 'worker' : 'same thread' },
    contestants: subjects.map((subject) => opens({ subject, options: setting.options, handOver, alone })),
  }));
  return chosen(setting, rows);
}

export const open: Scenario = {
  name: 'open',
  title: 'A channel made and opened at both ends, before its first message',
  seed: '',
  unit: 'us',
  better: 'lower',
  baseline: 'native-port',
  note:
    'Microseconds per channel, in batches of 100 that are closed between them. In one thread: until both ends are there and the event loop has turned once, so that nothing is put off unseen. Handed over: made, sent by worker.postMessage, and opened by the worker. "close()" is the time of the calls that end both, or the one end of this thread. ' +
    'Memory is that of 1,000 more channels in a process of their own: the growth of the process, and the heap of JavaScript after a collection (one thread only). Native ports keep theirs outside that heap; shared memory counts as far as it was touched.',
  pace: (setting) =>
    sized(setting, {
      full: { startMs: 700, warmMs: 400 },
      quick: { startMs: 500, warmMs: 150 },
      smoke: {},
    }),
  inner: openRows,
  rows: async (setting) => {
    const rows = await openRows(setting);
    if (setting.size === 'smoke') return rows;
    return rows.map((row) => ({
      ...row,
      contestants: row.contestants.map((one) => isolated(one, { scenario: 'open', row: row.label, setting })),
    }));
  },
};

const ONE_PORT = '1 port';

export const manyPortsScenario: Scenario = {
  name: 'many-ports',
  title: 'A round trip over one of many open channels',
  seed: '',
  unit: 'us',
  better: 'lower',
  baseline: 'native-port',
  note: 'All channels are open to the same worker and listen on both sides; one in the middle talks, the others are idle. Each contender runs in a process of its own; "with 1 port" is the same contender in another process with that one channel only, in the same rounds. Memory is the growth of the process per channel, both ends together; a channel may ask for a smaller buffer than usual when it is told how many there will be.',
  pace: (setting) =>
    sized(setting, { full: { warmMs: 450, startMs: 1500 }, quick: { warmMs: 150, startMs: 700 }, smoke: {} }),
  inner: portRows,
  rows: async (setting) => {
    const rows = await portRows(setting);
    if (setting.size === 'smoke') return rows;
    return rows.map((row) => ({
      ...row,
      contestants: row.contestants.map((one) => {
        const order = { scenario: 'many-ports', row: row.label, setting };
        return row.label === ONE_PORT ? isolated(one, order) : besideItself(one, order, ONE_PORT, 'with 1 port');
      }),
    }));
  },
};

async function portRows(setting: Setting): Promise<RowPlan[]> {
  const counts = sized(setting, { full: [1, 10, 100, 1000, 10_000], quick: [1, 1000], smoke: [1, 10] });
  const spec = specOfValue('req118');
  const subjects = (await presentThreadSubjects(setting)).filter(
    (subject) => subject.waits.includes('loop/loop') && subject.perChannel,
  );
  const rows: RowPlan[] = counts.map((ports) => ({
    label: ports === 1 ? ONE_PORT : `${ports.toLocaleString('en-US')} ports`,
    params: { ports },
    contestants: subjects.map((subject) => manyPorts({ subject, spec, options: setting.options, ports })),
  }));
  return chosen(setting, rows);
}
