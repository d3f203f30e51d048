// What is under way around a port when it moves: loops, listeners, promises, scopes. Each goes on with the new object or is settled on the
// old one, and no message is in both or in neither.
import assert from 'node:assert/strict';
import { on, once } from 'node:events';
import { test } from 'node:test';
import { attach, type ChannelOptions, CLOSED, channel, type Port, selectAsync } from '../../src/index.ts';
import { STEP_MS, turn, until, within } from '../kit/watchdog.ts';

const soon = { timeoutMs: STEP_MS };

function ends(options?: ChannelOptions): [Port, Port] {
  const { port, remote } = channel(options);
  return [port, attach(remote)];
}
function move(port: Port): Port {
  const [carrier, reader] = ends();
  carrier.postMessage({ port }, [port]);
  const { port: moved } = reader.receive(soon) as { port: Port };
  carrier.close();
  return moved;
}
function withTen(): { readonly port: Port; readonly peer: Port } {
  const [port, peer] = ends();
  for (let i = 0; i < 10; i++) peer.postMessage(i);
  return { port, peer };
}

type Reader = (port: Port, took: (value: unknown) => void) => Promise<unknown>;
const readers: Readonly<Record<string, Reader>> = {
  'for await': async (port, took) => {
    for await (const value of port) took(value);
  },
  'for over blocking()': async (port, took) => {
    for (const value of port.blocking()) took(value);
  },
  'a listener': async (port, took) => {
    port.onmessage = ({ data }) => took(data);
    await port.closed;
  },
  'promises that wait in line': async (port, took) => {
    const take = (value: unknown): void => void (value !== CLOSED && took(value));
    await Promise.all(Array.from({ length: 20 }, () => port.receiveAsync().then(take)));
  },
  "on() of node's events": async (port, took) => {
    for await (const [value] of on(port as never, 'message', { close: ['close'] } as never)) took(value);
  },
};
for (const [name, read] of Object.entries(readers)) {
  test(`a port that is read by ${name} moves in the middle: what was not handed out is still to be read`, async () => {
    const { port, peer } = withTen();
    const took: unknown[] = [];
    let moved: Port | undefined;
    await within(
      'the reader of the old object',
      read(port, (value) => {
        took.push(value);
        if (value === 3) moved = move(port);
      }),
    );
    peer.postMessage('more');
    while (took.at(-1) !== 'more') took.push(moved!.receive(soon));
    assert.deepEqual(took, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 'more']);
    moved!.close();
    peer.close();
  });
}

test('whoever waits for the port among others, or for its events, is told', async () => {
  const [port, peer] = ends();
  const [other, far] = ends();
  const ready = selectAsync([port, other]);
  const closed = once(port as never, 'close');
  await turn();
  const moved = move(port);
  assert.equal(await within('selectAsync', ready), port);
  assert.deepEqual(await within('once', closed), ['detached']);
  peer.postMessage(1);
  assert.equal(await within('selectAsync over the new one', selectAsync([moved, other])), moved);
  for (const each of [moved, peer, other, far]) each.close();
});

test('a scope that closes its port leaves alone what has gone on from it', async () => {
  const [port, peer] = ends();
  port.postMessage('before');
  // What `using` and `await using` call.
  const disposed = port[Symbol.asyncDispose]();
  await turn();
  const moved = move(port);
  await within('what waits for the flush of the old one', disposed);
  port[Symbol.dispose]();
  port.close();
  moved.postMessage('after');
  assert.deepEqual([peer.receive(soon), peer.receive(soon), moved.reason], ['before', 'after', undefined]);
  moved.close();
  assert.equal(await within('the end', peer.closed), 'closed');
});

test('inside cork, of the port itself and of the one that carries it', () => {
  const [port, peer] = ends();
  let moved: Port | undefined;
  port.cork(() => {
    port.postMessage(1);
    moved = move(port);
    moved.postMessage(2);
  });
  assert.deepEqual([peer.receive(soon), peer.receive(soon)], [1, 2]);
  const [carrier, reader] = ends();
  carrier.cork(() => {
    carrier.postMessage(moved, [moved!]);
    peer.postMessage('to the new one');
    carrier.postMessage('behind it');
  });
  const again = reader.receive(soon) as Port;
  assert.deepEqual([again.receive(soon), reader.receive(soon)], ['to the new one', 'behind it']);
  for (const each of [again, peer, carrier]) each.close();
});

test('what holds the process does so at the new object, once somebody listens there', async () => {
  const [port, peer] = ends();
  port.onmessage = () => {};
  assert.ok(port.hasRef());
  const moved = move(port);
  await until('the old one has let go', () => !port.hasRef());
  assert.ok(!moved.hasRef());
  moved.onmessage = () => {};
  assert.ok(moved.hasRef());
  for (const each of [moved, peer]) each.close();
});

for (const overflow of ['drop-oldest', 'drop-newest', 'reject'] as const) {
  test(`what waits under ${overflow} moves along, and each message is read, dropped or refused`, async () => {
    const [port, peer] = ends({ overflow, capacityBytes: 1024, highWaterMarkBytes: 2000 });
    let refused = 0;
    const post = (to: Port, i: number): void => {
      try {
        to.postMessage({ i, text: 'x'.repeat(100) });
      } catch (error) {
        assert.equal((error as { code: string }).code, 'ERR_OUTBOX_FULL');
        refused++;
      }
    };
    for (let i = 0; i < 100; i++) post(port, i);
    const moved = move(port);
    for (let i = 100; i < 120; i++) post(moved, i);
    moved.close();
    const read: number[] = [];
    for (let value = await peer.receiveAsync(); value !== CLOSED; value = await peer.receiveAsync())
      read.push((value as { i: number }).i);
    assert.deepEqual(
      read,
      [...read].sort((a, b) => a - b),
    );
    assert.equal(read.length + refused + moved.stats().dropped, 120);
  });
}
