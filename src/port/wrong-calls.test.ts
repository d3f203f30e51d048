// What a port says to those who use it wrongly, by mistakes that people make.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '../errors.ts';
import { EMPTY } from '../outcome.ts';
import { attach, channel } from './channels.ts';
import { Port } from './port.ts';
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

test('spawn says so of the options of a web Worker, too', () => {
  for (const name of ['type', 'credentials', 'eval', 'name']) {
    assert.throws(
      () => spawn(import.meta.url, { [name]: 'x' } as never),
      new RegExp(`worker: \\{ ${name}: \\.\\.\\. \\}`),
    );
  }
});

test('what is meant as a transfer list and is none is refused, and nothing was sent or moved', () => {
  withPort((port, far) => {
    const buffer = new ArrayBuffer(8);
    const bytes = new Uint8Array(buffer);
    for (const wrong of [bytes, buffer, new Set([buffer]), new Map(), 'list', 5, { transfer: buffer }] as never[]) {
      assert.throws(() => port.postMessage(buffer, wrong), { code: 'ERR_TRANSFER' });
      assert.throws(() => port.trySend(buffer, wrong), { code: 'ERR_TRANSFER' });
    }
    for (const wrong of [{ tranfer: [buffer] }, { timeoutMs: 5 }, { transfer: [buffer], timeoutMs: 5 }] as never[]) {
      assert.throws(() => port.postMessage(buffer, wrong), { code: 'ERR_OPTION' });
      assert.throws(() => port.trySend(buffer, wrong), { code: 'ERR_OPTION' });
    }
    assert.throws(() => port.send(buffer, { tranfer: [buffer] } as never), { code: 'ERR_OPTION' });
    assert.equal(buffer.byteLength, 8);
    assert.equal(far.tryReceive(), EMPTY);
    port.postMessage(buffer, { transfer: undefined });
    port.postMessage(buffer, Object.assign(Object.create(null), { transfer: [buffer] }));
    assert.equal(buffer.byteLength, 0);
  });
});

test('a remote in a message without its transfer list is told of by name, wherever the runtime refuses it', () => {
  withPort((port, far) => {
    const { port: other, remote } = channel();
    for (const value of [remote, { remote }, [remote]]) {
      try {
        port.postMessage(value);
        far.tryReceive();
      } catch (error) {
        assert.match((error as Error).message, /`remote\.transfer`.*`transferOf\(remote\)`/);
      }
    }
    assert.throws(
      () => port.postMessage({ remote, f: () => {} }, remote.transfer),
      (error: Error) => !/transferOf/.test(error.message),
    );
    other.close();
  });
});

test('new Port() and cork() without a function say what is meant', () => {
  assert.throws(
    () => new (Port as unknown as new () => Port)(),
    /ports come from channel, attach, spawn and parentPort/,
  );
  withPort((port) => {
    assert.throws(() => port.cork(undefined as never), { code: 'ERR_OPTION', message: /expected a function/ });
  });
});

test('a listener that is no function is refused when it is added', () => {
  withPort((port) => {
    assert.throws(() => port.on('message', undefined as never), /a listener must be a function/);
    port.addEventListener('message', undefined as never);
    assert.equal(port.hasRef(), false);
  });
});
