// A value that the runtime cloned for its sender and cannot read at its receiver. On Node only: of the others none does so.
// runtimes: node
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attach, channel, EMPTY } from '../../src/index.ts';
import { unreadable } from '../kit/unreadable-value.ts';

test('a value that cannot be read here is one decode error in its place, and hurts no other', () => {
  const { port: near, remote } = channel();
  const far = attach(remote);
  const native = (value: unknown): void => near.postMessage(value, [new ArrayBuffer(1)]);
  native('before');
  native(unreadable());
  native('between');
  native(unreadable());
  near.postMessage('in the ring');
  native('after');
  const decode = (error: unknown): boolean => {
    assert.equal((error as { code?: string }).code, 'ERR_DECODE');
    assert.match(String((error as { cause?: unknown }).cause), /internal/);
    return true;
  };
  assert.equal(far.tryReceive(), 'before');
  assert.throws(() => far.tryReceive(), decode);
  assert.equal(far.tryReceive(), 'between');
  assert.throws(() => far.receive({ timeoutMs: 5 }), decode);
  assert.deepEqual([far.tryReceive(), far.tryReceive(), far.tryReceive()], ['in the ring', 'after', EMPTY]);
  assert.equal(far.stats().undecodable, 2);
  native(unreadable());
  near.close();
  assert.throws(() => far.tryReceive(), decode);
  far.close();
});

test('a blocked receive that looks after its peer meanwhile throws nothing else', async () => {
  const { port: near, remote } = channel();
  const far = attach(remote);
  near.postMessage(unreadable(), [new ArrayBuffer(1)]);
  const [first, second] = await Promise.allSettled([far.receiveAsync(), far.receiveAsync({ timeoutMs: 20 })]);
  assert.equal(first.status === 'rejected' && first.reason.code, 'ERR_DECODE');
  assert.equal(second.status === 'fulfilled' && second.value, EMPTY);
  near.close();
  far.close();
});
