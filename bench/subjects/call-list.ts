// Who takes part in calls. A worker loads only the file of the contender that it serves.
import type { Ability, CallSubject } from '../call-subject.ts';
import type { Setting } from '../contest.ts';
import { absentees, isWanted } from './list.ts';

interface Family {
  readonly subjects: readonly CallSubject[];
}

const FAMILIES: Readonly<Record<string, () => Promise<Family>>> = {
  'millrace-rpc': () => import('./calls-millrace.ts'),
  'calls-comlink': () => import('./calls-comlink.ts'),
  'millrace-comlink': () => import('./calls-comlink.ts'),
  'calls-birpc': () => import('./calls-birpc.ts'),
  'calls-capnweb': () => import('./calls-capnweb.ts'),
  'calls-by-hand': () => import('./calls-by-hand.ts'),
  'native-stream': () => import('./native-stream.ts'),
  synckit: () => import('./synckit.ts'),
  'sync-message-port': () => import('./sync-message-port.ts'),
  'pool-piscina': () => import('./calls-pools.ts'),
  'pool-tinypool': () => import('./calls-pools.ts'),
};

/** Names for `--subjects` that take a whole family. */
export const callFamilies: readonly string[] = Object.keys(FAMILIES);

export async function callSubject(name: string): Promise<CallSubject> {
  const family = await FAMILIES[name.split(':')[0]!]?.();
  const found = family?.subjects.find((subject) => subject.name === name);
  if (!found) throw new Error(`there is no contender called ${name}`);
  return found;
}

export async function allCallSubjects(): Promise<CallSubject[]> {
  const families = new Set(await Promise.all(Object.values(FAMILIES).map((load) => load())));
  return [...families].flatMap((family) => family.subjects);
}

/** Those who can do this, are here and were asked for. */
export async function presentCallSubjects(setting: Setting, ability: Ability): Promise<CallSubject[]> {
  const present: CallSubject[] = [];
  for (const subject of await allCallSubjects()) {
    if (!isWanted(setting, subject.name) || !subject.can.includes(ability)) continue;
    if (subject.fullOnly === true && setting.size !== 'full' && !setting.subjects.includes(subject.name)) continue;
    const missing = await subject.absent?.();
    if (missing) absentees.set(subject.name, { subject: subject.name, ...missing });
    else present.push(subject);
  }
  return present;
}
