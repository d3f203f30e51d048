// Browsers, and what a bundle for script tags carries: the web's globals only. A document's main thread may not block;
// a dedicated worker may. Without cross-origin isolation there is no SharedArrayBuffer, and `channel` says so.

import { UnsupportedError } from '../errors.ts';
import { TURNS_MS } from '../limits.ts';
import type {
  Forsake,
  HostForms,
  NativePort,
  Platform,
  StartPlatform,
  TetherHandlers,
  ThreadEnd,
  ThreadEnded,
} from './contract.ts';
import { fetchesSync, fetchSync } from './fetch-sync.ts';
import { turnWhileAsleep, wakesStayBehind } from './late-wakes.ts';
import { ListeningInbox, type StartInbox } from './start-inbox.ts';
import { webForms } from './web-forms.ts';
import { webLocks } from './web-locks.ts';
import { adoptWebWorker, isWebWorker } from './web-worker.ts';

export { platformMemory } from './browser-memory.ts';
export { browserText as platformText } from './browser-text.ts';

/** Asked by doing it, with nothing to wait for: the value differs, so that it returns at once where it is allowed. */
function mayBlock(): boolean {
  try {
    return Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 1, 0) === 'not-equal';
  } catch {
    return false;
  }
}

function bestPark(): Platform['asyncPark'] {
  if (!('waitAsync' in Atomics)) return 'doorbell';
  return wakesStayBehind() ? 'both' : 'wait-async';
}

const tasks: (() => void)[] = [];
let turns: Turns | undefined;

/** What makes the event loop turn once more. It calls `nextTask` over there, or each time that it was asked to. */
interface Turns {
  ask(): void;
  /** There is nothing more to do. */
  rest(): void;
}

function nextTask(): void {
  const task = tasks.shift();
  if (tasks.length === 0) turns?.rest();
  task?.();
}

function nextScheduledTask(): void {
  try {
    nextTask();
  } catch (error) {
    // It would be the rejection of a promise that nobody has.
    platform.reportError(error);
  }
}

/** What does it soonest here, and lets timers, frames and messages have their turns; decision 0058 has what was measured. */
function makeTurns(): Turns {
  const { scheduler } = globalThis as { readonly scheduler?: { postTask?(task: () => void): unknown } };
  if (typeof scheduler?.postTask === 'function') {
    const scheduling = { ask: () => void scheduler.postTask?.(nextScheduledTask), rest: () => {} };
    return starvesTimers() ? withPauses(scheduling) : scheduling;
  }
  return toggling() ?? channelling();
}

/** A worker of Firefox, whose timers have no turn as long as one scheduled task asks for the next one. */
function starvesTimers(): boolean {
  return 'InternalError' in globalThis && typeof document !== 'object';
}

/** Scheduled tasks, and after some time of them one by a native port, between whose messages timers have their turns. */
function withPauses(scheduling: Turns): Turns {
  const { ask, rest } = channelling();
  let pausedAt = performance.now();
  return {
    ask() {
      const now = performance.now();
      if (now - pausedAt < TURNS_MS) scheduling.ask();
      else {
        pausedAt = now;
        ask();
      }
    },
    rest,
  };
}

/** A page of WebKit: a native port takes turns by way of another process. What is shown or hidden tells so in a task, to nobody else. */
function toggling(): Turns | undefined {
  if (typeof document !== 'object') return undefined;
  const details = document.createElement('details');
  // A document that is no HTML makes something else of the name.
  if (details.open !== false) return undefined;
  const ask = (): void => {
    details.open = !details.open;
  };
  details.addEventListener('toggle', () => {
    // It tells once of all that was asked for since it told last.
    if (tasks.length > 1) ask();
    nextTask();
  });
  return { ask: () => tasks.length === 1 && ask(), rest: () => {} };
}

function channelling(): Turns {
  const { port1, port2 } = new MessageChannel();
  return {
    ask: () => {
      port1.onmessage = nextTask;
      port2.postMessage(0);
    },
    // Where a port with a listener keeps its process alive (a bundle may run on Node), an idle one must not.
    rest: () => {
      port1.onmessage = null;
    },
  };
}

export const platformForms: HostForms | undefined = webForms;

/** A text of so many characters does not exist. Reading a property of Number's is no pure thing to a bundler; a call can be declared to be. */
const NEVER: number = /* @__PURE__ */ Number('Infinity');

// Everything in it is pure, so that a door which has no use for the platform is bundled without it.
export const platform: Platform = {
  name: 'browser',
  canBlock: /* @__PURE__ */ mayBlock(),
  agentLocks: /* @__PURE__ */ webLocks(),
  canTake: false,
  // In Firefox it connects anew, by turns of the event loop. Until then nothing leaves a thread that blocks, memory of another thread
  // that is posted arrives as a `messageerror`, and what the other end posts before it closes is lost.
  movesWhole: false,
  cloneKeepsPorts: false,
  closeDropsPosted: false,
  walksMessages: false,
  asyncPark: /* @__PURE__ */ bestPark(),
  turnsAreDear: /* @__PURE__ */ wakesStayBehind(),
  turnWhileAsleep: /* @__PURE__ */ wakesStayBehind() ? turnWhileAsleep : undefined,
  nativeTextMin: NEVER,
  nativeMemberTextMin: NEVER,
  nativeWideTextMin: NEVER,
  isProxy: (): boolean => false,

  messageChannel(): readonly [NativePort, NativePort] {
    const { port1, port2 } = new MessageChannel();
    return [port1 as unknown as NativePort, port2 as unknown as NativePort];
  },

  isNativePort(value: unknown): boolean {
    return value instanceof MessagePort;
  },

  cloneMoving: (value, transfer) => structuredClone(value, { transfer: transfer as Transferable[] }),

  moveHere(ports: readonly NativePort[]): readonly NativePort[] | undefined {
    try {
      return structuredClone(ports, { transfer: ports as unknown as Transferable[] });
    } catch {
      return undefined;
    }
  },

  isWorker(value: unknown): boolean {
    return typeof Worker === 'function' && value instanceof Worker;
  },

  // Content security policies refuse what is made of a text.
  startOwn: () => false,

  listen(port: NativePort, handlers: TetherHandlers): void {
    const native = port as unknown as MessagePort;
    native.addEventListener('message', (event) => handlers.message(event.data));
    native.addEventListener('messageerror', () => handlers.unreadable?.());
    // Not every browser tells; where none does, a peer that vanishes is found out by its silence only.
    native.addEventListener('close', () => handlers.closed());
    native.start();
  },

  takeMessage(): undefined {
    return undefined;
  },

  canProbe: () => false,
  probeGone(): boolean {
    return false;
  },

  // A page lives as long as it is open.
  hold(): void {},

  get parallelism(): number {
    return navigator.hardwareConcurrency;
  },

  fetchSync: /* @__PURE__ */ fetchesSync() ? fetchSync : undefined,

  endOfTurn(task: () => void): void {
    behind(task, MICROTASKS);
  },

  // Not setTimeout, which takes at least 4 ms once it is nested.
  turn(task: () => void): void {
    tasks.push(task);
    turns ??= makeTurns();
    turns.ask();
  },

  later(task: () => void, ms: number): void {
    setTimeout(task, ms);
  },

  runtimeClasses: () => new Set(),
  reportError(error: unknown): void {
    setTimeout(() => {
      throw error;
    });
  },

  onThreadEnd(task: (how: ThreadEnd) => void): void {
    globalThis.addEventListener?.('pagehide', (event) => {
      // A persisted page is asleep in the back-forward cache, and may come back with its ports.
      if (!(event as PageTransitionEvent).persisted) task('exit');
    });
    // Of a worker's own close() nobody is told, so the call says it. What runs after it in the same turn is told nothing more.
    const { close } = globalThis;
    // A service worker has none.
    if (!('WorkerGlobalScope' in globalThis) || typeof close !== 'function') return;
    const value = (): void => {
      close.call(globalThis);
      task('exit');
    };
    Reflect.defineProperty(globalThis, 'close', { value, configurable: true, writable: true, enumerable: true });
  },

  // An uncaught error ends no thread here.
  onCrash(): void {},
};

export const platformStart: StartPlatform = {
  randomWords: (count) => crypto.getRandomValues(new Uint32Array(count)),

  // A browser's worker has nothing waiting for it when its first line runs; start data comes in a message.
  data: undefined,

  spawn(): never {
    throw new UnsupportedError(
      "Cannot spawn from a URL in a browser, where a bundler must see it: spawn(() => new Worker(new URL('./worker.js', import.meta.url), { type: 'module' }))",
      { feature: 'spawn' },
    );
  },

  tellsEnd(worker: unknown): boolean | undefined {
    return isWebWorker(worker) ? false : undefined;
  },

  adopt(worker: unknown, data: unknown, transfer: readonly unknown[], ended: ThreadEnded, forsake: Forsake): void {
    // Nobody tells of the end of a Worker here, and an error is none, unless it never began.
    adoptWebWorker(worker, data, transfer, ended, { errorEnds: false, tellsClose: false }, forsake);
  },

  openInbox(): StartInbox | undefined {
    return 'DedicatedWorkerGlobalScope' in globalThis ? new ListeningInbox(globalThis) : undefined;
  },
};

/** Of one message after the other that is handed out, each in a microtask, so many have their turn; they cost less than one thing that is sent by itself. */
const MICROTASKS = 16;

function behind(task: () => void, more: number): void {
  queueMicrotask(more === 0 ? task : () => behind(task, more - 1));
}
