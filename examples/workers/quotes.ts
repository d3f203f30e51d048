// Reads prices until their writer ends, and takes some time over each.
import { parentPort, workerData } from 'node:worker_threads';
import { subscribe } from '../../src/topic/index.ts';
import type { Quote } from '../topic.ts';

export interface Told {
  readonly count: number;
  readonly missed: number;
  readonly last: number;
}

const port = parentPort as NonNullable<typeof parentPort>;
const reader = subscribe<Quote>(workerData.handle, { slow: workerData.slow });
port.postMessage('here');
let count = 0;
let last = -1;
for (const { price } of reader.blocking()) {
  for (const until = performance.now() + 0.005; performance.now() < until; );
  count++;
  last = price;
}
port.postMessage({ count, missed: reader.missed, last } satisfies Told);
