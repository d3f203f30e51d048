// Who takes part between threads. A worker loads only the file of the contender that it serves.

import type { Setting } from '../contest.ts';
import type { Absent } from '../schema.ts';
import type { ThreadSubject } from '../subject.ts';

interface Family {
  readonly subjects: readonly ThreadSubject[];
}

const FAMILIES: Readonly<Record<string, () => Promise<Family>>> = {
  'native-port': () => import('./native-port.ts'),
  'native-doorbell': () => import('./native-doorbell.ts'),
  'worker-post': () => import('./worker-post.ts'),
  'broadcast-channel': () => import('./broadcast-channel.ts'),
  'millrace-port': () => import('./millrace-port.ts'),
  'millrace-ring': () => import('./millrace-ring.ts'),
  ringbuf: () => import('./ringbuf.ts'),
  comlink: () => import('./comlink.ts'),
  birpc: () => import('./birpc.ts'),
  piscina: () => import('./piscina.ts'),
  'sab-message-port': () => import('./sab-message-port.ts'),
  'nxtedition-shared': () => import('./nxtedition-shared.ts'),
  'millrace-sab': () => import('./sab-message-port.ts'),
  'millrace-shared': () => import('./nxtedition-shared.ts'),
};

/** Names for `--subjects` that take a whole family. */
export const threadFamilies: readonly string[] = Object.keys(FAMILIES);

/** The contender with this full name. */
export async function threadSubject(name: string): Promise<ThreadSubject> {
  const family = await FAMILIES[name.split(':')[0]!]?.();
  const found = family?.subjects.find((subject) => subject.name === name);
  if (!found) throw new Error(`there is no contender called ${name}`);
  return found;
}

export async function allThreadSubjects(): Promise<ThreadSubject[]> {
  // Two doors of ours live in the files of the packages whose names they carry.
  const families = new Set(await Promise.all(Object.values(FAMILIES).map((load) => load())));
  return [...families].flatMap((family) => family.subjects);
}

/** Contenders that could not take part, found out while rows were planned. */
export const absentees: Map<string, Absent> = new Map<string, Absent>();

/** All contenders between threads that are present and were asked for. */
export async function presentThreadSubjects(setting: Setting): Promise<ThreadSubject[]> {
  const present: ThreadSubject[] = [];
  for (const subject of await allThreadSubjects()) {
    if (!isWanted(setting, subject.name) || !belongs(setting, subject)) continue;
    const missing = await subject.absent?.(setting.options);
    if (missing) absentees.set(subject.name, { subject: subject.name, ...missing });
    else present.push(subject);
  }
  return present;
}

function belongs({ scenario = '', subjects, size }: Setting, { name, onlyIn, quickIn }: ThreadSubject): boolean {
  const inside = (places: readonly string[] | undefined): boolean =>
    !places || places.some((start) => scenario.startsWith(start));
  return subjects.includes(name) || (inside(onlyIn) && (size === 'full' || inside(quickIn)));
}

/** Whether `subject` was asked for: by its name, or by the part before a colon or a hyphen. */
export function isWanted(setting: Setting, subject: string): boolean {
  return (
    setting.subjects.length === 0 ||
    setting.subjects.some(
      (name) => subject === name || subject.startsWith(`${name}:`) || subject.startsWith(`${name}-`),
    )
  );
}
