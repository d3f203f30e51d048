// The fault matrix between threads (G4, G5): a peer ends in each way there is, at a random moment of each thing it may be
// doing, while the survivor waits on its event loop or blocked. Whatever the peer had committed arrives, every waiter is
// settled with a reason, and nobody hangs.
import assert from 'node:assert/strict';
import { ClosedError, type CloseReason, channel, type Port, spawn, transferOf } from '../../src/index.ts';
import type { Random } from '../kit/prng.ts';
import { spawnThread, startThread, type TestThread } from '../kit/thread.ts';
import { STEP_MS, until, within } from '../kit/watchdog.ts';
import { runtimeKind } from '../runtimes/program.ts';
import { blockedSurvivor, relayed, victim } from './fault-roles.ts';

export type End = 'terminate' | 'exit' | 'throw' | 'return' | 'close';
export type Activity = 'sending' | 'large' | 'corked' | 'moving' | 'receiving' | 'parked' | 'busy';

// What stands in the gates that a thread shares with the test.
/** Messages that the peer has committed. */
export const COMMITTED = 0;
/** Open once it does what it is to be doing. */
export const READY = 1;
/** When it ended by itself: microseconds of `now()`. */
export const ENDED_AT = 2;
/** Opened by the test when the case is over. */
export const OVER = 3;

export interface Fault {
  readonly end: End;
  readonly activity: Activity;
  /** Messages after which it ends. */
  readonly after: number;
  /** Whether the peer was started by `spawn`, which watches it, or by the runtime's own Worker. */
  readonly spawned: boolean;
  readonly survivor: 'loop' | 'receive' | 'send';
}

const EXPECTED: Readonly<Record<End, CloseReason>> = {
  terminate: 'terminated',
  exit: 'exit',
  throw: 'crash',
  return: 'exit',
  close: 'closed',
};

const zero: number = performance.timeOrigin + performance.now();
/** Milliseconds, the same in all threads (given `zero`). */
const now = (): number => performance.timeOrigin + performance.now() - zero;

/** What keeps the other side of a channel busy. */
const TRAFFIC: readonly Activity[] = ['sending', 'large', 'corked', 'moving', 'receiving'];

/** Whether this runtime gives a survivor any sign at all. */
export function possible({ end, activity, spawned, survivor }: Fault): boolean {
  if (end !== 'terminate' || runtimeKind === 'node') return true;
  // On Deno terminate() does not stop a thread that is computing or blocked: it goes on. To a thread that blocks on it
  // and never has to wait long, one that goes on sending or receiving is alive for as long as it does.
  if (runtimeKind === 'deno' && survivor !== 'loop' && TRAFFIC.includes(activity)) return false;
  if (spawned) return true;
  // A blocked thread cannot ask the native port whether its other side is gone.
  if (survivor !== 'loop') return false;
  return runtimeKind !== 'deno' || activity === 'parked';
}

export function drawFault(random: Random): Fault {
  for (;;) {
    const fault: Fault = {
      end: random.pick(['terminate', 'terminate', 'exit', 'throw', 'return', 'close'] as const),
      activity: random.pick(['sending', 'large', 'corked', 'moving', 'receiving', 'parked', 'busy'] as const),
      after: 1 + random.skewed(200),
      spawned: random.chance(0.5),
      survivor: random.pick(['loop', 'loop', 'receive', 'send'] as const),
    };
    if (possible(fault)) return fault;
  }
}

interface Outcome {
  readonly read: readonly unknown[];
  readonly reason: unknown;
  readonly noticed: number;
}
interface Played {
  readonly outcome: Outcome;
  readonly ended: Ended;
  readonly peer: TestThread;
}
/** When the peer ended, and what it had committed by then. */
interface Ended {
  readonly at: number;
  readonly committed: number;
}

/** Plays one fault. Returns the milliseconds from the peer's end to the survivor's knowing. */
export async function playFault(fault: Fault, random: Random): Promise<number> {
  const play = fault.survivor === 'loop' ? withEventLoop : withBlocked;
  const { outcome, ended, peer } = await play(fault, random);
  assert.equal(outcome.reason, EXPECTED[fault.end]);
  const values = outcome.read.map((value) => Number.parseInt(String(value), 10));
  const { committed } = ended;
  assert.deepEqual(values, [...values.keys()], 'in order, without gaps and doubles');
  assert.ok(values.length >= committed, `${values.length} of ${committed} committed messages arrived`);
  peer.gates.open(OVER);
  await peer.kill();
  return outcome.noticed - ended.at;
}

/** Lets the peer get to a random point of what it does, and ends it if it does not end by itself. */
async function endPeer(fault: Fault, peer: TestThread, random: Random): Promise<Ended> {
  await peer.gates.passAsync(READY);
  if (fault.end !== 'terminate') {
    await until('the peer ends', () => peer.gates.get(ENDED_AT) !== 0);
    return { at: peer.gates.get(ENDED_AT) / 1000, committed: peer.gates.get(COMMITTED) };
  }
  for (let turns = random.skewed(20); turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
  const ended = { at: now(), committed: peer.gates.get(COMMITTED) };
  await peer.kill();
  return ended;
}

async function withEventLoop(fault: Fault, random: Random): Promise<Played> {
  const options = { capacityBytes: 1024 };
  const data = { ...fault, zero };
  let port: Port;
  let peer: TestThread;
  if (fault.spawned) ({ port, thread: peer } = spawnThread(spawn, victim, options, data));
  else {
    const made = channel(options);
    port = made.port;
    peer = startThread(victim, { data, remote: made.remote });
  }
  const read: unknown[] = [];
  let noticed = 0;
  const reading = (async () => {
    for await (const value of port) read.push(value instanceof ArrayBuffer ? new Int32Array(value)[0] : value);
    noticed = now();
  })();
  // Waiters of every kind: each must be settled one way or the other. The peer may be gone before they have begun.
  const refused = (error: unknown): void => assert.ok(error instanceof ClosedError);
  for (let i = 0; i < 100; i++) port.postMessage('z'.repeat(20));
  const settled = Promise.all([port.closed, port.flush().catch(refused), port.drained().catch(refused)]);
  const ended = await endPeer(fault, peer, random);
  await within('the reader to learn of the end', reading);
  const [reason] = await within('every waiter to be settled', settled);
  port.close();
  return { outcome: { read, reason, noticed }, ended, peer };
}

async function withBlocked(fault: Fault, random: Random): Promise<Played> {
  const data = { ...fault, zero };
  const survivorData = { mode: fault.survivor, zero, limitMs: STEP_MS / 4 };
  let survivor: TestThread;
  let peer: TestThread;
  if (random.chance(0.5)) {
    survivor = startThread(blockedSurvivor, { data: { ...survivorData, creates: true } });
    const remote = await survivor.next();
    if (fault.spawned) {
      // A spawned peer that attaches a handle of somebody else: it comes the native way.
      peer = spawnThread(spawn, relayed(victim), {}, data).thread;
      peer.tell(remote, transferOf(remote));
    } else peer = startThread(victim, { data, remote });
  } else {
    const creating = { ...data, creates: true };
    peer = fault.spawned ? spawnThread(spawn, victim, {}, creating).thread : startThread(victim, { data: creating });
    survivor = startThread(blockedSurvivor, { data: survivorData, remote: await peer.next() });
  }
  await survivor.gates.passAsync(READY);
  const ended = await endPeer(fault, peer, random);
  const outcome = (await survivor.done()) as Outcome & { error?: string };
  if (fault.survivor === 'send') assert.equal(outcome.error, 'ERR_CLOSED');
  else assert.equal(outcome.error, undefined);
  await survivor.kill();
  return { outcome, ended, peer };
}
