// Overflow `latest` where the two ends differ, or look at each other in a way that the port suite has no name for.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attach, CLOSED, channel, EMPTY, type Port } from '../../src/index.ts';
import * as layout from '../../src/memory/layout.ts';
import { SPACE } from '../../src/wait/signal.ts';
import { startThread } from '../kit/thread.ts';

function drain(port: Port): unknown[] {
  const values: unknown[] = [];
  for (let value = port.tryReceive(); value !== EMPTY && value !== CLOSED; value = port.tryReceive())
    values.push(value);
  return values;
}

test('who attaches late finds the newest only', () => {
  const { port, remote } = channel({ overflow: 'latest' });
  for (let i = 0; i < 1000; i++) port.postMessage({ i });
  const far = attach(remote);
  assert.deepEqual(drain(far), [{ i: 999 }]);
  far.close();
  port.close();
});

test('each end chooses for what it sends', () => {
  for (const attacher of [true, false]) {
    const { port, remote } = channel(attacher ? {} : { overflow: 'latest' });
    const far = attach(remote, attacher ? { overflow: 'latest' } : {});
    for (let i = 0; i < 5; i++) {
      port.postMessage(i);
      far.postMessage(i);
    }
    const all = [0, 1, 2, 3, 4];
    assert.deepEqual([drain(port), drain(far)], attacher ? [[4], all] : [all, [4]]);
    far.close();
    port.close();
  }
});

test('a thread blocked in send() sets nothing aside that would grow old', async () => {
  const { port, remote } = channel({ capacityBytes: 1024, spinMicroseconds: false });
  const { memory } = remote;
  const thread = startThread(
    (stage) => {
      const { memory, park, space, many } = stage.data;
      const port = stage.port();
      const words = new Int32Array(memory);
      stage.gates.open(0);
      // The sender sleeps for room now; it would take in what comes here, one by one.
      while ((Atomics.load(words, park) & space) === 0);
      for (let i = 0; i < many; i++) {
        port.postMessage(i);
        if (i % 100 === 0) stage.pause(1);
      }
      while (port.tryReceive() !== stage.millrace.EMPTY);
      stage.gates.open(1);
      stage.compute(2);
    },
    {
      remote,
      options: { overflow: 'latest' },
      data: { memory, park: layout.SIDE_0 + layout.PARK, space: SPACE, many: 1000 },
    },
  );
  await thread.gates.passAsync(0);
  while (port.trySend('fill'));
  port.send('blocks');
  thread.gates.pass(1);
  assert.deepEqual(drain(port), [999]);
  thread.gates.open(2);
  await thread.done();
  port.close();
});
