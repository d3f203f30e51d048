// Two ports that are joined: threads, processes, networks.
// watchdog: 120 s
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attach, bridge, type ChannelOptions, channel, type Port, UsageError } from '../../src/index.ts';
import * as net from '../../src/net/index.ts';
import { turn, until, within } from '../kit/watchdog.ts';

function local(options: ChannelOptions = {}): [Port, Port] {
  const { port, remote } = channel(options);
  return [port, attach(remote)];
}
async function remote(options: ChannelOptions = {}): Promise<[Port, Port]> {
  const server = await net.listen('tcp:127.0.0.1:0', options);
  const taken = server[Symbol.asyncIterator]().next();
  const far = await net.connect(server.address, options);
  const near = (await within('a connection', taken)).value as Port;
  void server.close({ drainMs: 1e9 });
  return [near, far];
}
const WORLDS = { 'thread to thread': [local, local], 'thread to network': [local, remote] } as const;

for (const [name, [one, other]] of Object.entries(WORLDS)) {
  test(`${name}: what is said on one side is heard on the other, in order, both ways, also what was said last`, async () => {
    const [[near, here], [there, far]] = [await one(), await other()];
    const ended = bridge(here, there);
    const hear = async (port: Port): Promise<unknown[]> => {
      const heard: unknown[] = [];
      for await (const value of port) heard.push(value);
      return heard;
    };
    const [left, right] = [hear(near), hear(far)];
    const values = Array.from({ length: 5000 }, (_, i) => ({ i, at: new Date(i), more: new Map([[i, undefined]]) }));
    for (const value of values) {
      near.postMessage(value);
      far.postMessage(value);
      if (near.full) await within('room', near.drained());
      if (far.full) await within('room', far.drained());
    }
    await within('all to be taken', far.flush());
    await turn();
    near.close();
    assert.deepEqual(await within('all', right), values);
    const leftOver = await within('all', left);
    assert.deepEqual(leftOver, values.slice(0, leftOver.length));
    assert.equal(await within('the end', far.closed), 'closed');
    const end = await within('the end of both', ended);
    assert.equal(end.port, here);
    assert.equal(end.reason, 'closed');
  });

  test(`${name}: whoever is slow holds up who sends, at the other end`, async () => {
    const small = { capacityBytes: 4096, outboxBytes: 4096 };
    const [[near, here], [there, far]] = [await one(small), await other(small)];
    const ended = bridge(here, there);
    let sent = 0;
    const pad = 'x'.repeat(500);
    await until('it to be held up', () => {
      for (let i = 0; i < 10 && !near.full; i++) near.postMessage([sent++, pad]);
      return sent > 20 && near.full && settledAt(sent);
    });
    assert.ok(sent < 2000, `${sent} messages of 500 bytes went ahead of a reader that reads nothing`);
    for (let i = 0; i < sent; i++) assert.deepEqual(await within('a message', far.receiveAsync()), [i, pad]);
    await within('room', near.drained());
    far.close();
    assert.equal(await within('the end', near.closed), 'closed');
    await within('the end of both', ended);
  });
  let seen = 0;
  let times = 0;
  /** Nothing more has gone for a while of turns. */
  function settledAt(sent: number): boolean {
    times = sent === seen ? times + 1 : 0;
    seen = sent;
    return times > 50;
  }

  test(`${name}: the reason of an end is told at the other one`, async () => {
    for (const reason of ['crash', 'lost', 'terminated'] as const) {
      const [[near, here], [there, far]] = [await one(), await other()];
      const ended = bridge(here, there);
      near.postMessage('last words');
      near.closeAs(reason);
      assert.equal(await within('a message', far.receiveAsync()), 'last words');
      assert.equal(await within('the end', far.closed), reason);
      assert.equal((await within('the end of both', ended)).reason, reason);
    }
  });
}

test('what the other one does not carry is told, and nothing else stops', async () => {
  const [[near, here], [there, far]] = [local(), await remote({ maxMessageBytes: 100_000 })];
  const errors: unknown[] = [];
  const ended = bridge(here, there, { onError: (error, to) => errors.push([(error as Error).name, to === there]) });
  near.postMessage('before');
  near.postMessage('x'.repeat(200_000));
  near.postMessage(new SharedArrayBuffer(8));
  near.postMessage('behind');
  assert.equal(await within('a message', far.receiveAsync()), 'before');
  assert.equal(await within('a message', far.receiveAsync()), 'behind');
  assert.equal(errors.length, 2, JSON.stringify(errors));
  assert.ok(errors.every((error) => (error as [string, boolean])[1]));
  near.close();
  await within('the end of both', ended);
});

test('what is no port is named', async () => {
  const [port] = local();
  await assert.rejects(bridge(port, {} as Port), UsageError);
  await assert.rejects(bridge(port, port, { error: 1 } as never), UsageError);
  await assert.rejects(bridge(port, port), UsageError);
  port.close();
});
