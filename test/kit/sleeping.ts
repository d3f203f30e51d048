// How an event loop sleeps, chosen for a test (src/port/options.ts has why that is no option).
import type { PortOptions } from '../../src/index.ts';

export type Sleep = 'wait-async' | 'doorbell' | 'both';
const WAY = Symbol.for('millrace.eventLoopWait');

/** Options by which an end's event loop sleeps that way until its channel has joined a link; to be spread into others. */
export const sleeping = (way: Sleep | undefined): PortOptions =>
  (way === undefined ? {} : { [WAY]: way }) as PortOptions;

/** What `sleeping` has put into options: a clone of them loses it. */
export const sleepOf = (options: PortOptions | undefined): Sleep | undefined =>
  (options as { [WAY]?: Sleep } | undefined)?.[WAY];
