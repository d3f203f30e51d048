// A Worker that the program makes itself, as bundlers want it: new Worker(new URL(...)) in one piece. Both kinds, where the
// runtime has both; and what `port.ready` says when the worker fails.
import assert from 'node:assert/strict';
import { Worker as NodeWorker } from 'node:worker_threads';
import { ClosedError, spawn } from '../src/index.ts';
import { green, heading, isProgram, say } from './screen.ts';

export async function ownThread(): Promise<void> {
  heading('A Worker of your own');

  const { port, worker } = spawn<string, string, NodeWorker>(
    () => new NodeWorker(new URL('./workers/own.js', import.meta.url)),
  );
  port.postMessage('posted at once');
  await port.ready;
  say(`${green('ok')}  ${String(await port.receiveAsync())}`);
  port.close();
  await worker.terminate();

  if (typeof globalThis.Worker === 'function') {
    const web = spawn<string, string, Worker>(
      () => new Worker(new URL('./workers/own.js', import.meta.url), { type: 'module' }),
    );
    web.port.postMessage("to the web's Worker");
    say(`${green('ok')}  ${String(web.port.receive())}`);
    web.port.close();
    web.worker.terminate();
  }

  const failing = spawn<string, string, NodeWorker>(
    () => new NodeWorker(new URL('data:text/javascript,throw new RangeError("out of luck")'), { stderr: true }),
  );
  failing.worker.on('error', () => {});
  const error = await failing.port.ready.catch((reason: unknown) => reason);
  assert(error instanceof ClosedError && error.reason === 'crash');
  say(`${green('ok')}  ${error.message}`);
}

if (isProgram(import.meta.url)) await ownThread();
