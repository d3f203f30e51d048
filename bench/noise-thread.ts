// The second thread of the noise probe.
import { parentPort, workerData } from 'node:worker_threads';
import { GO, spin } from './noise-spin.ts';

const word = workerData as Int32Array;
for (let i = 0; i < 10; i++) spin();
parentPort!.postMessage('ready');
for (;;) {
  Atomics.wait(word, 0, 0);
  spin();
  Atomics.compareExchange(word, 0, GO, 0);
  Atomics.notify(word, 0);
}
