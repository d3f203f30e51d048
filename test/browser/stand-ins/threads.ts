// `node:worker_threads` for a suite, which runs in a worker. The page starts its threads, some ahead of each test: in Chromium and WebKit a
// worker's own worker does not begin as long as the one that started it blocks. Each comes with a port, so that what goes to a thread passes no third one.
export const isMainThread = true;
export const MessageChannel: typeof globalThis.MessageChannel = globalThis.MessageChannel;
export const parentPort: null = null;
export const workerData: undefined = undefined;

/** What the page is told. */
export interface ToPage {
  readonly end?: number;
}
/** What it tells: a thread that is there, one that has failed, and one that is gone. */
export interface FromPage {
  readonly thread?: number;
  readonly failed?: { readonly thread: number; readonly message: string };
  readonly gone?: number;
}

/** Threads that there are before a test begins: none of them starts more before its event loop has a turn. */
export const THREADS_READY = 4;
const AGAIN_MS = 500;

interface Ready {
  readonly id: number;
  readonly port: MessagePort;
}
const ready: Ready[] = [];
const used = new Map<number, Worker>();
let whenReady: (() => void) | undefined;

/** A thread that answers: in Firefox a port that has just moved can lose what is posted. */
function welcome(id: number, port: MessagePort): void {
  const again = setInterval(() => port.postMessage({ ping: id }), AGAIN_MS);
  port.onmessage = () => {
    clearInterval(again);
    port.onmessage = null;
    ready.push({ id, port });
    whenReady?.();
  };
  port.postMessage({ ping: id });
}
self.addEventListener('message', ({ data, ports }: MessageEvent<FromPage>) => {
  if (data.thread !== undefined) welcome(data.thread, ports[0] as MessagePort);
  else if (data.failed !== undefined) used.get(data.failed.thread)?.emit('error', new Error(data.failed.message));
  else if (data.gone !== undefined) used.get(data.gone)?.emit('exit', 1);
});

export async function threadsReady(count: number): Promise<void> {
  while (ready.length < count) {
    await new Promise<void>((resolve) => {
      whenReady = resolve;
    });
  }
}
/** Ends all that a test has started. */
export function endThreads(): void {
  for (const worker of used.values()) worker.end();
  used.clear();
}

type Heard = (value: unknown) => void;
interface WorkerOptions {
  readonly workerData?: unknown;
  readonly transferList?: readonly Transferable[];
}

export class Worker {
  readonly #id: number;
  readonly #port: MessagePort;
  readonly #heard = new Map<string, Heard[]>();
  readonly #gone = new Promise<number>((resolve) => this.on('exit', () => resolve(1)));
  #ended = false;

  constructor(_: URL, { workerData, transferList = [] }: WorkerOptions = {}) {
    const taken = ready.shift();
    if (taken === undefined) throw new Error(`a test starts more than ${THREADS_READY} threads: raise THREADS_READY`);
    this.#id = taken.id;
    this.#port = taken.port;
    used.set(taken.id, this);
    taken.port.onmessage = ({ data }) => {
      if (!('pong' in data)) this.emit('message', data);
    };
    taken.port.postMessage({ workerData }, transferList as Transferable[]);
  }
  on(type: string, heard: Heard): this {
    this.#heard.set(type, [...(this.#heard.get(type) ?? []), heard]);
    return this;
  }
  emit(type: string, value: unknown): void {
    for (const heard of this.#heard.get(type) ?? []) heard(value);
  }
  postMessage(value: unknown, transfer: readonly Transferable[] = []): void {
    this.#port.postMessage({ told: value }, transfer as Transferable[]);
  }
  end(): void {
    if (!this.#ended) self.postMessage({ end: this.#id } satisfies ToPage);
    this.#ended = true;
  }
  terminate(): Promise<number> {
    this.end();
    return this.#gone;
  }
}
