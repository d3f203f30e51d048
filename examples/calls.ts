// Step 4. Calls that survive their worker: each rejects in milliseconds with how it has ended, and the pool goes on. Beside it the same over native ports, as Comlink
// waits: by Comlink itself where it is installed (npm ci in bench/), else by a re-enactment of a few lines.
import { existsSync } from 'node:fs';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { ClosedError, TimeoutError } from '../src/index.ts';
import { type Pool, pool, type Remote, within } from '../src/rpc/index.ts';
import { dim, heading, isProgram, say, table } from './screen.ts';
import type { Mortal } from './workers/mortal-calls.ts';

const PATIENCE_MS = 1000;
const DEATHS = [
  { how: 'exits', name: 'exit', call: (api: Remote<Mortal>) => api.exit() },
  { how: 'throws', name: 'fail', call: (api: Remote<Mortal>) => api.fail() },
  {
    how: 'computes for ever',
    name: 'compute',
    call: (api: Remote<Mortal>) => within(api, { timeoutMs: 50 }).compute(),
  },
] as const;

export async function calls(): Promise<void> {
  heading('4  A call whose worker dies');
  say('Two workers in a pool. One dies of its task, three times; each time 100 other tasks are waiting.');
  const start = () => new Worker(new URL('./workers/mortal-calls.js', import.meta.url), { stderr: true });
  const mills = pool<Mortal>(start, { size: 2, graceMs: 100 });
  await Promise.all([mills.api.square(1), mills.api.square(2)]);
  const ours: string[][] = [];
  for (const { call } of DEATHS) ours.push(await death(mills, call));
  const next = await mills.api.square(7);
  await mills.close();

  const { name, pending } = await overNativePorts();
  table([
    ['the worker ...', 'the call rejects with', 'after', 'the other tasks', `over ${name}, the call is`],
    ...DEATHS.map(({ how }, at) => [how, ...ours[at], pending[at] ? `pending after ${PATIENCE_MS} ms` : 'settled']),
  ]);
  say(`Other workers have taken their places, and the pool goes on: 7 x 7 = ${next}.`);
  if (name !== 'Comlink') say(dim('For Comlink itself: npm ci --prefix bench'));
}

/** What becomes of a task that its worker dies of, and of 100 others that are called at the same time. */
async function death({ api }: Pool<Mortal>, call: (api: Remote<Mortal>) => Promise<never>): Promise<string[]> {
  const started = performance.now();
  const deadly = call(api).catch((error: unknown) => ({ error, took: performance.now() - started }));
  const others = Array.from({ length: 100 }, (_, n) => api.square(n));
  const { error, took } = await deadly;
  const sum = (await Promise.all(others)).reduce((a, b) => a + b);
  if (!(error instanceof ClosedError || error instanceof TimeoutError)) throw error;
  const reason = error instanceof ClosedError ? error.reason : 'by its deadline';
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return [
    `${error.code}, ${reason}${cause}`,
    `${took.toFixed(1)} ms`,
    sum === 328_350 ? 'all answered' : `wrong: ${sum}`,
  ];
}

/** Which calls of workers that have ended are still pending then. */
async function overNativePorts(): Promise<{ name: string; pending: boolean[] }> {
  const home = new URL('../../bench/node_modules/comlink/dist/esm/', import.meta.url);
  const files = { comlink: new URL('comlink.mjs', home).href, adapter: new URL('node-adapter.mjs', home).href };
  const installed = existsSync(new URL('comlink.mjs', home));
  const pending = DEATHS.map(({ name }) => isPending(name, installed ? files : undefined));
  return { name: installed ? 'Comlink' : 'a native port', pending: await Promise.all(pending) };
}
async function isPending(
  name: 'exit' | 'fail' | 'compute',
  files: { comlink: string; adapter: string } | undefined,
): Promise<boolean> {
  const { port1, port2 } = new MessageChannel();
  const worker = new Worker(new URL('./workers/comlink-mortal.js', import.meta.url), {
    workerData: { port: port2, ...files },
    transferList: [port2],
    stderr: true,
  });
  worker.on('error', () => {});
  const ended = new Promise((resolve) => worker.on('exit', resolve));
  const api = files === undefined ? reenacted(port1) : await wrapped(files, port1);
  await api('square', 7);
  const call = api(name, 0);
  if (name === 'compute') setTimeout(() => worker.terminate(), 50);
  await ended;
  const patience = new Promise((resolve) => setTimeout(resolve, PATIENCE_MS, PATIENCE_MS));
  const settled = await Promise.race([call, patience]).catch(() => undefined);
  port1.close();
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
