// worker.postMessage and parentPort: the same native port, the way most programs write it.
import { type MessagePort, parentPort, type Worker } from 'node:worker_threads';
import type { End, ThreadSubject } from '../subject.ts';

function wrap(target: Worker | MessagePort): End {
  let handler: ((value: unknown) => void) | null = null;
  let started = false;
  const take = (message: unknown): void => handler?.(message);
  return {
    post: (value) => target.postMessage(value),
    listen: (next) => {
      handler = next;
      if (!started) (target as MessagePort).on('message', take);
      started = true;
    },
    close: () => {
      (target as MessagePort).off('message', take);
    },
  };
}

const LIFE = `import { parentPort } from 'node:worker_threads';
parentPort.once('message', (message) => {
  parentPort.postMessage(message.id);
  parentPort.close ? parentPort.close() : close(); // Deno's has no close
});
`;

function write(worker: Worker, message: unknown): void {
  worker.postMessage(message);
}

export const subjects: readonly ThreadSubject[] = [
  {
    name: 'worker-post',
    label: 'worker.postMessage',
    use: 'worker.postMessage and parentPort.on("message"), values as they are, within 4 MiB of unread messages.',
    forms: ['bytes', 'string', 'object'],
    waits: ['loop/loop'],
    quickIn: ['round-trip', 'workers-50'],
    life: () => ({ source: LIFE, open: () => ({ workerOptions: {}, write, close: () => {} }) }),
    connect: ({ worker }) => ({ end: wrap(worker), data: undefined }),
    attach: () => wrap(parentPort!),
  },
];
