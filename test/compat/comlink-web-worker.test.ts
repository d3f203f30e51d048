// Over web workers, by `wrap(new Worker(...))` and `expose(api)`, and how they end.
// runtimes: bun, deno
// watchdog: 180 s
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEndpoint, type Endpoint, proxy, type Remote, wrap } from '../../src/compat/comlink.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import { closing } from '../kit/rejection.ts';
import { within } from '../kit/watchdog.ts';
import { type Api, Refused, setHandlers } from './comlink-api.ts';

setHandlers();
const WORKER = inOneFile(new URL('./comlink-web-worker.js', import.meta.url));

function start(): { worker: Worker; remote: Remote<Api> } {
  const worker = new Worker(WORKER, { type: 'module' });
  // Deno ends the program otherwise.
  worker.addEventListener('error', (event) => event.preventDefault());
  return { worker, remote: wrap<Api>(worker) };
}

test('reads, sets, calls, constructs, calls back, and brings errors', async () => {
  const { worker, remote } = start();
  assert.equal(await within('the first answer', remote.inc() as Promise<number>), 1);
  remote.counter = 5 as never;
  assert.equal(await remote.counter, 5);
  assert.equal(await (await new remote.Tally(1)).add(2), 3);
  assert.equal(
    await remote.call(
      proxy((value: unknown) => (value as number) + 1),
      1,
    ),
    2,
  );
  const error = await (remote.fail() as Promise<unknown>).catch((thrown: unknown) => thrown);
  assert.ok(error instanceof Refused);
  worker.terminate();
});

for (const how of ['exit', 'throw', 'terminate'] as const) {
  test(`${how}: what is pending rejects, over the worker and over a port to it, and so does what comes later`, async () => {
    const { worker, remote } = start();
    assert.equal(await within('the first answer', remote.inc() as Promise<number>), 1);
    const second = wrap<Api>((await remote[createEndpoint]()) as unknown as Endpoint);
    assert.equal(await second.inc(), 2);
    const waiting = [
      closing('a call', remote.forever()),
      closing('a call of the second endpoint', second.forever()),
      closing(
        'a call whose callback does not answer',
        remote.call(
          proxy(() => new Promise(() => {})),
          1,
        ),
      ),
    ];
    if (how === 'terminate') worker.terminate();
    else (remote.end(how) as Promise<never>).catch(() => {});
    const errors = await Promise.all(waiting);
    if (how === 'throw') assert.match(String(errors[0]!.cause), /of its own accord/);
    await closing('a later call', remote.inc());
    await closing('a later call of the second endpoint', second.counter);
  });
}

test('a worker that cannot be loaded: calls reject', async () => {
  const worker = new Worker(new URL('./there-is-none.js', import.meta.url), { type: 'module' });
  worker.addEventListener('error', (event) => event.preventDefault());
  const error = await closing('a call', wrap<Api>(worker).inc());
  assert.equal(error.reason, 'crash');
});
