// Run by sab-message-port-faults.test.ts in a process of its own: does a listener alone keep the process alive?
// argv: `held` or `released`, then the kind of channel.
import process from 'node:process';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { MWChannel, SABMessagePort } from '../../src/compat/sab-message-port.ts';

/** Milliseconds after which the worker answers: long after a process that nothing holds would have ended. */
const ANSWER_AFTER_MS = 150;
/** Milliseconds between which nothing but the port may hold the process. */
const [how, kind] = process.argv.slice(2);

if (isMainThread) {
  const worker = new Worker(new URL(import.meta.url), { argv: [how, kind] } as never);
  const port = kind === 'MWChannel' ? new MWChannel('m') : new SABMessagePort();
  port.onmessage = (event) => {
    console.log(event.data);
    port.close();
  };
  if (how === 'released') port.unref();
  worker.once('message', () => {
    port.postInit(worker);
    worker.unref();
  });
} else {
  parentPort!.once('message', (message) => {
    const port = kind === 'MWChannel' ? MWChannel.from(message) : SABMessagePort.from(message);
    setTimeout(() => {
      port.postMessage('delivered');
      setTimeout(() => {}, ANSWER_AFTER_MS);
    }, ANSWER_AFTER_MS);
  });
  parentPort!.postMessage('up');
}
