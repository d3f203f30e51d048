// Calls, ports and streams look alike to a program: what can be read by `for await`, and what may stand among arguments.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attach, channel } from '../../src/index.ts';
import { expose, transfer, wrap } from '../../src/rpc/index.ts';
import { until } from '../kit/watchdog.ts';

test('a stream that a call returns, or has returned within an object, need not be awaited first', async () => {
  const { port, remote } = channel();
  let returned = 0;
  function* count(): Generator<number> {
    try {
      for (let i = 0; ; i++) yield i;
    } finally {
      returned++;
    }
  }
  expose({ count, job: () => ({ progress: count() }), add: (a: number, b: number) => a + b }, attach(remote));
  const api = wrap<{ count(): Generator<number>; job(): { progress: Generator<number> } }>(port);
  for await (const n of api.count()) if (n === 100) break;
  for await (const n of api.job().progress as unknown as AsyncIterable<number>) if (n === 100) break;
  await until('both to be returned', () => returned === 2);
  const add = wrap<{ add(a: number, b: number): number }>(port).add(1, 2) as unknown as AsyncIterable<number>;
  await assert.rejects(async () => {
    for await (const _ of add);
  }, TypeError);
  port.close();
});

test('a port and a call among the arguments are refused, and told what to do', async () => {
  const { port, remote } = channel();
  const other = channel();
  expose({ take: (value: unknown) => typeof value }, attach(remote));
  const { take } = wrap<{ take(value: unknown): string }>(port);
  for (const it of [port, other.port, take(1)]) {
    await assert.rejects(take(it), { name: 'DataCloneError', message: /^Cannot clone argument 1 of take: it is a P/ });
  }
  assert.equal(await take(transfer(other.port, [other.port])), 'object');
  for (const each of [port, other.port]) each.close();
});
