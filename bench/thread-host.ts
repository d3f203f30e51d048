// The main thread's hold on a worker: opens channels of contenders to it and orders it to receive or to echo.
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import type { BenchOptions } from './contest.ts';
import { withDeadline } from './deadline.ts';
import { type Load, type LoadSpec, makeLoad, type Tally } from './loads.ts';
import type { Connection, End, Progress, ThreadSubject, Wait } from './subject.ts';
import type { Order, Reply } from './worker.ts';

export interface OpenMore {
  /** Hold the same channel as this one, in another worker: for contenders that broadcast. */
  readonly shared?: ThreadChannel | undefined;
  /** Listen on both sides from the start. */
  readonly idle?: boolean;
  readonly ports?: number;
}

export interface ThreadChannel {
  readonly connection: Connection;
  readonly end: End;
  readonly load: Load;
  readonly wait: Wait;
  readonly progress: Progress;
  /** Resolves when the worker is about to consume; `done` resolves with what it saw. */
  order(what: 'receive' | 'echo', count: number, deep?: boolean): Promise<{ done: Promise<Tally> }>;
  close(): Promise<void>;
}

interface Waiting {
  resolve(reply: Reply): void;
  reject(error: Error): void;
}

export class ThreadHost {
  readonly worker: Worker;
  readonly #control: MessagePort;
  readonly #progress: Progress = new Int32Array(new SharedArrayBuffer(64));
  readonly #waiting = new Map<string, Waiting>();
  readonly #loads = new Map<string, Load>();
  readonly #started: Promise<Reply>;
  #nextId = 1;
  #broken: Error | undefined;

  constructor() {
    const { port1, port2 } = new MessageChannel();
    this.#control = port1;
    this.worker = new Worker(new URL('./worker.js', import.meta.url), {
      workerData: { control: port2, progress: this.#progress },
      transferList: [port2],
    });
    this.#started = this.#expect('hello', 0);
    this.#started.catch(() => {});
    port1.on('message', (reply: Reply) => this.#take(reply));
    this.worker.on('error', (error: unknown) => this.#fail(error instanceof Error ? error : new Error(String(error))));
    this.worker.on('exit', () => this.#fail(new Error('the worker of the benchmark ended')));
  }

  async open(
    subject: ThreadSubject,
    wait: Wait,
    spec: LoadSpec,
    options: BenchOptions,
    more: OpenMore = {},
  ): Promise<ThreadChannel> {
    await withDeadline(this.#started, 20_000, 'the worker of the benchmark did not start');
    const id = this.#nextId++;
    const load = this.#loadOf(spec);
    const { ports = 1, idle = false } = more;
    const connection =
      more.shared?.connection ?? (await subject.connect({ worker: this.worker, wait, load, options, ports }));
    const opened = this.#expect('opened', id);
    const order: Order = { do: 'open', id, subject: subject.name, wait, spec, data: connection.data, options, idle };
    if (idle) connection.end.listen?.(() => {});
    this.#control.postMessage(order, (connection.transfer ?? []) as never);
    await withDeadline(opened, 20_000, `${subject.name} did not open`);
    return {
      connection,
      end: connection.end,
      load,
      wait,
      progress: this.#progress,
      order: (what, count, deep = false) => this.#order(id, what, count, deep),
      close: async () => {
        const closed = this.#expect('closed', id);
        this.#control.postMessage({ do: 'close', id } satisfies Order);
        await withDeadline(closed, 2_000, `${subject.name} did not close`).catch(() => {});
        await connection.end.close();
      },
    };
  }

  /** Channels of the same load share its pool. */
  #loadOf(spec: LoadSpec): Load {
    const key = JSON.stringify(spec);
    const known = this.#loads.get(key);
    if (known) return known;
    const load = makeLoad(spec);
    this.#loads.set(key, load);
    return load;
  }

  async #order(id: number, what: 'receive' | 'echo', count: number, deep: boolean): Promise<{ done: Promise<Tally> }> {
    Atomics.store(this.#progress, 0, 0);
    const ready = this.#expect('ready', id);
    const done = this.#expect('done', id).then((reply) => (reply as { tally: Tally }).tally);
    done.catch(() => {});
    this.#control.postMessage({ do: what, id, count, deep } satisfies Order);
    await ready;
    return { done };
  }

  async stop(): Promise<void> {
    this.#broken = new Error('stopped');
    this.#control.close();
    await this.worker.terminate();
  }

  #expect(what: Reply['re'], id: number): Promise<Reply> {
    if (this.#broken) return Promise.reject(this.#broken);
    return new Promise((resolve, reject) => this.#waiting.set(`${what} ${id}`, { resolve, reject }));
  }

  #take(reply: Reply): void {
    if (reply.re === 'failed') {
      this.#fail(new Error(reply.message));
      return;
    }
    const key = `${reply.re} ${reply.id}`;
    this.#waiting.get(key)?.resolve(reply);
    this.#waiting.delete(key);
  }

  #fail(error: Error): void {
    this.#broken ??= error;
    for (const waiting of this.#waiting.values()) waiting.reject(error);
    this.#waiting.clear();
  }
}
