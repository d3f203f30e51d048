// The platform of a model: no threads and no event loop of its own. Native ports are objects of the model (native.ts).
import type { BlockMemory, TetherHandlers } from '../../src/platform/contract.ts';

export interface ModelPort {
  listen(handlers: TetherHandlers): void;
  take(): { readonly message: unknown } | undefined;
  gone(): boolean;
}

/** Block copies over any bytes, those of a model's memory included. */
export function blocksOf(bytes: Uint8Array): BlockMemory {
  return {
    copyIn: (source, offset) => bytes.set(source, offset),
    copyOut: (target, start, length, at = 0) => target.set(bytes.subarray(start, start + length), at),
  };
}

/** What a model decides, for whichever thread runs. */
export const modelled: {
  canTake: boolean;
  canBlock: boolean;
  /** Native ports, where a model makes them itself. */
  channel: () => readonly unknown[];
  isNativePort: (value: unknown) => boolean;
  later: (task: () => void) => void;
  /** Whose code runs. */
  thread: unknown;
} = {
  canTake: true,
  canBlock: true,
  channel: () => [{}, {}],
  isNativePort: () => false,
  later: () => {},
  thread: undefined,
};

const members: Record<string, unknown> = {
  name: 'node',
  get canBlock() {
    return modelled.canBlock;
  },
  asyncPark: 'wait-async',
  turnsAreDear: false,
  get canTake() {
    return modelled.canTake;
  },
  // So what is said again is not modelled: it comes at any time, and each time is a world of its own.
  movesWhole: true,
  closeDropsPosted: false,
  canProbe: () => true,
  randomWords: (count: number) => crypto.getRandomValues(new Uint32Array(count)),
  sharedMemory: (bytes: number) => new SharedArrayBuffer(bytes),
  blockMemory: (memory: ArrayBuffer) => blocksOf(new Uint8Array(memory)),
  byteView: (memory: ArrayBuffer) => new Uint8Array(memory),
  isNativePort: (value: unknown) => modelled.isNativePort(value),
  messageChannel: () => modelled.channel(),
  later: (task: () => void) => modelled.later(task),
  moveHere: (ports: unknown) => ports,
  cloneMoving: (value: unknown) => structuredClone(value),
  isWorker: () => false,
  listen: (port: ModelPort, handlers: TetherHandlers) => port.listen(handlers),
  takeMessage: (port: ModelPort) => port.take(),
  parallelism: 1,
  probeGone: (port: ModelPort) => port.gone(),
  hold: () => undefined,
  turn: (task: () => void) => queueMicrotask(task),
  runtimeClasses: () => new Set(),
  reportError(error: unknown) {
    throw error;
  },
};

/** Whatever else the source asks for (fast paths over memory) is an object that nobody calls here. */
export const platform: object = new Proxy(members, {
  get: (_, name: string) => (name in members ? members[name] : () => ({})),
});
export const platformMemory: object = platform;
export const platformText = (): object => ({});
export const platformForms = undefined;
export const platformStart: object = platform;
