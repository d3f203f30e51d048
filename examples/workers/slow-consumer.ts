// Takes its time over every message: what a busy peer looks like from the other end.
import { parentPort as nativeParent, workerData } from 'node:worker_threads';
import { parentPort } from '../../src/index.ts';

const nap = new Int32Array(new SharedArrayBuffer(4));
const MILLISECONDS_EACH = 1;

if ((workerData as { native?: boolean }).native === true) {
  nativeParent?.on('message', () => Atomics.wait(nap, 0, 0, MILLISECONDS_EACH));
} else {
  for (const _message of parentPort().blocking()) Atomics.wait(nap, 0, 0, MILLISECONDS_EACH);
}
