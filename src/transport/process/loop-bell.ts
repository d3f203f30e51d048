// A bell for threads of one process: as between processes, but that no descriptor has to go anywhere. A process has one table of them, so a number will do,
// for who takes hold of it with a duplicate.
import { platform as system } from 'node:process';
import { platform } from '#platform';
import type { HeldBell, LoopBell } from '../../link/bell-pair.ts';
import { BELL, EDGE, type Primitives, READABLE } from '../../native/primitives.ts';

/** Why threads of this runtime have none; `undefined` if they may. */
export function noLoopBell(): string | undefined {
  if (platform.name !== 'node') return `threads of ${platform.name} wait for words in memory`;
  return system === 'linux' ? undefined : `bells are made for Linux, and this is ${system}`;
}

/**
 * @param heard called from the event loop, which does not stay for it
 * @throws what the system says
 */
export function makeLoopBell(native: Primitives, heard: () => void): LoopBell {
  const number = native.createBell();
  try {
    // Both end with this thread.
    native.holdLoop(native.watch(number, READABLE | BELL | EDGE, heard), false);
    native.keep(number);
  } catch (error) {
    native.close(number);
    throw error;
  }
  return { number, hold: (other) => hold(native, other) };
}

function hold(native: Primitives, number: unknown): HeldBell | undefined {
  let descriptor: number;
  try {
    descriptor = native.duplicate(number as number);
  } catch {
    // It is none, or none more may be had: then messages go on.
    return undefined;
  }
  if (!native.isBell(descriptor)) {
    native.close(descriptor);
    return undefined;
  }
  native.keep(descriptor);
  return { ring: () => native.ring(descriptor), close: () => native.close(descriptor) };
}
