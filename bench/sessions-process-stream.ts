// One way, from the master to one worker process, until the worker has consumed the last message.
import type { Contestant, Sample, Session } from './contest.ts';
import { CpuMeter } from './cpu.ts';
import { withDeadline } from './deadline.ts';
import { digest, expected, type Load, type LoadSpec, makeLoad } from './loads.ts';
import { type Filled, Pacer } from './pacer.ts';
import type { ProcessStream, ProcessSubject, StreamHome } from './process-subject.ts';
import { ROUND_DEADLINE_MS, same } from './sessions.ts';
import type { End } from './subject.ts';
import { expectReply, WorkerProcess } from './worker-process.ts';

/** So many are posted in each turn of the event loop; without a number as many as go. */
export interface Cadence {
  readonly burst?: number;
}

interface Run {
  readonly seconds: number;
  readonly cpuUs: number;
  readonly checked: boolean;
}

/** Nobody reads it: each end keeps to back-pressure of its own. */
const NO_PROGRESS = new Int32Array(new SharedArrayBuffer(4));

class StreamSession implements Session {
  readonly #home: StreamHome;
  readonly #worker: WorkerProcess;
  readonly #end: End;
  readonly #load: Load;
  readonly #cadence: Cadence;
  readonly #pacer = new Pacer<Run>((count) => this.#run(count, false));
  #verified = false;

  constructor(home: StreamHome, worker: WorkerProcess, end: End, load: Load, cadence: Cadence) {
    this.#home = home;
    this.#worker = worker;
    this.#end = end;
    this.#load = load;
    this.#cadence = cadence;
  }

  async round(ms: number): Promise<Sample> {
    if (!this.#verified) await this.#verify();
    this.#verified = true;
    const { seconds, cpuUs, checked, count }: Filled<Run> = await this.#pacer.fill(ms);
    const value = count / seconds;
    const extra = { 'bytes a second': value * this.#load.sizeBytes };
    return { value, checked, cpuUs, messages: count, wallMs: seconds * 1000, extra };
  }

  /** Every field of the first messages, before speed is worth measuring. */
  async #verify(): Promise<void> {
    const { items, spec } = this.#load;
    const { checked } = await this.#run(Math.min(64, items.length), spec.form !== 'bytes');
    if (!checked) throw new Error('values arrived changed');
  }

  async #run(count: number, deep: boolean): Promise<Run> {
    const worker = this.#worker;
    expectReply(await worker.order({ ctl: 'receive', count, deep }), 'receiving');
    const received = worker.answer();
    // Whoever hangs while it sends is told of by that.
    received.catch(() => {});
    const meter = new CpuMeter();
    const start = performance.now();
    const sent = this.#send(count);
    await withDeadline(sent, ROUND_DEADLINE_MS, 'the stream did not go out');
    const reply = await withDeadline(received, ROUND_DEADLINE_MS, 'the round did not end');
    const seconds = (performance.now() - start) / 1000;
    const tally = expectReply(reply, 'received');
    const load = deep ? { ...this.#load, weigh: digest } : this.#load;
    return { seconds, cpuUs: (meter.stop() ?? 0) + tally.cpuUs, checked: same(tally, expected(load, count)) };
  }

  async #send(count: number): Promise<void> {
    const { burst = count } = this.#cadence;
    for (let from = 0; from < count; from += burst) {
      await this.#end.send!(this.#load, Math.min(burst, count - from), NO_PROGRESS, from);
      if (burst < count) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async stop(): Promise<void> {
    await this.#worker.end();
    await this.#end.close();
    await this.#home.close();
  }
}

/** A contestant that streams a load to another process; messages a second. */
export function processFlow(
  subject: ProcessSubject,
  stream: ProcessStream,
  spec: LoadSpec,
  cadence: Cadence = {},
): Contestant {
  return {
    subject: subject.name,
    label: subject.label,
    ...(stream.wait && { wait: stream.wait }),
    start: async () => {
      const load = makeLoad(spec);
      const home = await stream.serve(load);
      let worker: WorkerProcess | undefined;
      try {
        worker = await WorkerProcess.start(home);
        await worker.order({ ctl: 'join-stream', subject: subject.name, address: home.address, spec });
        return new StreamSession(home, worker, await home.end(), load, cadence);
      } catch (error) {
        worker?.kill();
        await home.close();
        throw error;
      }
    },
  };
}
