// What a contender costs a thread that is only just made, and a program that makes many.
import { type Contestant, type RowPlan, type Scenario, type Setting, sized } from '../contest.ts';
import { doorNames, doorUrl } from '../doors.ts';
import { type Imports, starts } from '../sessions-startup.ts';
import { lives } from '../sessions-workers.ts';
import { labelOf } from '../subject.ts';
import { isWanted, presentThreadSubjects } from '../subjects/list.ts';
import { chosen } from './common.ts';

/** Who replaces whom, one subject for each package: its variants import the same. */
const ROWS: Readonly<Record<string, readonly string[]>> = {
  'a port': ['native-port', 'millrace-port:mixed', 'comlink', 'birpc'],
  'a port for workers that block': ['sab-message-port', 'millrace-sab'],
  'a ring': ['millrace-ring', 'millrace-shared', 'nxtedition-shared', 'ringbuf'],
};

/** By what a worker imports, where the contender's label says how it is used afterwards. */
const LABELS: Readonly<Record<string, string>> = {
  'native-port': 'MessagePort: nothing to import',
  'millrace-port': 'millrace',
  'millrace-ring': 'millrace/ring',
  'millrace-sab': 'millrace/compat/sab-message-port',
  'sab-message-port': 'sab-message-port',
  comlink: 'Comlink and its adapter for Node',
  birpc: 'birpc',
};

const EMPTY: Imports = { subject: 'limit-empty-worker', label: 'an empty worker', urls: () => [] };

function nameOf(subject: string): string {
  return subject.split(':')[0]!;
}

/** A door for one codec only, once the package has it. */
function lean(setting: Setting): Contestant[] {
  if (!doorNames.includes('./lean') || !isWanted(setting, 'millrace-lean')) return [];
  return [starts({ subject: 'millrace-lean', label: 'millrace/lean', urls: () => [doorUrl('./lean')] })];
}

async function startupRows(setting: Setting): Promise<RowPlan[]> {
  const present = await presentThreadSubjects(setting);
  const rows = Object.entries(ROWS).map(([label, names]): RowPlan => {
    const contestants = present
      .filter((subject) => names.includes(subject.name))
      .map((subject) => {
        const name = nameOf(subject.name);
        const { options } = setting;
        const suffix = subject.standIn?.(options) ? ' (stand-in)' : '';
        const shown = LABELS[name] === undefined ? labelOf(subject, options) : LABELS[name] + suffix;
        return starts({ subject: name, label: shown, urls: () => subject.imports!(options) });
      });
    if (names.includes('millrace-port:mixed')) contestants.push(...lean(setting));
    if (contestants.length > 0 && isWanted(setting, EMPTY.subject)) contestants.push(starts(EMPTY));
    return { label, params: {}, contestants };
  });
  return chosen(setting, rows);
}

export const startup: Scenario = {
  name: 'startup',
  title: 'From `new Worker` to its first message, for a worker that imports a contender',
  seed: '',
  unit: 'ms',
  better: 'lower',
  baseline: 'limit-empty-worker',
  note:
    'The worker imports the contender and says its first word by parentPort.postMessage; the clock stops when the parent hears it. Beside each start an empty worker of the same runtime is started, just before or just after: "on top" is the median of the differences over all rounds, with its quartiles; "CPU on top" likewise, until the worker has ended. ' +
    'Doors are the files that package.json names. No sample is warm: each worker is new, only the files are in the system’s cache.',
  pace: (setting) =>
    sized(setting, {
      full: { roundMs: 250, warmMs: 0 },
      quick: { roundMs: 60, warmMs: 0 },
      smoke: { rounds: 1, warmMs: 0 },
    }),
  rows: startupRows,
};

const LIVES: readonly string[] = ['worker-post', 'millrace-port:mixed', 'sab-message-port', 'millrace-sab'];

export const workers50: Scenario = {
  name: 'workers-50',
  title: 'Workers made, written to once and ended',
  seed: '',
  unit: 'ms',
  better: 'lower',
  baseline: 'worker-post',
  note: 'Milliseconds until the last worker has ended. Each reads one object of about 118 B through a channel of its own, tells its parent the id by parentPort, closes and returns; with worker.postMessage there is nothing to import and nothing to open. "At once": all are made before the first has ended, which is more than this machine has cores. No sample is warm.',
  pace: (setting) =>
    sized(setting, {
      full: { rounds: 4, roundMs: 1800, warmMs: 0 },
      quick: { rounds: 3, roundMs: 400, warmMs: 0 },
      smoke: { rounds: 1, roundMs: 60, warmMs: 0 },
    }),
  rows: async (setting) => {
    const count = sized(setting, { full: 50, quick: 10, smoke: 2 });
    const ways = sized(setting, { full: [true, false], quick: [true], smoke: [true] });
    const subjects = (await presentThreadSubjects(setting)).filter(({ name }) => LIVES.includes(name));
    const rows: RowPlan[] = ways.map((atOnce) => ({
      label: `${count} workers, ${atOnce ? 'at once' : 'one after the other'}`,
      params: { workers: count, made: atOnce ? 'at once' : 'in turn' },
      contestants: subjects.map((subject) => {
        const { options } = setting;
        const life = async () => subject.life!(options);
        return lives({ subject: subject.name, label: labelOf(subject, options), count, atOnce, life });
      }),
    }));
    return chosen(setting, rows);
  },
};
