// Where no bell can be had all stays as it was, and says why. With the addon: test/native/thread-bells.test.ts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { channel } from '../../src/index.ts';
import { features, wakeByBell } from '../../src/process/index.ts';
import { startThread } from '../kit/thread.ts';

test('without the addon event loops are woken as ever, and wakeByBell() says why', async () => {
  const { runtime, eventLoopWait } = features();
  const before = features().loopWay;
  assert.equal(before.name, eventLoopWait);
  const why = /is not installed|MILLRACE_NATIVE|cannot be loaded/;
  const { name, why: reason = '' } = wakeByBell();
  assert.equal(name, eventLoopWait);
  assert.match(reason, runtime === 'node' ? why : new RegExp(`^threads of ${runtime} wait for words in memory$`));
  assert.equal(features().loopWay.name, eventLoopWait);
  const { port, remote } = channel();
  const thread = startThread(
    async (stage) => {
      const port = stage.port();
      for (let i = 0; i < 3; i++) port.postMessage(await port.receiveAsync());
      port.close();
    },
    { remote },
  );
  for (let i = 0; i < 3; i++) {
    port.postMessage(i);
    assert.equal(await port.receiveAsync(), i);
  }
  await thread.done();
});
