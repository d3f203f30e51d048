// A thread of a forked process: it has no port to the parent.
import { parentPort as native } from 'node:worker_threads';
import { parentPort } from '../../src/process/index.ts';

try {
  parentPort();
  native?.postMessage('a port');
} catch (error) {
  native?.postMessage((error as { code?: string }).code);
}
