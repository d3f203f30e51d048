// Calls of the system that fail when a test says so, as they do where there is no descriptor, no memory or no room. The primitives of this thread are one
// object, which the library calls by its names.
import { constants } from 'node:os';
import type { Primitives } from '../../src/native/primitives.ts';
import { native } from './native.ts';

type Name = keyof Primitives;
type Call = (...values: unknown[]) => unknown;

export type Fault =
  | ('createMemory' | 'map' | 'createBell' | 'watch' | 'listen' | 'accept' | 'connect')
  | ('socketPair' | 'send' | 'receive' | 'duplicate');

/** What the system may say to each, for want of something. */
const CODES: Readonly<Record<Fault, string>> = {
  createMemory: 'EMFILE',
  map: 'ENOMEM',
  createBell: 'EMFILE',
  watch: 'EMFILE',
  listen: 'EMFILE',
  accept: 'EMFILE',
  connect: 'EMFILE',
  socketPair: 'EMFILE',
  send: 'ETOOMANYREFS',
  receive: 'EMFILE',
  duplicate: 'EMFILE',
};
export const FAULTS: readonly Fault[] = Object.keys(CODES) as Fault[];

function failure(name: string, code: string): Error {
  const errno = constants.errno[code as keyof typeof constants.errno] ?? 0;
  return Object.assign(new Error(`${code}: not today, ${name}`), { code, errno, syscall: name });
}

/**
 * Runs `body` while `instead` stands in the place of each of these calls. What it returns is the answer; it is given the call itself.
 */
export async function withCalls<T>(
  names: readonly Name[],
  instead: (name: Name, call: Call, values: unknown[]) => unknown,
  body: () => Promise<T>,
): Promise<T> {
  const calls = native as unknown as Record<string, Call>;
  const real = names.map((name) => [name, calls[name] as Call] as const);
  for (const [name, call] of real) calls[name] = (...values) => instead(name, (...all) => call(...all), values);
  try {
    return await body();
  } finally {
    for (const [name, call] of real) calls[name] = call;
  }
}

/** Runs `body`, in which of these calls that with number `nth` fails; how many there were, and which it was. */
export async function failingAt(
  nth: number,
  names: readonly Fault[],
  body: () => Promise<unknown>,
): Promise<{ count: number; failed: string }> {
  let count = 0;
  let failed = 'nothing';
  await withCalls(
    names,
    (name, call, values) => {
      if (++count !== nth) return call(...values);
      failed = name;
      throw failure(name, CODES[name as Fault]);
    },
    body,
  );
  return { count, failed };
}
