// What every port does, whatever is under it. A transport is done when `portConformance` passes over it.
//
// The suite is in parts: receiving, sending, sending the newest only, events, values, life. Each is given a world that makes ports.
import type { ChannelOptions, Port } from '../../src/index.ts';
import type { Role, TestThread } from '../kit/thread.ts';
import { portEvents } from './port-events.ts';
import { portLatest } from './port-latest.ts';
import { portLife } from './port-life.ts';
import { portReceiving } from './port-receiving.ts';
import { portSending } from './port-sending.ts';
import { portValues } from './port-values.ts';

/** Makes ports for the suite. */
export interface PortWorld {
  /** Stands before each test's name. */
  readonly name: string;
  /** Both ends here, on one event loop. */
  pair(options?: ChannelOptions): { readonly a: Port; readonly b: Port };
  /** One end here, the other with a peer that plays `role` and takes its end by `stage.port()`. */
  far(role: Role, options?: ChannelOptions, data?: unknown): { readonly port: Port; readonly thread: TestThread };
  /** Whether the ends go by memory that both threads see: SharedArrayBuffers arrive shared. */
  readonly sharesMemory: boolean;
}

export function portConformance(world: PortWorld): void {
  portReceiving(world);
  portSending(world);
  portLatest(world);
  portEvents(world);
  portValues(world);
  portLife(world);
}
