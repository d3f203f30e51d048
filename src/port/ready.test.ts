// When both ends are open, and who is told if that never comes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attach, channel } from './channels.ts';

test('ready comes when somebody attaches, and for who attaches it is there', async () => {
  const { port, remote } = channel();
  let ready = false;
  const waited = port.ready.then(() => {
    ready = true;
  });
  assert.equal(port.ready, port.ready);
  assert.equal(port.hasRef(), true);
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(ready, false);
  const far = attach(remote);
  await far.ready;
  await waited;
  assert.equal(port.hasRef(), false);
  await channelIsFine();
  port.close();

  async function channelIsFine(): Promise<void> {
    far.postMessage('message');
    assert.equal(await port.receiveAsync(), 'message');
  }
});

test('ready rejects when this end is closed before, and kills nobody who does not look', async () => {
  const { port } = channel();
  void port.ready;
  port.close();
  await assert.rejects(port.ready, { code: 'ERR_CLOSED', reason: 'closed' });
  assert.equal(port.hasRef(), false);
});

test('ready was there if both ends were open once, whatever came then', async () => {
  const { port, remote } = channel();
  attach(remote).close();
  // Held by this, where the promise of the end holds nothing.
  await port.receiveAsync();
  await port.ready;
});
