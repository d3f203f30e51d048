// One writer, many processes that read the same messages: how long until all have them, and what the writer's own thread spends.
import type { Broadcast, BroadcastHome } from './broadcasts.ts';
import type { Contestant, Sample, Session } from './contest.ts';
import { CpuMeter, threadUs } from './cpu.ts';
import { withDeadline } from './deadline.ts';
import { Pacer } from './pacer.ts';
import { ROUND_DEADLINE_MS } from './sessions.ts';
import { BURST, burstSum, burstValues, REST_MS } from './topic-load.ts';
import { expectReply, WorkerProcess } from './worker-process.ts';

/** Processes that are started at a time. */
const AT_A_TIME = 4;

export interface Many {
  readonly readers: number;
  /** What is measured: the time until all have all of it, or the processor time of the writer's thread within its calls. */
  readonly gauge: 'all-have-it' | 'writer';
}

interface Run {
  readonly seconds: number;
  readonly us: number;
  readonly cpuUs: number;
  readonly checked: boolean;
}

class ManySession implements Session {
  readonly #home: BroadcastHome;
  readonly #workers: readonly WorkerProcess[];
  readonly #many: Many;
  readonly #pacer = new Pacer<Run>((count) => this.#run(count), BURST);
  #bursts = 0;

  constructor(home: BroadcastHome, workers: readonly WorkerProcess[], many: Many) {
    this.#home = home;
    this.#workers = workers;
    this.#many = many;
  }

  async round(ms: number): Promise<Sample> {
    const { seconds, us, cpuUs, checked, count } = await this.#pacer.fill(ms);
    return { value: us / count, checked, cpuUs, messages: count * this.#many.readers, wallMs: seconds * 1000 };
  }

  async #run(count: number): Promise<Run> {
    const rests = this.#many.gauge === 'writer';
    const meter = new CpuMeter();
    const begin = performance.now();
    let checked = true;
    let us = 0;
    let cpuUs = 0;
    for (let left = count; left > 0; left -= BURST) {
      if (rests) await new Promise((resolve) => setTimeout(resolve, REST_MS));
      const wanted = Math.imul(burstSum, ++this.#bursts);
      const all = Promise.all(this.#workers.map((worker) => worker.answer()));
      const start = rests ? threadUs() : performance.now() * 1000;
      this.#publishAll();
      if (rests) us += threadUs() - start;
      const replies = await withDeadline(all, ROUND_DEADLINE_MS, 'not everybody has got everything');
      if (!rests) us += performance.now() * 1000 - start;
      for (const reply of replies) {
        const { sum, cpuUs: spent } = expectReply(reply, 'burst');
        checked &&= sum === wanted;
        cpuUs += spent;
      }
    }
    return { seconds: (performance.now() - begin) / 1000, us, cpuUs: cpuUs + (meter.stop() ?? 0), checked };
  }

  #publishAll(): void {
    const home = this.#home;
    const all = (): void => {
      for (const value of burstValues) home.publish(value);
    };
    if (home.together === undefined) all();
    else home.together(all);
    home.flush?.();
  }

  async stop(): Promise<void> {
    await this.#home.close();
    await Promise.all(this.#workers.map((worker) => worker.end()));
  }
}

export function toMany(broadcast: Broadcast, many: Many): Contestant {
  return {
    subject: broadcast.subject,
    label: broadcast.label,
    wait: broadcast.wait,
    start: async () => {
      const home = await broadcast.serve(many.readers);
      const workers: WorkerProcess[] = [];
      try {
        while (workers.length < many.readers) {
          const length = Math.min(AT_A_TIME, many.readers - workers.length);
          await Promise.all(
            Array.from({ length }, async () => {
              const worker = await WorkerProcess.start(home);
              workers.push(worker);
              const { address } = home;
              await worker.order({ ctl: 'join-broadcast', subject: broadcast.subject, address });
            }),
          );
        }
      } catch (error) {
        for (const worker of workers) worker.kill();
        await home.close();
        throw error;
      }
      return new ManySession(home, workers, many);
    },
  };
}
