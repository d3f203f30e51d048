// A handle that goes from thread to thread before it is attached: `transferOf` says what must move along.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attach, CLOSED, channel, type Remote, transferOf } from '../../src/index.ts';
import { startThread } from '../kit/thread.ts';
import { STEP_MS, turn, within } from '../kit/watchdog.ts';

test('two threads talk directly over a channel whose handle came to the one from the other through a third', async () => {
  const toAsker = channel();
  const asker = startThread(
    (stage) => {
      const { port, remote } = stage.millrace.channel();
      stage.port().postMessage({ remote }, remote.transfer);
      port.send('what is the answer?');
      return port.receive();
    },
    { remote: toAsker.remote },
  );
  const toAnswerer = channel();
  const answerer = startThread(
    (stage) => {
      const { passing } = stage.port().receive() as { passing: unknown };
      const port = stage.millrace.attach(passing);
      const question = port.receive();
      port.send(42);
      return question;
    },
    { remote: toAnswerer.remote },
  );
  const { remote } = toAsker.port.receive({ timeoutMs: STEP_MS }) as { remote: { transfer?: unknown } };
  assert.equal(remote.transfer, undefined, 'the list of its creator does not travel');
  toAnswerer.port.postMessage({ passing: remote }, transferOf(remote));
  assert.equal(await answerer.done(), 'what is the answer?');
  assert.equal(await asker.done(), 42);
  toAsker.port.close();
  toAnswerer.port.close();
});

test('a handle that went on with transferOf() cannot be attached here any more', () => {
  const { port, remote } = channel();
  const [near, far] = [channel(), channel()];
  const passer = attach(near.remote);
  near.port.postMessage(remote, remote.transfer);
  const passing = passer.receive();
  far.port.postMessage(passing, transferOf(passing));
  const last = attach(far.remote);
  const peer = attach(last.receive());
  assert.throws(() => attach(passing), { code: 'ERR_HANDLE' });
  peer.postMessage('here I am');
  assert.equal(port.receive({ timeoutMs: STEP_MS }), 'here I am');
  for (const each of [port, near.port, far.port, passer, last, peer]) each.close();
});

/** Posts `remote` to a thread that has started, which attaches it and says what it reads until the end. */
async function handOver(remote: Remote, before: () => unknown = () => {}): Promise<unknown> {
  const thread = startThread(async (stage) => {
    const { remote } = (await stage.hear()) as { remote: unknown };
    const port = stage.millrace.attach(remote);
    const values: unknown[] = [];
    for await (const value of port) values.push(value);
    const reason = await port.closed;
    port.close();
    return { values, reason };
  });
  thread.tell({ remote }, remote.transfer);
  await before();
  return thread.done();
}

test('attach() of a handle that was posted already is refused, and does not lock its receiver out', async () => {
  const { port, remote } = channel();
  port.postMessage('for the receiver');
  const read = await handOver(remote, () => {
    assert.throws(() => attach(remote), { code: 'ERR_HANDLE', message: /handed on already/ });
    assert.throws(() => attach({ ...remote }), { code: 'ERR_HANDLE', message: /handed on already/ });
    port.close();
  });
  assert.deepEqual(read, { values: ['for the receiver'], reason: 'closed' });
});

test('a handle that was attached here cannot be posted any more', () => {
  const { port, remote } = channel();
  const far = attach(remote);
  const other = channel();
  assert.throws(() => other.port.postMessage(remote, remote.transfer), { code: /^ERR_(TRANSFER|DATA_CLONE)$/ });
  assert.throws(() => attach(remote), { code: 'ERR_HANDLE', message: /attached before/ });
  for (const each of [port, far, other.port]) each.close();
});

for (const [when, wait] of [
  ['at once', () => {}],
  [
    'some turns later',
    async (): Promise<void> => {
      for (let i = 0; i < 20; i++) await turn();
    },
  ],
] as const) {
  test(`a handle handed over after the other end was closed, ${when}, still brings what was sent`, async () => {
    const { port, remote } = channel({ capacityBytes: 1024 });
    const texts = Array.from({ length: 30 }, (_, i) => `${i}`.padEnd(100));
    for (const text of texts) port.postMessage(text);
    const buffer = new ArrayBuffer(8);
    port.postMessage(buffer, [buffer]);
    port.close();
    await wait();
    assert.deepEqual(await handOver(remote), { values: [...texts, new ArrayBuffer(8)], reason: 'closed' });
  });

  test(`a handle attached here after the other end was closed, ${when}: reads what was sent, and hears of the end`, async () => {
    const { port, remote } = channel();
    port.postMessage('last');
    port.close();
    await wait();
    const far = attach(remote);
    assert.equal(await within('the reason', far.closed), 'closed');
    assert.deepEqual([far.receive(), far.receive()], ['last', CLOSED]);
    far.close();
  });
}

test('a channel whose handle went nowhere closes without waiting for anybody', async () => {
  const { port } = channel();
  port.onmessage = () => {};
  port.close();
  assert.equal(port.hasRef(), false);
  assert.equal(await port.closed, 'closed');
});
