// How the other thread ends x what waits for it: everything settles, with the reason. Over the Worker itself, a native MessagePort to it and a Port.
// watchdog: 180 s
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageChannel as NodeChannel, Worker } from 'node:worker_threads';
import {
  createEndpoint,
  type Endpoint,
  expose,
  nodeEndpoint,
  proxy,
  type Remote,
  releaseProxy,
  wrap,
} from '../../src/compat/comlink.ts';
import { attach, channel } from '../../src/index.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import { closing } from '../kit/rejection.ts';
import { within } from '../kit/watchdog.ts';
import { type Api, Refused, type Tally, type WorkerStart } from './comlink-api.ts';

const WORKER = inOneFile(new URL('./comlink-worker.js', import.meta.url));

interface Running {
  readonly worker: Worker;
  readonly remote: Remote<Api>;
}
/** @param heard the program itself listens to the worker's errors, without which Node ends it */
function start(
  data: WorkerStart,
  transfer: readonly unknown[],
  endpointOf: (worker: Worker) => Endpoint,
  heard = true,
): Running {
  const worker = new Worker(WORKER, { workerData: data, transferList: transfer as never });
  if (heard) worker.on('error', () => {});
  return { worker, remote: wrap<Api>(endpointOf(worker)) };
}
const worlds: Record<string, (heard?: boolean) => Running> = {
  'a Worker': (heard) => start({}, [], nodeEndpoint, heard),
  'a MessagePort'() {
    const { port1, port2 } = new MessageChannel();
    return start({ port: port2 }, [port2], () => port1 as unknown as Endpoint);
  },
  'a Port'() {
    const { port, remote } = channel();
    return start({ remote }, remote.transfer, () => port as unknown as Endpoint);
  },
};

type How = 'exit' | 'throw' | 'terminate';
function end({ worker, remote }: Running, how: How): void {
  if (how === 'terminate') void worker.terminate();
  else remote.end(how).catch(() => {});
}

for (const [name, open] of Object.entries(worlds)) {
  for (const how of ['exit', 'throw', 'terminate'] as const) {
    test(`${name}, ${how}: calls, reads, constructions, proxies and endpoints reject with the reason, and so does what comes later`, async () => {
      const running = open();
      const { worker, remote } = running;
      assert.equal(await within('the first answer', remote.inc() as Promise<number>), 1);
      const tally = (await remote.tally(1)) as unknown as Remote<Tally>;
      const second = wrap<Api>((await remote[createEndpoint]()) as unknown as Endpoint);
      assert.equal(await second.inc(), 2);
      const heard: unknown[] = [];
      await remote.keep(proxy((value: unknown) => heard.push(value)));
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
      const ended = new Promise((resolve) => worker.on('exit', resolve));
      end(running, how);
      for (const error of await Promise.all(waiting)) assert.notEqual(error.reason, undefined);
      await within('the exit', ended);
      for (const [what, asked] of [
        ['a later call', remote.inc()],
        ['a later read', remote.counter],
        ['a later construction', new remote.Tally(1)],
        ['a later call of what was given', tally.add(1)],
        ['a later call of the second endpoint', second.inc()],
        ['one more endpoint', remote[createEndpoint]()],
      ] as const)
        await closing(what, asked);
      // Nobody can wait for it, and it is no uncaught error.
      remote.counter = 1 as never;
      remote[releaseProxy]();
      await worker.terminate();
    });
  }

  test(`${name}, closed over there: pending calls reject`, async () => {
    const { worker, remote } = open();
    await within('the first answer', remote.inc() as Promise<number>);
    const second = wrap<Api>((await remote[createEndpoint]()) as unknown as Endpoint);
    const call = closing('a call', second.forever());
    await second.counter;
    await worker.terminate();
    await call;
    await closing('a later one', remote.inc());
  });

  test(`${name}: what is released while the thread dies rejects once`, async () => {
    const running = open();
    const { worker, remote } = running;
    await within('the first answer', remote.inc() as Promise<number>);
    const call = closing('a call', remote.forever());
    end(running, 'terminate');
    remote[releaseProxy]();
    // Whichever comes first: on Deno the end is told within terminate.
    assert.match((await call).message, /released|is gone/);
    await worker.terminate();
  });
}

test('a Worker that throws: the calls reject with its error as their cause', async () => {
  const running = worlds['a Worker']!(false);
  await within('the first answer', running.remote.inc() as Promise<number>);
  const call = closing('a call', running.remote.forever());
  end(running, 'throw');
  const error = await call;
  assert.equal(error.reason, 'crash');
  assert.match(String(error.cause), /of its own accord/);
  assert.ok(!(error.cause instanceof Refused) || error.cause.code === 'E_REFUSED');
});

test('a Worker that cannot be loaded: calls reject with the error', async () => {
  const worker = new Worker(new URL('./there-is-none.js', import.meta.url));
  worker.on('error', () => {});
  const error = await closing('a call', wrap<Api>(nodeEndpoint(worker)).inc());
  assert.equal(error.reason, 'crash');
  assert.notEqual(error.cause, undefined);
});

test('a Worker that ends, and a MessagePort that is closed, before anybody has exposed anything: calls reject', async () => {
  const worker = new Worker('', { eval: true });
  assert.equal((await closing('a call', wrap<Api>(nodeEndpoint(worker)).inc())).reason, 'exit');
  for (const endpointOf of [nodeEndpoint, (port: unknown) => port as Endpoint] as const) {
    const { port1, port2 } = new NodeChannel();
    const call = closing('a call', wrap<Api>(endpointOf(port1 as never)).inc());
    port2.close();
    assert.equal((await call).reason, 'closed');
  }
});

test('a port that nobody uses any more is closed, on both sides', async () => {
  const { port1, port2 } = new NodeChannel();
  const closed = new Promise((resolve) => port2.on('close', () => resolve('closed')));
  expose({ f: () => 1 }, port2 as unknown as Endpoint);
  const one = wrap<{ f(): number }>(port1 as unknown as Endpoint);
  assert.equal(await one.f(), 1);
  one[releaseProxy]();
  assert.equal(await within('the end of the port', closed), 'closed');
  const { port, remote } = channel();
  const api = wrap<object>(port as unknown as Endpoint);
  api[releaseProxy]();
  assert.equal(port.reason, 'closed');
  attach(remote).close();
});

test('callbacks of a thread that dies are let go of, and what it awaits of ours hurts nobody', async () => {
  const { worker, remote } = worlds['a Worker']!();
  let go: ((value: unknown) => void) | undefined;
  const asked = new Promise<void>((resolve) => {
    const call = remote.call(
      proxy(() => {
        resolve();
        return new Promise((answer) => {
          go = answer;
        });
      }),
      1,
    );
    (call as Promise<unknown>).catch(() => {});
  });
  await within('the callback', asked);
  await worker.terminate();
  await closing('a later call', remote.inc());
  go?.('an answer for nobody');
});
