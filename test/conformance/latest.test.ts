// Overflow `latest` where the two ends differ, or look at each other in a way that the port suite has no name for.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attach, CLOSED, channel, EMPTY, LayoutError, type Port, select } from '../../src/index.ts';
import { SIDE_VALUES_MAX } from '../../src/limits.ts';
import * as layout from '../../src/memory/layout.ts';
import { SPACE } from '../../src/wait/signal.ts';
import { startThread } from '../kit/thread.ts';
import { STEP_MS, turn, within } from '../kit/watchdog.ts';

const HANG = { timeoutMs: STEP_MS };

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

test('what is moved and closes while its message waits is given up, and the next one goes', async () => {
  const { port, remote } = channel({ overflow: 'latest' });
  const far = attach(remote);
  port.on('messageerror', () => {});
  for (let i = 0; i < 256; i++) {
    const { buffer } = new Uint8Array([i]);
    port.postMessage(buffer, [buffer]);
  }
  const { port1, port2 } = new MessageChannel();
  port.postMessage(port2, [port2]);
  const flushed = port.flush();
  port1.close();
  await turn();
  await turn();
  assert.deepEqual(drain(far).length, 1);
  // Moved in by the event loop, or found to be gone (Node).
  const next = await far.receiveAsync({ timeoutMs: 20 });
  if (next === EMPTY) assert.equal(port.stats().outboxBytes, 0);
  await within('the flush', flushed);
  const { buffer } = new Uint8Array([7]);
  port.postMessage(buffer, [buffer]);
  assert.deepEqual(drain(far), [new Uint8Array([7]).buffer]);
  far.close();
  port.close();
});

test('the JSON codec, too', () => {
  const { port, remote } = channel({ overflow: 'latest', capacityBytes: 1024, codec: 'json' });
  const far = attach(remote);
  for (const value of [{ a: 1 }, 'x'.repeat(5000), [1, 2, 3]]) {
    for (let i = 0; i < 3; i++) port.postMessage(i);
    port.postMessage(value);
    assert.deepEqual(drain(far), [value]);
  }
  far.close();
  port.close();
});

test('what waits for room beside the slots at the end is undelivered until it is read', () => {
  const { port, remote } = channel({ overflow: 'latest' });
  const far = attach(remote);
  const count = 2 * SIDE_VALUES_MAX;
  for (let i = 0; i < count; i++) {
    const buffer = new ArrayBuffer(8);
    port.postMessage({ i, buffer }, [buffer]);
  }
  assert.ok(port.stats().outboxBytes > 0, 'the last one waits');
  port.close();
  const undelivered = [port.stats().undelivered];
  const values: unknown[] = [];
  for (let value = far.tryReceive(); value !== CLOSED; value = far.tryReceive()) {
    values.push((value as { i: number }).i);
    undelivered.push(port.stats().undelivered);
  }
  assert.deepEqual(values, [SIDE_VALUES_MAX - 1, count - 1], 'the one that lies there, and the newest');
  assert.deepEqual(undelivered, [2, 1, 0]);
});

for (const how of ['its end', 'select', 'receive', 'close'] as const) {
  test(`a reader that has scribbled over LATEST ends the channel, found inside cork by ${how}: nobody waits on`, async () => {
    const { port, remote } = channel({ overflow: 'latest' });
    const far = attach(remote);
    const other = channel();
    const otherFar = attach(other.remote);
    const words = new Int32Array(remote.memory);
    port.postMessage(0);
    assert.equal(far.receive(), 0);
    const closed = port.closed;
    const pending = port.receiveAsync();
    await turn();
    const inside = (): void => {
      port.postMessage(1);
      Atomics.store(words, layout.LANE_0 + layout.LATEST, 77);
      // What belongs to the others is heard, and nobody is told of this by a call about another port.
      if (how === 'select') assert.equal(select([other.port, port], HANG), port);
      if (how === 'receive') {
        Atomics.store(words, layout.LANE_1 + layout.TAIL, 12_345);
        assert.throws(() => port.tryReceive(), LayoutError);
      }
      if (how === 'close') assert.throws(() => port.close(), LayoutError);
    };
    port.cork(inside);
    assert.equal(await within('the end', closed), how === 'close' ? 'closed' : 'lost');
    // It had asked before, and was told of the damage or of the end.
    await within(
      'who waits',
      pending.catch(() => {}),
    );
    for (const each of [port, far, other.port, otherFar]) each.close();
  });
}

test('a ring that is full before its first message is damage', async () => {
  const { port, remote } = channel({ overflow: 'latest' });
  Atomics.store(new Int32Array(remote.memory), layout.LANE_0 + layout.TAIL, port.stats().capacityBytes);
  assert.throws(() => port.postMessage(1), LayoutError);
  assert.equal(await within('the end', port.closed), 'lost');
});
