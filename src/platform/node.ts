// Node, and the shape that bun.ts and deno.ts vary: both runtimes offer node:worker_threads.
import type { MessageChannel, MessagePort } from 'node:worker_threads';
import { builtin, process } from './builtins.ts';
import type { NativePort, Platform, TetherHandlers, ThreadEnd } from './contract.ts';
import { runtimeClasses } from './runtime-classes.ts';

type Port = MessagePort;

const timers = /* @__PURE__ */ builtin('node:timers');
const util = /* @__PURE__ */ builtin('node:util');
const workerThreads = /* @__PURE__ */ builtin('node:worker_threads');

/** Thrown by a getter to stop a clone before it has moved anything. */
const STOP: Error = new Error('stop');

/**
 * Whether a port is closed here. Taking from a port whose other side is gone closes it here and now, and the transfer of
 * a closed port is refused before the value is looked at (Node 20 to 26). A getter stops the clone of a port that could
 * move. It takes 5 to 30 us and leaves no message with a peer that may not look for hours, as posting one would.
 */
function isClosed(port: NativePort): boolean {
  let movable = false;
  const trap = {
    get stop(): never {
      movable = true;
      throw STOP;
    },
  };
  try {
    structuredClone(trap, { transfer: [port as unknown as Port] });
  } catch (error) {
    // Which of the two threw, `movable` says; unless it is that the stack has ended, which is no news of the port.
    return !movable && !(error instanceof RangeError);
  }
  return false;
}

let probes: boolean | undefined;

/** Whether `isClosed` is right here. A Node on which it is not must not end healthy channels: it learns of no end so. */
function probesWork(): boolean {
  const { port1, port2 } = new workerThreads.MessageChannel();
  const [open, closed] = [port1, port2] as unknown as readonly [NativePort, NativePort];
  nodePlatform.listen(open, { message: () => {}, closed: () => {} });
  const tellsOpen = !isClosed(open) && !isClosed(closed) && !isClosed(open);
  open.close();
  const tellsClosed = isClosed(open);
  closed.close();
  return tellsOpen && tellsClosed;
}

/** Carries ports from this thread to itself. structuredClone would do, but on Deno it gives ports of the web's class. */
let ferry: MessageChannel | undefined;

/** @throws what posting throws; nothing has moved then */
export function ferried(value: unknown, transfer: readonly unknown[]): unknown {
  ferry ??= new workerThreads.MessageChannel();
  ferry.port1.postMessage(value, transfer as Port[]);
  return nodePlatform.takeMessage(ferry.port2 as unknown as NativePort)?.message;
}

export const nodePlatform: Platform = {
  name: 'node',
  canBlock: true,
  agentLocks: undefined,
  canTake: true,
  movesWhole: true,
  cloneKeepsPorts: false,
  closeDropsPosted: false,
  walksMessages: false,
  asyncPark: 'doorbell',
  turnsAreDear: false,
  turnWhileAsleep: undefined,
  nativeTextMin: Number.POSITIVE_INFINITY,
  nativeMemberTextMin: Number.POSITIVE_INFINITY,
  nativeWideTextMin: Number.POSITIVE_INFINITY,
  isProxy: (value) => util.types.isProxy(value),

  messageChannel(): readonly [NativePort, NativePort] {
    const { port1, port2 } = new workerThreads.MessageChannel();
    return [port1 as unknown as NativePort, port2 as unknown as NativePort];
  },

  isNativePort(value: unknown): boolean {
    return value instanceof workerThreads.MessagePort;
  },

  cloneMoving: (value, transfer) => structuredClone(value, { transfer: transfer as Transferable[] }),

  moveHere(ports: readonly NativePort[]): readonly NativePort[] | undefined {
    try {
      return ferried(ports, ports) as NativePort[];
    } catch {
      return undefined;
    }
  },

  isWorker(value: unknown): boolean {
    return value instanceof workerThreads.Worker;
  },

  listen(port: NativePort, handlers: TetherHandlers): void {
    const native = port as unknown as Port;
    native.on('message', handlers.message);
    native.on('close', handlers.closed);
    native.start();
    native.unref();
  },

  takeMessage(port: NativePort): { readonly message: unknown } | undefined {
    return workerThreads.receiveMessageOnPort(port as unknown as Port) as { message: unknown } | undefined;
  },

  canProbe(): boolean {
    probes ??= probesWork();
    return probes;
  },

  probeGone(port: NativePort): boolean {
    return nodePlatform.canProbe() && isClosed(port);
  },

  hold(port: NativePort, held: boolean): void {
    const native = port as unknown as Port;
    if (held) native.ref();
    else native.unref();
  },

  startOwn(name: string, task: string, data: unknown, lost: () => void): boolean {
    const source = `import { workerData } from 'node:worker_threads';(${task})(workerData);`;
    // Bun's loader makes an empty module of a data: URL with a dot in it.
    const url = new URL(`data:text/javascript,${encodeURIComponent(source).replaceAll('.', '%2E')}`);
    // What the program preloads into each of its threads has no use there.
    const worker = new workerThreads.Worker(url, { name, workerData: data, execArgv: [] });
    worker.on('error', lost);
    worker.unref();
    return true;
  },

  get parallelism(): number {
    return builtin('node:os').availableParallelism();
  },

  turn(task: () => void): void {
    setImmediate(task);
  },

  endOfTurn(task: () => void): void {
    process.nextTick(task);
  },

  later(task: () => void, ms: number): void {
    timers.setTimeout(task, ms).unref();
  },

  runtimeClasses,

  reportError(error: unknown): void {
    process.nextTick(() => {
      throw error;
    });
  },

  onThreadEnd(task: (how: ThreadEnd, code?: number) => void): void {
    let how: ThreadEnd = 'exit';
    nodePlatform.onCrash(() => {
      how = 'crash';
    });
    // An exception that an uncaughtException listener took is no crash; the exit code of a later end says so.
    process.on('exit', (code) => task(code === 0 ? 'exit' : how, code));
  },

  onCrash(task: (error: unknown) => void): void {
    process.on('uncaughtExceptionMonitor', (error: unknown) => {
      // Somebody who handles it keeps the thread going.
      if (process.listenerCount('uncaughtException') === 0) task(error);
    });
  },
};
