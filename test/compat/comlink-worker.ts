// A thread that exposes what test/compat/comlink-api.ts has.
import { parentPort, workerData } from 'node:worker_threads';
import { startWorker } from './comlink-api.ts';

const own = startWorker(parentPort as never, workerData as never);
// Held as long as the thread is there.
(globalThis as { own?: unknown }).own = own;
// A thread whose port is not its parent's has to be kept for those.
parentPort?.on('message', () => {});
