// W worker processes with C streams each, against one master: seed 004's load.

import type { ChildOrder, ChildReply } from './child.ts';
import type { Contestant, Sample, Session } from './contest.ts';
import { CpuMeter } from './cpu.ts';
import type { Hub, ProcessSubject } from './process-subject.ts';
import { expectReply, WorkerProcess } from './worker-process.ts';

export interface ArticleLoad {
  readonly workers: number;
  readonly streams: number;
  readonly payload: number;
}

class ArticleSession implements Session {
  readonly #hub: Hub;
  readonly #workers: readonly WorkerProcess[];
  readonly #load: ArticleLoad;

  constructor(hub: Hub, workers: readonly WorkerProcess[], load: ArticleLoad) {
    this.#hub = hub;
    this.#workers = workers;
    this.#load = load;
  }

  async round(ms: number): Promise<Sample> {
    const { streams, payload } = this.#load;
    const meter = new CpuMeter();
    const start = performance.now();
    const order = { ctl: 'run', ms, streams, payload } as const;
    const replies = await (this.#hub.answerBlocked
      ? this.#blocked(this.#hub.answerBlocked, order)
      : Promise.all(this.#workers.map((worker) => worker.order(order))));
    const wallMs = performance.now() - start;
    let cpuUs = meter.stop() ?? 0;
    let rate = 0;
    let messages = 0;
    let checked = true;
    for (const reply of replies) {
      const done = expectReply(reply, 'done');
      rate += done.count / done.seconds;
      messages += done.count;
      cpuUs += done.cpuUs;
      checked &&= done.right;
    }
    return { value: rate, checked, cpuUs, messages, wallMs };
  }

  /** This thread stands still as long as the worker asks. */
  async #blocked(answer: () => void, order: ChildOrder): Promise<ChildReply[]> {
    const worker = this.#workers[0]!;
    expectReply(await worker.order(order), 'asking');
    const reply = worker.answer();
    answer();
    return [await reply];
  }

  async stop(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.end()));
    await this.#hub.close();
  }
}

export function requests(subject: ProcessSubject, load: ArticleLoad): Contestant {
  return {
    subject: subject.name,
    label: subject.label,
    ...(subject.wait && { wait: subject.wait }),
    start: async () => {
      const hub = await subject.serve();
      const workers: WorkerProcess[] = [];
      try {
        for (let index = 0; index < load.workers; index++) {
          const worker = await WorkerProcess.start(hub);
          workers.push(worker);
          await worker.order({ ctl: 'join', subject: subject.name, address: hub.address, index });
        }
      } catch (error) {
        for (const worker of workers) worker.kill();
        await hub.close();
        throw error;
      }
      return new ArticleSession(hub, workers, load);
    },
  };
}
