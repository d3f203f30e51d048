// Bells for threads, for programs that have the addon: the one place where what is of processes and what is of threads meet.

import { platform } from '#platform';
import { BellPairs } from '../link/bell-pair.ts';
import { loopBells } from '../link/loop-bells.ts';
import { native } from '../native/load.ts';
import { makeLoopBell, noLoopBell } from '../transport/process/loop-bell.ts';
import type { Way } from '../transport/transport.ts';

/**
 * From here on a bell wakes this thread's event loop where a message of the runtime's has done so: an eventfd, which the addon watches and other threads ring.
 * It takes two: threads that have both called this ring each other so, over channels that there are already, too, and every other one as ever. What blocks
 * is not concerned. Costs two descriptors a thread, and one for each other thread that it has channels with; they end with the thread.
 *
 * Returns how this event loop is woken from now on, as `features().loopWay` says: `{ name: 'bell' }`, or what it was with the reason why it stays so. Never
 * throws, and asks for no permission.
 */
export function wakeByBell(): Way {
  const why = noLoopBell();
  if (why !== undefined) return byRuntime(why);
  const found = native();
  const { primitives } = found;
  if (primitives === undefined) return byRuntime(found.why);
  try {
    loopBells().ringBy((heard) => new BellPairs(makeLoopBell(primitives, heard)));
    return { name: 'bell' };
  } catch (error) {
    return byRuntime(`no bell can be had: ${(error as Error).message}`);
  }
}

/** How other threads wake this event loop. */
export function loopWay(): Way {
  if (platform.asyncPark !== 'doorbell') return byRuntime(noLoopBell());
  return loopBells().any ? { name: 'bell' } : byRuntime('wakeByBell() was not called in this thread');
}

function byRuntime(why: string | undefined): Way {
  return { name: platform.asyncPark, why };
}
