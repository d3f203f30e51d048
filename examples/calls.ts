// Step 4. Calls that survive their worker: each is rejected with how the worker has ended, and the next one goes to another worker. Beside it the same over a native port, as
// Comlink waits: by Comlink itself where it is installed (npm ci in bench/), else by a re-enactment of a few lines.
import { existsSync } from 'node:fs';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { ClosedError } from '../src/index.ts';
import { type Started, start } from '../src/rpc/index.ts';
import { dim, heading, isProgram, say, table } from './screen.ts';
import type { Mortal } from './workers/mortal-calls.ts';

type Mill = Started<Mortal, { terminate(): unknown }>;
const PATIENCE_MS = 1000;

export async function calls(): Promise<void> {
  heading('4  A call whose worker dies');
  say('Each worker ends while a call waits for it. The call is rejected; another worker answers the next one.');
  const rows: string[][] = [['the worker ...', 'the call rejects with', 'because of', 'after', 'the next call']];
  const begin = (): Promise<Mill> =>
    start<Mortal>(new URL('./workers/mortal-calls.js', import.meta.url), { worker: { stderr: true } });
  let next = begin();
  for (const how of ['exits', 'throws', 'computes, is terminated'] as const) {
    const mill = await next;
    // The one that takes over starts while this one works.
    next = begin();
    const waiting = mill.api.forever();
    await mill.api.square(1);
    const started = performance.now();
    if (how === 'exits') mill.api.exit().catch(() => {});
    else if (how === 'throws') mill.api.fail().catch(() => {});
    else {
      mill.api.compute().catch(() => {});
      void mill.worker.terminate();
    }
    const error: unknown = await waiting.catch((reason: unknown) => reason);
    const took = performance.now() - started;
    if (!(error instanceof ClosedError)) throw error;
    const cause = error.cause instanceof Error ? `${error.cause.name}: ${error.cause.message}` : '';
    const after = await next;
    rows.push([
      how,
      `${error.code} (${error.reason})`,
      cause,
      `${took.toFixed(1)} ms`,
      `7 x 7 = ${await after.api.square(7)}`,
    ]);
    mill[Symbol.dispose]();
  }
  (await next)[Symbol.dispose]();
  table(rows);

  const home = new URL('../../bench/node_modules/comlink/dist/esm/', import.meta.url);
  const files = { comlink: new URL('comlink.mjs', home).href, adapter: new URL('node-adapter.mjs', home).href };
  const installed = existsSync(new URL('comlink.mjs', home));
  const pending = await overNativePort(installed ? files : undefined);
  say(
    `${installed ? 'Comlink itself' : 'As Comlink waits (a re-enactment: it is not installed)'}, over a native port, for a worker that throws: ${
      pending ? `still pending after ${PATIENCE_MS} ms, and for ever` : 'settled'
    }.`,
  );
  if (!installed) say(dim('For Comlink itself: npm ci --prefix bench'));
}

/** Whether a call of a worker that has thrown is still pending behind its end. */
async function overNativePort(files: { comlink: string; adapter: string } | undefined): Promise<boolean> {
  const { port1, port2 } = new MessageChannel();
  const worker = new Worker(new URL('./workers/comlink-mortal.js', import.meta.url), {
    workerData: { port: port2, ...files },
    transferList: [port2],
    stderr: true,
  });
  const ended = new Promise((resolve) => worker.on('error', resolve));
  const api = files === undefined ? reenacted(port1) : await wrapped(files, port1);
  await api('square', 7);
  const call = api('fail', 0);
  await ended;
  const settled = await Promise.race([
    call,
    new Promise((resolve) => setTimeout(resolve, PATIENCE_MS, PATIENCE_MS)),
  ]).catch(() => undefined);
  port1.close();
  await worker.terminate();
  return settled === PATIENCE_MS;
}
type Api = (name: string, value: number) => Promise<unknown>;

/** A message with a number, and a promise that waits for the answer of that number: nobody listens for the end. */
function reenacted(port: MessagePort): Api {
  const waiting = new Map<number, (value: unknown) => void>();
  port.on('message', ({ id, value }: { id: number; value: unknown }) => waiting.get(id)?.(value));
  return (name, value) =>
    new Promise((resolve) => {
      const id = waiting.size;
      waiting.set(id, resolve);
      port.postMessage({ id, name, value });
    });
}
async function wrapped(files: { comlink: string; adapter: string }, port: MessagePort): Promise<Api> {
  const { wrap } = (await import(files.comlink)) as {
    wrap(endpoint: unknown): Record<string, (value: number) => Promise<unknown>>;
  };
  const { default: adapt } = (await import(files.adapter)) as { default(port: unknown): unknown };
  const api = wrap(adapt(port));
  return (name, value) => api[name]!(value);
}

if (isProgram(import.meta.url)) await calls();
