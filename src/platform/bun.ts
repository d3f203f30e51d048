import type { MessagePort } from 'node:worker_threads';
import { BUN_BOOTSTRAP } from './bootstrap.ts';
import { builtin, process } from './builtins.ts';
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
import { ferried, nodePlatform } from './node.ts';
import { BufferBlockMemory, BufferTextMemory, nodeMemory } from './node-memory.ts';
import { adoptWorker, errorMonitor, nodeStart, startWorker, watchWorker } from './node-starting.ts';
import { webRandom } from './random.ts';
import { ListeningInbox, type StartInbox, TakingInbox } from './start-inbox.ts';
import { varied } from './varied.ts';
import { adoptWebWorker, isWebWorker } from './web-worker.ts';

class BunTextMemory extends BufferTextMemory {
  // utf8Write is as fast as latin1Write here, and a look at the text costs a nanosecond a character.
  override readonly latin1First: boolean = false;
}

function onCrash(task: (error: unknown) => void): void {
  globalThis.addEventListener?.('error', (event) => {
    const { error, message } = event as ErrorEvent;
    task(error ?? message);
  });
  // In the main thread no such event comes.
  if (builtin('node:worker_threads').isMainThread) nodePlatform.onCrash(task);
}

/** Bun's `import()` makes an empty module of a data: URL with a dot in it, be it one of the code; %2E is the same to both. */
function dotsEncoded(url: URL): URL {
  return url.protocol === 'data:' ? new URL(url.href.replaceAll('.', '%2E')) : url;
}

export const bunText: TextPlatform = (memory) => new BunTextMemory(memory);

export const bunMemory: MemoryPlatform = /* @__PURE__ */ varied(nodeMemory, {
  // Views over memory that may grow are slower to use here, by a tenth for a number and by a third for an array of doubles.
  sharedMemory: (bytes: number): SharedArrayBuffer => new SharedArrayBuffer(bytes),
  // Buffer.copy is quicker at any length: 64 B and the rest of a record in 20.0 ns, with TypedArray.set in 22.3.
  blockMemory: (memory: SharedArrayBuffer | ArrayBuffer): BlockMemory => new BufferBlockMemory(memory, 0),
});

export const bunPlatform: Platform = /* @__PURE__ */ varied(nodePlatform, {
  name: 'bun',
  asyncPark: 'wait-async',
  // Bun's ports share the characters: 3.67 million of them arrive after 0.5 ms, through shared memory after 1.3 to 5.
  nativeTextMin: 8192,
  // In a flat object too: 65,536 of them in 4 us, through shared memory 26; 262,144 in 14 and 310.
  nativeMemberTextMin: 65_536,
  // Who asked whether a handle is still here would take it back.
  cloneKeepsPorts: true,
  cloneMoving: (value, transfer) =>
    transfer.some(nodePlatform.isNativePort) ? ferried(value, transfer) : nodePlatform.cloneMoving(value, transfer),
  canProbe: () => false,
  probeGone: () => false,

  // The exit code does not tell here: it is 0 after a rejection that nobody handled, and in the threads of `bun test`
  // after every uncaught error. The global error event comes for what ends the thread, and only for that.
  onThreadEnd(task: (how: ThreadEnd, code?: number) => void): void {
    let how: ThreadEnd = 'exit';
    onCrash(() => {
      how = 'crash';
    });
    process.on('exit', (code) => task(how, code));
  },
  onCrash,
});

export const bunStart: StartPlatform = /* @__PURE__ */ varied(nodeStart, {
  randomWords: webRandom,

  spawn(url: URL, start: Start, options: object, ended: ThreadEnded): unknown {
    const worker = startWorker(BUN_BOOTSTRAP, dotsEncoded(url), start, options);
    watchWorker(worker, errorMonitor(), ended);
    return worker;
  },

  tellsEnd(worker: unknown): boolean | undefined {
    return isWebWorker(worker) || nodeStart.tellsEnd(worker);
  },

  adopt(worker: unknown, data: unknown, transfer: readonly unknown[], ended: ThreadEnded): void {
    if (!isWebWorker(worker)) adoptWorker(worker, data, transfer, errorMonitor(), ended);
    else adoptWebWorker(worker, data, transfer, ended, { errorEnds: true, tellsClose: true });
  },

  openInbox(): StartInbox | undefined {
    const { parentPort, receiveMessageOnPort } = builtin('node:worker_threads');
    if (parentPort === null) return undefined;
    // That of a web Worker's thread looks like a port, with members of its own; it can't be taken from, and keeps nothing.
    if (Object.hasOwn(parentPort, 'postMessage')) return new ListeningInbox(globalThis);
    const redeliver = (port: MessagePort, data: unknown): void => {
      port.dispatchEvent(new MessageEvent('message', { data }) as unknown as Event);
    };
    return new TakingInbox({ port: parentPort, take: receiveMessageOnPort, redeliver });
  },
});
