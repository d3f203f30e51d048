// W worker processes with C streams each, against one master: seed 004's load.
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ChildOrder, ChildReply } from './child.ts';
import type { Contestant, Sample, Session } from './contest.ts';
import { CpuMeter } from './cpu.ts';
import { withDeadline } from './deadline.ts';
import type { Hub, ProcessSubject } from './process-subject.ts';

const CHILD = fileURLToPath(new URL('./child.js', import.meta.url));

export interface ArticleLoad {
  readonly workers: number;
  readonly streams: number;
  readonly payload: number;
}

class Child {
  readonly process: ChildProcess;
  #resolve: ((reply: ChildReply) => void) | undefined;
  #reject: ((error: Error) => void) | undefined;
  #early: ChildReply | undefined;

  constructor(process: ChildProcess) {
    this.process = process;
    process.on('message', (message: unknown) => {
      const reply = message as ChildReply;
      if (reply?.ctl === undefined) return;
      if (reply.ctl === 'failed') this.#reject?.(new Error(reply.message));
      else if (this.#resolve) this.#resolve(reply);
      else this.#early = reply;
      this.#resolve = undefined;
    });
    process.on('exit', () => this.#reject?.(new Error('a worker process ended')));
    process.on('error', (error) => this.#reject?.(error));
  }

  answer(): Promise<ChildReply> {
    const early = this.#early;
    this.#early = undefined;
    if (early) return Promise.resolve(early);
    const reply = new Promise<ChildReply>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    return withDeadline(reply, 30_000, 'a worker process did not answer');
  }

  order(order: ChildOrder): Promise<ChildReply> {
    const reply = this.answer();
    this.process.send(order);
    return reply;
  }

  async end(): Promise<void> {
    const gone = new Promise((resolve) => this.process.once('exit', resolve));
    if (this.process.connected) this.process.send({ ctl: 'end' } satisfies ChildOrder);
    await withDeadline(gone, 2_000, 'a worker process did not end').catch(() => this.process.kill('SIGKILL'));
  }
}

class ArticleSession implements Session {
  readonly #hub: Hub;
  readonly #children: readonly Child[];
  readonly #load: ArticleLoad;

  constructor(hub: Hub, children: readonly Child[], load: ArticleLoad) {
    this.#hub = hub;
    this.#children = children;
    this.#load = load;
  }

  async round(ms: number): Promise<Sample> {
    const { streams, payload } = this.#load;
    const meter = new CpuMeter();
    const start = performance.now();
    const order = { ctl: 'run', ms, streams, payload } as const;
    const replies = await Promise.all(this.#children.map((child) => child.order(order)));
    const wallMs = performance.now() - start;
    let cpuUs = meter.stop() ?? 0;
    let rate = 0;
    let messages = 0;
    let checked = true;
    for (const reply of replies) {
      if (reply.ctl !== 'done') throw new Error(`a worker process answered ${reply.ctl}`);
      rate += reply.count / reply.seconds;
      messages += reply.count;
      cpuUs += reply.cpuUs;
      checked &&= reply.right;
    }
    return { value: rate, checked, cpuUs, messages, wallMs };
  }

  async stop(): Promise<void> {
    await Promise.all(this.#children.map((child) => child.end()));
    await this.#hub.close();
  }
}

export function requests(subject: ProcessSubject, load: ArticleLoad): Contestant {
  return {
    subject: subject.name,
    label: subject.label,
    start: async () => {
      const hub = await subject.serve();
      const children: Child[] = [];
      try {
        for (let index = 0; index < load.workers; index++) {
          const process =
            hub.fork?.(CHILD) ??
            fork(CHILD, [], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], ...hub.forkOptions });
          hub.adopt?.(process);
          const child = new Child(process);
          children.push(child);
          await child.answer();
          await child.order({ ctl: 'join', subject: subject.name, address: hub.address, index });
        }
      } catch (error) {
        for (const child of children) child.process.kill('SIGKILL');
        await hub.close();
        throw error;
      }
      return new ArticleSession(hub, children, load);
    },
  };
}
