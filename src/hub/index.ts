// The door to what needs no server: ports, topics, requests and queues by name between threads and processes of one program, through a hub in one of them.
import { checkEngineOptions, Engine, type EngineOptions } from '../engine/engine.ts';
import { attach, channel } from '../port/channels.ts';
import type { Port } from '../port/port.ts';
import { type Dial, HubDriver } from './driver.ts';
import { Hub } from './hub.ts';

export * from '../engine/index.ts';
export type { Dial } from './driver.ts';
export { Hub, type HubOptions, type HubStats } from './hub.ts';

/**
 * @param hub one of this thread; or a port whose other end was joined to one, of whatever distance (`parentPort()`, `attach(remote)`, `connect(address)`), with which the engine
 *   ends; or a function that gives such a port, which is asked again when that one has ended, until the engine is closed
 * @throws (rejects) UsageError ERR_OPTION; UnsupportedError for a hub of another version, and what is none; TimeoutError where nobody greets; ClosedError; what the function throws
 */
export async function open(hub: Hub | Port | Dial, options: EngineOptions = {}): Promise<Engine> {
  const names = checkEngineOptions(options, true);
  const again = typeof hub === 'function';
  const dial = again ? hub : () => (hub instanceof Hub ? ownPort(hub) : hub);
  return new Engine(await HubDriver.over(dial, again, names), names);
}
function ownPort(hub: Hub): Port {
  const { port, remote } = channel();
  hub.join(attach(remote));
  return port;
}
