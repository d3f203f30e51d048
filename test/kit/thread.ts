// Another thread for a test, with its part written where the test is: a role is a function whose text travels. It must
// therefore use nothing but its argument and globals.
import { Worker } from 'node:worker_threads';
import * as millrace from '../../src/index.ts';
import type * as ring from '../../src/ring/index.ts';
import type * as topic from '../../src/topic/index.ts';
import { Gates } from './gate.ts';
import { inOneFile } from './in-one-file.ts';
import { type Neighbours, neighboursFor } from './neighbours.ts';
import { type Sleep, sleepOf } from './sleeping.ts';
import { within } from './watchdog.ts';

/** What a role is given in its thread. */
export interface Stage<D = unknown> {
  readonly data: D;
  /** This thread's end of the channel that the test made, however it came here. */
  port(): millrace.Port;
  /** Ports that `port` gave are held as long as the thread lives, unless this lets them go. */
  letGo(): void;
  readonly millrace: typeof millrace;
  readonly ring: typeof ring;
  readonly topic: typeof topic;
  /** Shared with the test. */
  readonly gates: Gates;
  /** Blocks this thread for so long: for a peer that is alive but does not look. */
  pause(ms: number): void;
  /** Tells the test something, the native way. */
  say(value: unknown, transfer?: readonly unknown[]): void;
  /** Loads a module here, which the text of a role could not name. */
  load(url: string): Promise<unknown>;
  /** Burns the processor until the gate opens. */
  compute(gate: number): void;
  /** What the test sends with `tell`, once. */
  hear(): Promise<unknown>;
  /** Throws where nobody catches it. */
  crash(): void;
  exit(): never;
}
// biome-ignore lint/suspicious/noExplicitAny: each role knows its own data
export type Role = (stage: Stage<any>) => unknown;

export interface ThreadOptions {
  readonly data?: unknown;
  readonly transfer?: readonly unknown[];
  /** The handle that `stage.port()` attaches, made here or passing through, and its options. */
  readonly remote?: unknown;
  readonly options?: millrace.PortOptions;
}

const WORKER = inOneFile(new URL('./thread-worker.js', import.meta.url));

/** A thread that plays a role. */
export class TestThread {
  readonly worker: Worker;
  readonly gates: Gates;
  /** What the role returned; rejects if it threw, or the thread ended before. */
  readonly result: Promise<unknown>;
  /** Resolves when the thread has ended. */
  readonly ended: Promise<void>;
  readonly #said: unknown[] = [];
  readonly #listeners: ((value: unknown) => void)[] = [];

  constructor(worker: Worker, gates: Gates) {
    this.worker = worker;
    this.gates = gates;
    let end!: () => void;
    this.ended = new Promise((resolve) => {
      end = resolve;
    });
    this.result = new Promise((resolve, reject) => {
      worker.on('message', (message: { done?: unknown; failed?: string; said?: unknown }) => {
        if ('said' in message) this.#hear(message.said);
        else if ('failed' in message) reject(new Error(`in the other thread: ${message.failed}`));
        else resolve(message.done);
      });
      // Told at the exit, not before: an error may overtake what the thread had said.
      let crash: unknown;
      worker.on('error', (error: unknown) => {
        crash = error;
      });
      worker.on('exit', () => {
        end();
        reject(crash ?? new Error('the thread ended before its role did'));
      });
    });
    this.result.catch(() => {});
  }

  #hear(value: unknown): void {
    const listener = this.#listeners.shift();
    if (listener === undefined) this.#said.push(value);
    else listener(value);
  }

  /** The next thing that the role says. */
  next(): Promise<unknown> {
    if (this.#said.length > 0) return Promise.resolve(this.#said.shift());
    const said = new Promise((resolve) => this.#listeners.push(resolve));
    return within('the other thread to say something', Promise.race([said, this.result.then(() => said)]));
  }
  tell(value: unknown, transfer: readonly unknown[] = []): void {
    this.worker.postMessage(value, transfer as never);
  }
  /** What the role returned. */
  done(): Promise<unknown> {
    return within('the other thread to finish', this.result);
  }
  async kill(): Promise<void> {
    await this.worker.terminate();
  }
}

/** What a worker needs to play a role. */
export interface Casting {
  readonly roleText: string;
  readonly roleData: unknown;
  readonly gatesMemory: SharedArrayBuffer;
  readonly roleRemote: unknown;
  readonly roleOptions: millrace.PortOptions | undefined;
  readonly roleSleep: Sleep | undefined;
  readonly neighbours: readonly millrace.Remote[];
}
function casting(role: Role, options: ThreadOptions, gates: Gates, neighbours: Neighbours | undefined): Casting {
  return {
    neighbours: neighbours?.remotes ?? [],
    roleText: role.toString(),
    roleData: options.data,
    gatesMemory: gates.memory,
    roleRemote: options.remote,
    roleOptions: options.options,
    roleSleep: sleepOf(options.options),
  };
}

/** Starts a thread with the runtime's own Worker. */
export function startThread(role: Role, options: ThreadOptions = {}): TestThread {
  const gates = new Gates();
  const { transfer = [], remote } = options;
  const neighbours = neighboursFor();
  const own = remote === undefined ? [] : millrace.transferOf(remote);
  const worker = new Worker(WORKER, {
    workerData: casting(role, options, gates, neighbours),
    transferList: [...transfer, ...own, ...(neighbours?.transfer ?? [])] as never,
  });
  return new TestThread(worker, gates);
}

/** Starts a thread with `spawn`; in it, `stage.millrace.parentPort()` is the other end. */
export function spawnThread(
  spawn: typeof millrace.spawn,
  role: Role,
  options: millrace.ChannelOptions = {},
  data?: unknown,
): { readonly port: millrace.Port; readonly thread: TestThread } {
  const gates = new Gates();
  const neighbours = neighboursFor();
  const workerData = casting(role, { data }, gates, neighbours);
  const { port, worker } = spawn(WORKER, {
    ...options,
    worker: { workerData, transferList: neighbours?.transfer ?? [] },
  });
  return { port, thread: new TestThread(worker as Worker, gates) };
}
