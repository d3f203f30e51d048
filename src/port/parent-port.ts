// The worker's half of `spawn`.
import { platform } from '#platform';
import { UsageError } from '../errors.ts';
import { attachWatching, type SpawnData } from './channel.ts';
import type { Port } from './port.ts';

let parent: Port | undefined;

/**
 * The port to the thread that started this one with `spawn`. The same object at every call.
 * @throws UsageError ERR_HANDLE in a thread that `spawn` did not start
 */
export function parentPort<In = unknown, Out = unknown>(): Port<In, Out> {
  const data = platform.spawnData as SpawnData | undefined;
  if (data === undefined) {
    throw new UsageError('ERR_HANDLE', 'Cannot open the parent port: this thread was not started with spawn()');
  }
  // A worker does not outlive its parent, so a blocked one need not look after it.
  parent ??= attachWatching(data.remote, data.options, Number.POSITIVE_INFINITY);
  return parent as Port<In, Out>;
}
