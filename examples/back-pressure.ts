// Step 2. A fast producer against a slow consumer. The native port takes everything and grows; ours pushes back.
import { Worker } from 'node:worker_threads';
import { spawn } from '../src/index.ts';
import { heading, isProgram, megabytes, say, table } from './screen.ts';

const CONSUMER = new URL('./workers/slow-consumer.js', import.meta.url);
const MESSAGE_BYTES = 20_000;
const SECONDS_EACH = 2;
/** What nobody holds back is stopped here: the machine may have little memory, and the point is made. */
const GROWTH_MAX_BYTES = 512 * 1024 * 1024;

interface Outcome {
  readonly sent: number;
  readonly grown: number;
}

/** Lets `send` run in turns of the event loop for a while and watches how far memory grows. */
async function flood(send: () => void | Promise<void>): Promise<Outcome> {
  const before = process.memoryUsage().rss;
  let peak = before;
  let sent = 0;
  const end = performance.now() + SECONDS_EACH * 1000;
  while (performance.now() < end && peak - before < GROWTH_MAX_BYTES) {
    for (let i = 0; i < 20 && performance.now() < end; i++) {
      await send();
      sent++;
    }
    peak = Math.max(peak, process.memoryUsage().rss);
    await new Promise(setImmediate);
  }
  return { sent, grown: peak - before };
}

export async function backPressure(): Promise<void> {
  heading('2  Back-pressure you can see');
  say(`Up to ${SECONDS_EACH} seconds each: ${MESSAGE_BYTES / 1000} KB messages, a consumer that takes 1 ms for each`);
  const payload = new Uint8Array(MESSAGE_BYTES);

  const { port, worker } = spawn(CONSUMER, { worker: { workerData: { native: false } } });
  const ours = await flood(async () => {
    port.postMessage(payload);
    await port.drained();
  });
  const waiting = port.stats().outboxBytesPeak;
  port.close();
  await worker.terminate();

  const native = new Worker(CONSUMER, { workerData: { native: true } });
  const theirs = await flood(() => native.postMessage(payload));
  await native.terminate();

  table([
    ['', 'messages accepted', 'memory grew by', 'waiting at most'],
    ['millrace, await port.drained()', String(ours.sent), megabytes(ours.grown), megabytes(waiting)],
    [
      `native postMessage${theirs.grown < GROWTH_MAX_BYTES ? '' : ', stopped'}`,
      String(theirs.sent),
      megabytes(theirs.grown),
      'everything',
    ],
  ]);
}

if (isProgram(import.meta.url)) await backPressure();
