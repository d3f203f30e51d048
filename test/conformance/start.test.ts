// `start`: a worker and its calls in one step, or the reason why there is none.
import assert from 'node:assert/strict';
import { pipeline } from 'node:stream/promises';
import { test } from 'node:test';
import { attach, ClosedError, channel } from '../../src/index.ts';
import { expose, start, streams, within, wrap } from '../../src/rpc/index.ts';

interface Api {
  add(a: number, b: number): number;
  exit(): never;
}
const door = (name: string): string => JSON.stringify(new URL(`../../src/${name}.js`, import.meta.url).href);
const module = (text: string): string =>
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from ${door('index')};
    import { expose } from ${door('rpc/index')};
    ${text}`)}`;

test('a worker is started, called and ended', async () => {
  const { api, port, ...started } = await start<Api>(module('expose({ add: (a, b) => a + b }, parentPort())'));
  assert.equal(await api.add(1, 2), 3);
  started[Symbol.dispose]();
  assert.equal(await port.closed, 'closed');
  await assert.rejects(api.add(1, 2), { code: 'ERR_CLOSED' });
});

test('one that fails to load rejects with what it failed of', async () => {
  await assert.rejects(start<Api>(module('throw new RangeError("not today")')), (error) => {
    assert.ok(error instanceof ClosedError);
    assert.equal(error.reason, 'crash');
    assert.match(String((error.cause as Error).message), /not today/);
    return true;
  });
});

test('one that lives and opens no port is late', async () => {
  const options = { startTimeoutMs: 300 };
  await assert.rejects(start<Api>(module('setInterval(() => {}, 1000)'), options), { code: 'ERR_TIMEOUT' });
});

test('one that lives and exposes nothing is late, one that ends is over', async () => {
  const options = { startTimeoutMs: 300 };
  await assert.rejects(start<Api>(module('parentPort().ref(); setInterval(() => {}, 1000)'), options), {
    code: 'ERR_TIMEOUT',
  });
  await assert.rejects(start<Api>(module('await parentPort().ready; setTimeout(() => parentPort().close(), 1)')), {
    code: 'ERR_CLOSED',
  });
});

test('what is no port of millrace is refused, and the remedy told', () => {
  const { port1, port2 } = new MessageChannel();
  for (const it of [port1, {}, null, 'port', () => {}]) {
    assert.throws(() => wrap(it as never), { code: 'ERR_OPTION', message: /expected a Port of millrace/ });
  }
  port1.close();
  port2.close();
});

test('start refuses what has a port already, or is a Worker, and tells the remedy', async () => {
  const forked = { port: {}, child: {}, terminate: undefined };
  await assert.rejects(
    start(() => forked as never),
    { code: 'ERR_OPTION', message: /wrap the `port` that it has/ },
  );
  await assert.rejects(start({} as never), { code: 'ERR_OPTION', message: /or a function that makes a Worker/ });
});

test('a call that is late says so where the other side has never said a word', async () => {
  const { port, remote } = channel();
  const there = attach(remote);
  const add = (options: object): Promise<number> => within(wrap<Api>(port), options).add(1, 2);
  await assert.rejects(add({ timeoutMs: 5 }), { code: 'ERR_TIMEOUT', message: /does it `expose` something/ });
  expose({ add: () => new Promise(() => {}), hear: () => 1 }, there);
  await wrap<{ hear(): number }>(port).hear();
  await assert.rejects(add({ timeoutMs: 5 }), { code: 'ERR_TIMEOUT', message: /is aborted$/ });
  port.close();
});

test('options of the channel, of the worker and of calls go together; unknown ones are refused', async () => {
  const text = 'expose({ add: (a) => a.length }, parentPort())';
  const options = { capacityBytes: 4096, worker: { name: 'counted' }, timeoutMs: 60_000, maxPending: 10 };
  const started = await start<{ add(a: string): number }>(module(text), options);
  assert.equal(await started.api.add('x'.repeat(10_000)), 10_000);
  started[Symbol.dispose]();
  await assert.rejects(start(module(text), { timeout: 5 } as object), { code: 'ERR_OPTION' });
});

test("Node's pipeline takes the streams of a port", async () => {
  const { port, remote } = channel();
  const { writable } = streams<never, number>(port);
  const { readable } = streams<number>(attach(remote));
  const read: number[] = [];
  async function* numbers(): AsyncGenerator<number> {
    for (let i = 0; i < 500; i++) yield i;
  }
  // Its types know the streams of Node alone; what it takes, its documents say.
  const piped = pipeline as unknown as (...steps: unknown[]) => Promise<void>;
  const collect = async (values: AsyncIterable<number>): Promise<void> => {
    for await (const value of values) read.push(value);
  };
  await Promise.all([piped(numbers, writable), piped(readable, collect)]);
  assert.equal(read.length, 500);
  port.close();
});
