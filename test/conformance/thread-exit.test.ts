// What a port does in a thread that is ending: its exit hook has run, other people's may still come.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLOSED, channel } from '../../src/index.ts';
import { startThread } from '../kit/thread.ts';
import { STEP_MS, within } from '../kit/watchdog.ts';

test('in an exit handler that comes after ours posting is quiet, and sending says that the thread is ending', async () => {
  const { port, remote } = channel();
  const thread = startThread(
    (stage) => {
      const port = stage.port();
      port.postMessage('in time');
      process.on('exit', () => {
        port.postMessage('too late');
        try {
          port.trySend('too late');
        } catch (error) {
          const { message } = error as Error;
          stage.gates.set(0, message === 'Cannot send: this thread is ending' ? 1 : 2);
        }
      });
    },
    { remote },
  );
  assert.equal(port.receive({ timeoutMs: STEP_MS }), 'in time');
  assert.equal(await within('the end', port.receiveAsync()), CLOSED);
  await thread.done();
  await within('the thread to end', thread.ended);
  assert.equal(thread.gates.get(0), 1);
  assert.equal(await port.closed, 'exit');
});
