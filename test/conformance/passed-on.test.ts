// A handle that goes from thread to thread before it is attached: `transferOf` says what must move along.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attach, channel, transferOf } from '../../src/index.ts';
import { startThread } from '../kit/thread.ts';
import { STEP_MS } from '../kit/watchdog.ts';

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
