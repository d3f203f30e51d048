// The master's side of a worker process (child.ts): started, given orders, ended.
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ChildOrder, ChildReply } from './child.ts';
import { withDeadline } from './deadline.ts';
import type { Home } from './process-subject.ts';

const CHILD = fileURLToPath(new URL('./child.js', import.meta.url));

export class WorkerProcess {
  readonly #process: ChildProcess;
  #resolve: ((reply: ChildReply) => void) | undefined;
  #reject: ((error: Error) => void) | undefined;
  #early: ChildReply | undefined;

  constructor(process: ChildProcess) {
    this.#process = process;
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

  /** Starts one for this master, and waits until it can be given orders. */
  static async start(home: Home): Promise<WorkerProcess> {
    const process =
      home.fork?.(CHILD) ?? fork(CHILD, [], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], ...home.forkOptions });
    home.adopt?.(process);
    const worker = new WorkerProcess(process);
    await worker.answer();
    return worker;
  }

  /** The next reply. One at a time may be waited for. */
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
    this.#process.send(order);
    return reply;
  }

  async end(): Promise<void> {
    const gone = new Promise((resolve) => this.#process.once('exit', resolve));
    if (this.#process.connected) this.#process.send({ ctl: 'end' } satisfies ChildOrder);
    await withDeadline(gone, 2_000, 'a worker process did not end').catch(() => this.kill());
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }
}

/** The reply of a kind; any other is a mistake of ours. */
export function expectReply<K extends ChildReply['ctl']>(reply: ChildReply, kind: K): Extract<ChildReply, { ctl: K }> {
  if (reply.ctl !== kind) throw new Error(`a worker process answered ${reply.ctl} and not ${kind}`);
  return reply as Extract<ChildReply, { ctl: K }>;
}
