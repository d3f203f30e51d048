// Requests of worker processes that are not busy: after a rest, the first of all, over one of many channels.
import type { Contestant, Sample, Session } from './contest.ts';
import { CpuMeter } from './cpu.ts';
import type { Hub, ProcessSubject } from './process-subject.ts';
import { median, quantile } from './stats.ts';
import { expectReply, WorkerProcess } from './worker-process.ts';

const PAYLOAD = 100;

/** A new worker process that has joined, of the master that `hub` is. */
async function joined(hub: Hub, subject: ProcessSubject, channels?: number): Promise<WorkerProcess> {
  const worker = await WorkerProcess.start(hub);
  const many = channels === undefined ? {} : { channels };
  try {
    const { name } = subject;
    await worker.order({ ctl: 'join', subject: name, address: hub.address, index: 0, ...many });
    return worker;
  } catch (error) {
    worker.kill();
    throw error;
  }
}

/** One master and one worker process, for a row. */
async function together(
  subject: ProcessSubject,
  channels: number | undefined,
  session: (worker: WorkerProcess) => Pick<Session, 'round' | 'warmedUp'>,
): Promise<Session> {
  const hub = await subject.serve();
  try {
    const worker = await joined(hub, subject, channels);
    const stop = async (): Promise<void> => {
      await worker.end();
      await hub.close();
    };
    return { ...session(worker), stop };
  } catch (error) {
    await hub.close();
    throw error;
  }
}

/** What `order` makes the worker do, and what it cost both. */
async function flow(worker: WorkerProcess, ms: number): Promise<Sample> {
  const meter = new CpuMeter();
  const order = { ctl: 'run', ms, streams: 1, payload: PAYLOAD } as const;
  const { count, seconds, right, cpuUs } = expectReply(await worker.order(order), 'done');
  const used = (meter.stop() ?? 0) + cpuUs;
  return { value: (seconds * 1e6) / count, checked: right, cpuUs: used, messages: count, wallMs: seconds * 1000 };
}

/** Fewer would leave a round to one accident. */
const TRIPS_MIN = 5;

/** Microseconds of a round trip after `restMs` in which nothing was sent; traffic has flowed for `flowMs` before the first. */
export function rested(subject: ProcessSubject, restMs: number, flowMs: number): Contestant {
  const session = (worker: WorkerProcess): Pick<Session, 'round' | 'warmedUp'> => {
    let all: number[] = [];
    let flowed = false;
    const round = async (ms: number): Promise<Sample> => {
      if (!flowed) await flow(worker, flowMs);
      flowed = true;
      const trips = Math.max(TRIPS_MIN, Math.ceil(ms / restMs));
      const meter = new CpuMeter();
      const began = performance.now();
      const reply = await worker.order({ ctl: 'rest', restMs, trips, payload: PAYLOAD });
      const { timesUs, right, cpuUs } = expectReply(reply, 'trips');
      const wallMs = performance.now() - began;
      all.push(...timesUs);
      const extra = { p90: quantile(all, 0.9) };
      const used = (meter.stop() ?? 0) + cpuUs;
      return { value: median(timesUs), checked: right, cpuUs: used, messages: trips, wallMs, extra, cumulative: true };
    };
    return { round, warmedUp: () => void (all = []) };
  };
  return { subject: subject.name, label: subject.label, start: () => together(subject, undefined, session) };
}

/** Milliseconds of the first `trips` round trips of a worker process that was only just made; the master has run. */
export function firstRequests(subject: ProcessSubject, trips: number): Contestant {
  const start = async (): Promise<Session> => {
    const hub = await subject.serve();
    const round = async (): Promise<Sample> => {
      const worker = await joined(hub, subject);
      try {
        const meter = new CpuMeter();
        const reply = await worker.order({ ctl: 'first', trips, payload: PAYLOAD });
        const { timesUs, right, cpuUs } = expectReply(reply, 'trips');
        const used = (meter.stop() ?? 0) + cpuUs;
        const value = timesUs.reduce((sum, each) => sum + each, 0) / 1000;
        const extra = { 'the first': timesUs[0]! / 1000 };
        return { value, checked: right, cpuUs: used, messages: trips, wallMs: value, extra };
      } finally {
        await worker.end();
      }
    };
    return { round, stop: () => hub.close() };
  };
  return { subject: subject.name, label: subject.label, start };
}

/** Microseconds of a round trip over one of `channels` to the same process, while the others are idle. */
export function overOneOfMany(subject: ProcessSubject, channels: number): Contestant {
  const session = (worker: WorkerProcess): Pick<Session, 'round'> => ({ round: (ms) => flow(worker, ms) });
  return { subject: subject.name, label: subject.label, start: () => together(subject, channels, session) };
}
