// synckit: a function of a worker, called with this thread blocked.
import { fileURLToPath } from 'node:url';
import type { CallSubject } from '../call-subject.ts';
import { loadRival, missingRival } from './rival.ts';

interface Package {
  createSyncFn(file: string, options?: { timeout?: number }): (a: number, b: number) => number;
}

export const SYNCKIT_FILE = 'lib/index.js';

export const subjects: readonly CallSubject[] = [
  {
    name: 'synckit',
    label: 'synckit',
    use: 'createSyncFn with a time limit, and runAsWorker in a worker of its own making, as its documentation shows.',
    can: ['addBlocked'],
    wait: 'block/block',
    absent: async () => missingRival('synckit', SYNCKIT_FILE),
    open: async () => {
      const { createSyncFn } = await loadRival<Package>('synckit', SYNCKIT_FILE);
      const file = fileURLToPath(new URL('./synckit-worker.js', import.meta.url));
      // It keeps its worker, which holds no process, and cannot be told to end it.
      return { addBlocked: createSyncFn(file, { timeout: 20_000 }), close: () => {} };
    },
  },
];
