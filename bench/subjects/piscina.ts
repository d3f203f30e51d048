// Piscina: a pool of workers that take tasks. Here a pool of one, and a task that returns its argument.
import type { ThreadSubject } from '../subject.ts';
import { loadRival, missingRival } from './rival.ts';

interface Pool {
  run(value: unknown): Promise<unknown>;
  destroy(): Promise<void>;
}

const FILE = 'dist/main.js';

export const subjects: readonly ThreadSubject[] = [
  {
    name: 'piscina',
    label: 'piscina, one thread',
    use: 'pool.run of a task that returns its argument, one thread, its Atomics wait left on, which is its fast path.',
    forms: [],
    waits: ['loop/loop'],
    quickIn: ['round-trip'],
    absent: async () => missingRival('piscina', FILE),
    connect: async () => {
      type Package = { Piscina: new (options: object) => Pool };
      const found = await loadRival<Package & { default?: Package }>('piscina', FILE);
      const Piscina = found.Piscina ?? found.default?.Piscina;
      const filename = new URL('./piscina-task.js', import.meta.url).href;
      const pool = new Piscina!({ filename, minThreads: 1, maxThreads: 1, concurrentTasksPerWorker: 1 });
      return { end: { ask: (value) => pool.run(value), close: () => pool.destroy() }, data: undefined };
    },
    attach: () => ({ close: () => {} }),
  },
];
