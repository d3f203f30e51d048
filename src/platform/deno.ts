import { DENO_BOOTSTRAP } from './bootstrap.ts';
import { builtin } from './builtins.ts';
import type {
  BlockMemory,
  MemoryPlatform,
  Platform,
  Start,
  StartPlatform,
  TextPlatform,
  ThreadEnd,
  ThreadEnded,
} from './contract.ts';
import { nodePlatform } from './node.ts';
import { BufferTextMemory, nodeMemory } from './node-memory.ts';
import { adoptWorker, nodeStart, startWorker, watchWorker } from './node-starting.ts';
import { PlainBlockMemory } from './plain-blocks.ts';
import { webRandom } from './random.ts';
import { ListeningInbox, type StartInbox } from './start-inbox.ts';
import { varied } from './varied.ts';
import { adoptWebWorker, isWebWorker } from './web-worker.ts';

/** Deno 2.9 writes latin1 and UTF-16 at 2 to 20 ns a character (loops here: 1), and UTF-8 fast, but 150 ns a call. */
class DenoTextMemory extends BufferTextMemory {
  override readonly latin1First: boolean = false;
  override readonly loopMax: number = 96;
  readonly #bytes: Uint8Array;
  readonly #units: Uint16Array;

  constructor(memory: SharedArrayBuffer | ArrayBuffer) {
    super(memory);
    this.#bytes = new Uint8Array(memory, 0, memory.byteLength);
    this.#units = new Uint16Array(memory, 0, memory.byteLength >>> 1);
  }

  override latin1Write(text: string, offset: number, maxLength: number): number {
    const bytes = this.#bytes;
    const length = Math.min(text.length, maxLength, bytes.length - offset);
    for (let i = 0; i < length; i++) bytes[offset + i] = text.charCodeAt(i);
    return length;
  }

  override utf16Write(text: string, offset: number, maxLength: number): number {
    if (offset % 2 !== 0) return super.utf16Write(text, offset, maxLength);
    const units = this.#units;
    const start = offset >>> 1;
    const length = Math.min(text.length, maxLength >>> 1, units.length - start);
    for (let i = 0; i < length; i++) units[start + i] = text.charCodeAt(i);
    return 2 * length;
  }
}

/** Whether this is a thread of node:worker_threads. */
const isThread = (): boolean => builtin('node:worker_threads').parentPort !== null;
/** Whether it is that of a web Worker. */
const isWebThread = (): boolean => !isThread() && 'WorkerGlobalScope' in globalThis;

export const denoText: TextPlatform = (memory) => new DenoTextMemory(memory);

export const denoMemory: MemoryPlatform = /* @__PURE__ */ varied(nodeMemory, {
  // Deno's Buffer.copy is JavaScript around the same copy: 100 ns more for a short one.
  blockMemory: (memory: SharedArrayBuffer | ArrayBuffer): BlockMemory => new PlainBlockMemory(memory),
});

export const denoPlatform: Platform = /* @__PURE__ */ varied(nodePlatform, {
  name: 'deno',
  asyncPark: 'wait-async',
  // What is no UTF-8 of its own length is written character by character: 65,536 of them in 130 us, natively 33. ASCII takes 3 there
  // and back through shared memory, natively 11.
  nativeWideTextMin: 65_536,
  closeDropsPosted: true,
  walksMessages: true,
  canProbe: () => false,
  probeGone: () => false,

  onThreadEnd(task: (how: ThreadEnd, code?: number) => void): void {
    nodePlatform.onThreadEnd(task);
    // The thread of a web Worker has no exit event; that somebody made nothing of the error is the last that it says.
    if (isWebThread()) nodePlatform.onCrash(() => task('crash'));
  },
});

export const denoStart: StartPlatform = /* @__PURE__ */ varied(nodeStart, {
  randomWords: webRandom,

  spawn(url: URL, start: Start, options: object, ended: ThreadEnded): unknown {
    const worker = startWorker(
      new URL(`data:text/javascript,${encodeURIComponent(DENO_BOOTSTRAP)}`),
      url,
      start,
      options,
    );
    // An errorMonitor is told only if somebody listens to errors, and an error without a listener ends nothing here.
    watchWorker(worker, 'error', ended);
    return worker;
  },

  tellsEnd(worker: unknown): boolean | undefined {
    return isWebWorker(worker) ? false : nodeStart.tellsEnd(worker);
  },

  adopt(worker: unknown, data: unknown, transfer: readonly unknown[], ended: ThreadEnded): void {
    if (!isWebWorker(worker)) adoptWorker(worker, data, transfer, 'error', ended);
    else adoptWebWorker(worker, data, transfer, ended, { errorEnds: true, tellsClose: false });
  },

  // The parentPort of a node:worker_threads thread is no port that could be taken from; its messages come to the global.
  openInbox(): StartInbox | undefined {
    return isThread() || isWebThread() ? new ListeningInbox(globalThis) : undefined;
  },
});
