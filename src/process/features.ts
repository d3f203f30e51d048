// What this runtime and thread can do between processes, beside what it can do at all.
import { native } from '../native/load.ts';
import { type Features, features as ofThreads } from '../port/features.ts';
import type { Way } from '../transport/transport.ts';
import { loopWay } from './wake-by-bell.ts';

export interface ProcessFeatures extends Features {
  /**
   * By what a channel to another process of this machine goes at best, as far as this side is concerned: `{ name: 'memory' }`, or
   * `{ name: 'unix', why }` where this side can have no memory in common with another process, with the reason: the addon that is missing, a permission,
   * the system. It takes two: by what a connection goes, `port.link.way` says, and `port.stats().way`.
   */
  readonly processWay: Way;
  /**
   * How other threads of this process wake this thread's event loop: `{ name: 'bell' }` once `wakeByBell()` has said so; else by what the runtime has,
   * `{ name: 'doorbell', why }` (a message on a native port) or `{ name: 'wait-async', why }`. A bell takes two: a thread that has none rings as ever.
   */
  readonly loopWay: Way;
}

/**
 * What this runtime and thread can do, as `features()` of `millrace` says, and whether it can share memory with other processes. The first call loads the
 * addon, or finds libc, where no connection has done so. Asks for no permission, and never throws.
 */
export function features(): ProcessFeatures {
  const found = native();
  const processWay = found.primitives === undefined ? { name: 'unix', why: found.why } : { name: 'memory' };
  return { ...ofThreads(), processWay, loopWay: loopWay() };
}
