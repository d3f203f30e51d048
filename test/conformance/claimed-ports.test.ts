// A port that calls or streams go over: what anybody else takes off it is an answer that somebody waits for, so nobody else may.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attach, ClosedError, channel, type Port, select, selectAsync, UsageError } from '../../src/index.ts';
import { expose, streams, wrap, wrapSync } from '../../src/rpc/index.ts';

function ports(): { a: Port; b: Port; [Symbol.dispose](): void } {
  const { port, remote } = channel();
  const b = attach(remote);
  const close = (): void => {
    port.close();
    b.close();
  };
  return { a: port, b, [Symbol.dispose]: close };
}
const busy = (error: unknown): boolean => error instanceof UsageError && error.code === 'ERR_BUSY';

const owners: { readonly [name: string]: (port: Port) => unknown } = {
  wrap: (port) => wrap(port),
  wrapSync: (port) => wrapSync(port),
  expose: (port) => expose({ one: () => 1 }, port),
  streams: (port) => streams(port),
};
const readers: { readonly [name: string]: (port: Port) => unknown } = {
  tryReceive: (port) => port.tryReceive(),
  receive: (port) => port.receive({ timeoutMs: 0 }),
  receiveMany: (port) => port.receiveMany(1),
  blocking: (port) => port.blocking().next(),
  select: (port) => select([port], { timeoutMs: 0 }),
};
const awaiting: { readonly [name: string]: (port: Port) => Promise<unknown> } = {
  receiveAsync: (port) => port.receiveAsync({ timeoutMs: 0 }),
  'for await': (port) => port[Symbol.asyncIterator]().next(),
  selectAsync: (port) => selectAsync([port], { timeoutMs: 0 }),
};

for (const [owner, own] of Object.entries(owners)) {
  test(`nobody else reads a port that has ${owner}`, async () => {
    using it = ports();
    own(it.a);
    for (const [name, read] of Object.entries(readers)) assert.throws(() => read(it.a), busy, name);
    for (const [name, read] of Object.entries(awaiting)) await assert.rejects(read(it.a), busy, name);
    it.a.close();
    assert.throws(() => it.a.tryReceive(), ClosedError);
  });
  test(`a port that somebody waits for takes no ${owner}`, async () => {
    using it = ports();
    const value = it.a.receiveAsync();
    assert.throws(() => own(it.a), busy);
    it.b.postMessage('mine');
    assert.equal(await value, 'mine');
    own(it.a);
  });
}

test('calls and streams take each other for others, and a port has one pair of streams', () => {
  using it = ports();
  wrap(it.a);
  assert.throws(() => streams(it.a), busy);
  expose({ one: () => 1 }, it.a);
  streams(it.b);
  for (const own of Object.values(owners)) assert.throws(() => own(it.b), busy);
});

test('an answer comes although a program tries to read the port', async () => {
  using it = ports();
  expose({ add: (a: number, b: number) => a + b }, it.b);
  const call = wrap<{ add(a: number, b: number): number }>(it.a).add(1, 2);
  await assert.rejects(it.a.receiveAsync(), (error: UsageError) => {
    assert.equal(
      error.message,
      'Cannot receive: calls go over this port, and would miss what is taken; send other messages over a channel of their own',
    );
    return busy(error);
  });
  assert.equal(await call, 3);
});
