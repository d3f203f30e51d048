// piscina, and tinypool, which is what vitest made of it: pools of workers that take tasks.
import type { CallSubject } from '../call-subject.ts';
import { loadRival, missingRival } from './rival.ts';

interface Pool {
  run(value: unknown): Promise<unknown>;
  destroy(): Promise<void>;
}
type PoolClass = new (options: object) => Pool;
type Found = { Piscina?: PoolClass; Tinypool?: PoolClass; default?: PoolClass & { Piscina?: PoolClass } };

const FILES = { piscina: 'dist/main.js', tinypool: 'dist/index.js' } as const;
/** As many as its rows say. */
export const POOL_THREADS = 2;

function subject(name: 'piscina' | 'tinypool', use: string): CallSubject {
  return {
    name: `pool-${name}`,
    label: name,
    use,
    can: ['task'],
    wait: 'loop/loop',
    absent: async () => {
      if (name === 'tinypool' && process.versions['deno'] !== undefined) {
        return { reason: 'on Deno it answers no more now and then, with 100 tasks under way' };
      }
      return missingRival(name, FILES[name]);
    },
    open: async () => {
      const found = await loadRival<Found>(name, FILES[name]);
      const Class = found.Piscina ?? found.Tinypool ?? found.default?.Piscina ?? found.default!;
      const filename = new URL('./pool-task.js', import.meta.url).href;
      const pool = new Class({ filename, minThreads: POOL_THREADS, maxThreads: POOL_THREADS });
      return { task: () => pool.run(undefined), close: () => pool.destroy() };
    },
  };
}

export const subjects: readonly CallSubject[] = [
  subject(
    'piscina',
    'pool.run of an empty task, two threads, everything else as it is by default: its Atomics wait is on, and a thread has one task at a time.',
  ),
  subject('tinypool', 'The same: pool.run of an empty task, two threads, the rest by default.'),
];
