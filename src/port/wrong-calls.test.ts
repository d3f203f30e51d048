// What a port says to those who use it wrongly, by mistakes that people make.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '../errors.ts';
import { attach, channel } from './channel.ts';
import type { Port } from './port.ts';
import { spawn } from './spawn.ts';

function withPort(body: (port: Port, far: Port) => void): void {
  const { port, remote } = channel();
  const far = attach(remote);
  try {
    body(port, far);
  } finally {
    port.close();
    far.close();
  }
}

test('a time limit under another name is refused instead of being waited for without end', () => {
  withPort((port, far) => {
    port.postMessage('kept');
    assert.throws(
      () => far.receive({ timeout: 5 } as never),
      /Unknown option timeout; known are timeoutMs, interruptible/,
    );
    assert.throws(() => far.receiveMany(2, { timeout: 5 } as never), { code: 'ERR_OPTION' });
    assert.equal(far.receive(), 'kept');
  });
});

test('a receive that is given a signal alone has no time limit', async () => {
  const { port, remote } = channel();
  const far = attach(remote);
  const pending = far.receiveAsync({ signal: new AbortController().signal });
  port.postMessage(1);
  assert.equal(await pending, 1);
  port.close();
  far.close();
});

test('a port inside a message cannot be cloned, wherever it stands, and the channel goes on', () => {
  withPort((port, far) => {
    for (const value of [port, { port }, [far], new Map([['port', far]])]) {
      assert.throws(() => port.postMessage(value), { code: 'ERR_DATA_CLONE', name: 'DataCloneError' });
    }
    assert.throws(() => port.postMessage({ inner: { port } }), /\$\.inner\.port: it is a Port/);
    port.postMessage('still here');
    assert.equal(far.tryReceive(), 'still here');
  });
});

test('attach tells what is around a handle from the handle', () => {
  const made = channel();
  assert.throws(() => attach(made), /the object around a handle, which is its `remote`/);
  assert.throws(() => attach({ data: made.remote }), /the object around a handle, which is its `data`/);
  assert.throws(() => attach(made.port), /Cannot attach an object Port/);
  assert.throws(() => attach(Object.create(null)), /Cannot attach an object:/);
  attach(made.remote).close();
  made.port.close();
});

test('spawn says where the options of the Worker go', () => {
  assert.throws(
    () => spawn(import.meta.url, { workerData: 1 } as never),
    (error: unknown) => {
      assert.ok(error instanceof UsageError);
      assert.match(error.message, /worker: \{ workerData: \.\.\. \}/);
      return true;
    },
  );
});

test('a listener that is no function is refused when it is added', () => {
  withPort((port) => {
    assert.throws(() => port.on('message', undefined as never), /a listener must be a function/);
    port.addEventListener('message', undefined as never);
    assert.equal(port.hasRef(), false);
  });
});
