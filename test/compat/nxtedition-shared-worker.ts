// The other thread of nxtedition-shared.test.ts: does what the test asks, then ends.
import { parentPort, workerData } from 'node:worker_threads';
import { type BufferRegion, reader, type SharedBuffers, writer } from '../../src/compat/nxtedition-shared.ts';

import { Gates } from '../kit/gate.ts';
import { STEP_MS } from '../kit/watchdog.ts';

export interface Job {
  buffers: SharedBuffers;
  task: 'poll' | 'wait' | 'wait-async' | 'read-after' | 'write' | 'end' | 'end-later' | 'ask' | 'hold';
  gates?: SharedArrayBuffer;
  other?: SharedBuffers;
  count?: number;
  length?: number;
}
const job = workerData as Job;
const { buffers, count = 0, length = 0 } = job;
const port = parentPort!;

/** Adds up what it is given, and checks that each record is filled with one value. */
function summing(): { next: (data: BufferRegion) => void; count: () => number; sum: () => number } {
  let seen = 0;
  let sum = 0;
  return {
    next: ({ buffer, offset, length }) => {
      seen++;
      sum += buffer[offset]! * length;
      if (buffer[offset] !== buffer[offset + length - 1]) sum = Number.NaN;
    },
    count: () => seen,
    sum: () => sum,
  };
}

const sum = summing();
const report = (): void => port.postMessage({ count: sum.count(), sum: sum.sum() });

if (job.task === 'poll') {
  const r = reader(buffers);
  const poll = (): void => {
    r.readSome(sum.next);
    if (sum.count() < count) setImmediate(poll);
    else report();
  };
  poll();
} else if (job.task === 'wait') {
  const r = reader(buffers, {});
  port.postMessage('up');
  while (r.waitReadable()) r.readSome(sum.next);
  report();
} else if (job.task === 'wait-async') {
  const r = reader(buffers, {});
  port.postMessage('up');
  while (await r.waitReadableAsync()) r.readSome(sum.next);
  report();
} else if (job.task === 'read-after') {
  // Reads only once the word says so: the writer is to find the ring full before.
  const word = new Int32Array(buffers.sharedState);
  Atomics.wait(word, 8, 0);
  const r = reader(buffers);
  while (sum.count() < count) r.readSome(sum.next);
  report();
} else if (job.task === 'write') {
  const w = writer(buffers, {});
  for (let i = 0; i < count; i++) {
    w.writeSync(length, ({ buffer, offset }) => {
      buffer.fill(i & 0x7f, offset, offset + length);
      return offset + length;
    });
  }
  w.close();
} else if (job.task === 'end') {
  if (length === 0) reader(buffers, { liveness: true });
  else writer(buffers, { liveness: true });
} else if (job.task === 'end-later') {
  if (length === 0) reader(buffers, { liveness: true });
  else writer(buffers, { liveness: true });
  port.postMessage('up');
  // The message has to leave before this thread blocks.
  setTimeout(() => new Gates(job.gates).pass(0), 0);
} else if (job.task === 'ask') {
  const w = writer(job.other as SharedBuffers, {});
  const r = reader(buffers, {});
  w.writeSync(8, ({ buffer, offset }) => offset + buffer.write('question', offset));
  if (r.waitReadable(STEP_MS)) {
    r.readSome(({ buffer, offset, length }) => port.postMessage(buffer.toString('utf8', offset, offset + length)));
  } else port.postMessage('nothing came');
} else {
  reader(buffers, {});
  port.on('message', () => {});
  port.postMessage('up');
}
