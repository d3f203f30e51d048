// What every port does, whatever is under it. A transport is done when `portConformance` passes over it.
//
// The suite is in parts: receiving, sending, sending the newest only, events, values, life. Each is given a world that makes ports.
import { test } from 'node:test';
import type { ChannelOptions, Port } from '../../src/index.ts';
import '../kit/neighbours.ts';
import type { Role, TestThread } from '../kit/thread.ts';
import { portEvents } from './port-events.ts';
import { portLatest } from './port-latest.ts';
import { portLife } from './port-life.ts';
import { portReceiving } from './port-receiving.ts';
import { portSending } from './port-sending.ts';
import { portValues } from './port-values.ts';

export interface PortPair {
  readonly a: Port;
  readonly b: Port;
}

/** Makes ports for the suite. */
export interface PortWorld {
  /** Stands before each test's name. */
  readonly name: string;
  /** Both ends here, on one event loop. */
  pair(options?: ChannelOptions): PortPair | Promise<PortPair>;
  /** One end here, the other with a peer that plays `role` and takes its end by `stage.port()`. */
  far(role: Role, options?: ChannelOptions, data?: unknown): { readonly port: Port; readonly thread: TestThread };
  /** Whether the ends go by memory that both threads see: SharedArrayBuffers arrive shared. */
  readonly sharesMemory: boolean;
  /** Whether a thread may wait without its event loop. */
  readonly blocks: boolean;
  /** Whether objects move, and go the native way. */
  readonly moves: boolean;
  /** Whether `far` has another thread to offer. */
  readonly threads: boolean;
  /**
   * What is sent is not there at once, but in a later turn of the event loop: comes true when all that is on its way has arrived. Nothing,
   * where it is.
   */
  readonly late?: () => Promise<void>;
  /** Whether there is overflow `latest`. */
  readonly latest: boolean;
}

/** Worlds over a byte stream: nothing is shared, and there is no other thread. */
export const OVER_A_STREAM: Omit<PortWorld, 'name' | 'pair'> = {
  sharesMemory: false,
  blocks: false,
  moves: false,
  threads: false,
  latest: false,
  far: () => {
    throw new Error('there is no other thread');
  },
};

/** Registers a test only in worlds in which it means something. */
export function only(meant: boolean): typeof test {
  return meant ? test : ((() => {}) as unknown as typeof test);
}

export function portConformance(world: PortWorld): void {
  portReceiving(world);
  portSending(world);
  if (world.latest) portLatest(world);
  portEvents(world);
  portValues(world);
  portLife(world);
}

/** Whether an error about what is too large says how long it is, at least, and what the limit is. */
export function saysLengths(error: unknown, limit: number): boolean {
  const told = error as { length?: unknown; limit?: unknown };
  return told.limit === limit && typeof told.length === 'number' && told.length > limit;
}
