// Whoever blocks sleeps, also while something of its own waits to go out: it does not spin until there is room.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SABMessagePort } from '../../src/compat/sab-message-port.ts';

const BLOCKED_MS = 100;

test('a reader whose queue is full sleeps while it is blocked', () => {
  const near = new SABMessagePort('a', 8);
  const far = SABMessagePort.from({ type: 'SABMessagePort', buffer: near.buffer });
  for (let i = 0; i < 100; i++) void near.postMessage('x'.repeat(1000)).catch(() => {});
  const { wait } = Atomics;
  let sleeps = 0;
  Atomics.wait = ((words: Int32Array, index: number, value: number, timeoutMs: number) => {
    sleeps++;
    return wait(words, index, value, timeoutMs);
  }) as typeof wait;
  try {
    assert.equal(near.read(BLOCKED_MS), null);
  } finally {
    Atomics.wait = wait;
  }
  assert.ok(sleeps > 0);
  far.close();
  near.close();
});
