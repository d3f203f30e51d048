// Who takes part between processes.
import type { Setting } from '../contest.ts';
import type { ProcessSubject } from '../process-subject.ts';
import { absentees, isWanted } from './list.ts';

interface Family {
  readonly subjects: readonly ProcessSubject[];
}

const FAMILIES: Readonly<Record<string, () => Promise<Family>>> = {
  'child-process-send': () => import('./child-process-send.ts'),
  cluster: () => import('./child-process-send.ts'),
  'unix-json': () => import('./sockets.ts'),
  'unix-opt': () => import('./sockets.ts'),
  'tcp-json': () => import('./sockets.ts'),
  'unix-binary': () => import('./framed-sockets.ts'),
  'millrace-process': () => import('./millrace-process.ts'),
  'millrace-process-ring': () => import('./millrace-process-ring.ts'),
  'bun-ipc': () => import('./bun-ipc.ts'),
  'ws-json': () => import('./web-sockets.ts'),
  'millrace-net': () => import('./millrace-net.ts'),
  redis: () => import('./redis.ts'),
  nats: () => import('./nats.ts'),
  'millrace-hub': () => import('./millrace-engines.ts'),
  'millrace-nats': () => import('./millrace-engines.ts'),
  'millrace-redis': () => import('./millrace-engines.ts'),
  zeromq: () => import('./zeromq.ts'),
};

/** Names for `--subjects` that take a whole family. */
export const processFamilies: readonly string[] = Object.keys(FAMILIES);

export async function processSubject(name: string): Promise<ProcessSubject> {
  const family = await FAMILIES[name.split(':')[0]!]?.();
  const found = family?.subjects.find((subject) => subject.name === name);
  if (!found) throw new Error(`there is no contender called ${name}`);
  return found;
}

/** All contenders between processes. */
export async function allProcessSubjects(): Promise<ProcessSubject[]> {
  const families = new Set(await Promise.all(Object.values(FAMILIES).map((load) => load())));
  return [...families].flatMap((family) => family.subjects);
}

export async function presentProcessSubjects(setting: Setting): Promise<ProcessSubject[]> {
  const present: ProcessSubject[] = [];
  for (const subject of await allProcessSubjects()) {
    if (!isWanted(setting, subject.name)) continue;
    const missing = await subject.absent?.();
    if (missing) absentees.set(subject.name, { subject: subject.name, ...missing });
    else present.push(subject);
  }
  return present;
}

/** Those that reach other machines, and are not told from each other by what only one machine has. */
const NETWORK: readonly string[] = [
  'tcp-json',
  'ws-json',
  'millrace-net',
  'millrace-hub',
  'nats',
  'millrace-nats',
  'redis',
  'millrace-redis',
];

export function isNetwork({ name }: ProcessSubject): boolean {
  return NETWORK.includes(name.split(':')[0]!) || NETWORK.includes(name);
}
