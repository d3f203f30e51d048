// The browser's build, where a blocked thread cannot take what travels beside the ring. No browser is needed: it uses the
// web's globals only, and every runtime has those that it asks for.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { ChannelOptions, Port } from '../../src/index.ts';
import { MOVED_COPIED_BYTES_MAX, MOVED_COPIED_SPARE } from '../../src/limits.ts';
import { AGENT_PAGE_BYTES } from '../../src/link/layout.ts';
import { within } from '../kit/watchdog.ts';

const built = fileURLToPath(new URL('../../browser', import.meta.url));
/** Every native port that somebody listens to: the thread's link with itself has its own from its first use on. */
const heard: EventTarget[] = [];
const { addEventListener } = MessagePort.prototype;
MessagePort.prototype.addEventListener = function (this: MessagePort, ...args: [string, never]) {
  if (args[0] === 'messageerror') heard.push(this);
  addEventListener.apply(this, args);
} as typeof addEventListener;

/** A page does not mind; here they would keep the process. */
after(() => {
  for (const native of heard) (native as MessagePort).close();
});

const load = (folder: string): Promise<typeof import('../../src/index.ts')> =>
  import(pathToFileURL(join(folder, 'index.js')).href);
const { attach, CLOSED, channel, EMPTY, features, transferOf } = await load(built);

async function withPair(options: ChannelOptions, body: (near: Port, far: Port) => unknown): Promise<void> {
  const { port, remote } = channel(options);
  const far = attach(remote);
  try {
    await body(port, far);
  } finally {
    port.close();
    far.close();
  }
}

const moved = (): ArrayBuffer => new Uint8Array([1, 0, 2, 0, 3, 0, 4, 0]).buffer;
/** A native port cannot be copied, so that all of it moves beside the ring. */
function postMoved(port: Port): void {
  const [buffer, { port1 }] = [moved(), new MessageChannel()];
  port.postMessage([buffer, port1], [buffer, port1]);
}

/** How often `port` goes to sleep in `body`: one that spins would not, one that asks too often would without end. */
function sleepsIn(port: Port, body: () => void): number {
  const before = port.stats().parks;
  body();
  return port.stats().parks - before;
}

test('the bundle has the platform of browsers', () => {
  assert.deepEqual([features().runtime, features().blockingTransfer], ['browser', false]);
});

for (const [what, post] of [
  ['a moved value', postMoved],
  ['a value that only the native clone carries', (port: Port): void => port.postMessage(new Blob(['x']))],
] as const) {
  test(`${what} at the head: a blocked receive with a time limit sleeps until it has passed`, () =>
    withPair({}, async (near, far) => {
      post(far);
      far.postMessage('behind it');
      const sleeps = sleepsIn(near, () => assert.equal(near.receive({ timeoutMs: 40 }), EMPTY));
      assert.ok(sleeps >= 1 && sleeps < 40, `${sleeps} sleeps`);
      assert.deepEqual(near.receiveMany(9, { timeoutMs: 5 }), []);
      assert.equal(typeof (await within('the value', near.receiveAsync())), 'object');
      assert.equal(near.receive({ timeoutMs: 40 }), 'behind it');
    }));

  test(`${what} at the head: a blocked receive without a limit says what to do instead`, () =>
    withPair({}, async (near, far) => {
      post(far);
      far.postMessage('behind it');
      assert.throws(() => near.receive(), { code: 'ERR_UNSUPPORTED', message: /await receiveAsync/ });
      assert.throws(() => near.blocking().next(), { code: 'ERR_UNSUPPORTED' });
      assert.equal(typeof (await within('the value', near.receiveAsync())), 'object');
      assert.equal(near.receive(), 'behind it');
    }));

  test(`${what} at the head: a blocked send with a time limit sleeps until it has passed`, () =>
    withPair({ capacityBytes: 1024 }, async (near, far) => {
      post(far);
      while (near.trySend('x'.repeat(100)));
      const sleeps = sleepsIn(near, () => assert.equal(near.send('x'.repeat(100), { timeoutMs: 40 }), false));
      assert.ok(sleeps >= 1 && sleeps < 40, `${sleeps} sleeps`);
      assert.equal(typeof (await within('the value', near.receiveAsync())), 'object');
    }));

  test(`${what} sent right before close arrives, then the end`, () =>
    withPair({}, async (near, far) => {
      post(far);
      far.close();
      assert.equal(near.tryReceive(), EMPTY);
      assert.equal(near.receive({ timeoutMs: 10 }), EMPTY);
      assert.equal(typeof (await within('the value', near.receiveAsync())), 'object');
      assert.equal(await within('the end', near.receiveAsync()), CLOSED);
    }));
}

test('a left-over that has not come: a limit is kept, no limit is refused, and nothing of it is lost', () =>
  withPair({ capacityBytes: 1024 }, async (near, far) => {
    const text = (i: number): string => `${i}`.padEnd(100);
    for (let i = 0; i < 50; i++) far.postMessage(text(i));
    far.close();
    let next = 0;
    for (let value = near.tryReceive(); value !== EMPTY; value = near.tryReceive()) assert.equal(value, text(next++));
    const sleeps = sleepsIn(near, () => assert.equal(near.receive({ timeoutMs: 40 }), EMPTY));
    assert.ok(sleeps >= 1 && sleeps < 40, `${sleeps} sleeps`);
    assert.throws(() => near.receive(), { code: 'ERR_UNSUPPORTED' });
    while (next < 50) assert.equal(await within('the left-over', near.receiveAsync()), text(next++));
    assert.equal(await within('the end', near.receiveAsync()), CLOSED);
  }));

test('buffers that move are there for a blocked receive, with what is over them, and gone at their sender', () =>
  withPair({}, (near, far) => {
    const [buffer, alone] = [moved(), new ArrayBuffer(16)];
    far.postMessage({ view: new Uint16Array(buffer, 2, 2), buffer }, [buffer, alone]);
    far.postMessage('behind it');
    assert.deepEqual([buffer.byteLength, alone.byteLength], [0, 0]);
    const { view, buffer: same } = near.receive() as { view: Uint16Array; buffer: ArrayBuffer };
    assert.deepEqual([[...view], view.byteOffset, view.buffer === same, same.byteLength], [[2, 3], 2, true, 8]);
    assert.equal(near.receive(), 'behind it');
  }));

test('a buffer whose message is refused, or finds no room, stays where it is', () =>
  withPair({ capacityBytes: 1024 }, (near, far) => {
    const buffer = moved();
    assert.throws(() => far.postMessage([buffer, () => {}], [buffer]), { name: 'DataCloneError' });
    assert.throws(() => far.postMessage(buffer, [buffer, buffer]), { code: 'ERR_TRANSFER' });
    while (far.trySend('x'.repeat(100)));
    const large = new ArrayBuffer(200);
    assert.equal(far.trySend(large, [large]), false);
    assert.deepEqual([large.byteLength, buffer.byteLength], [200, 8]);
    far.postMessage(buffer, [buffer]);
    assert.equal(buffer.byteLength, 0);
    let last: unknown;
    for (let value = near.receive(); value !== EMPTY; value = near.receive({ timeoutMs: 5 })) last = value;
    assert.deepEqual(last, moved());
  }));

test('what the codec refuses in a message takes its moved buffers beside the ring', () =>
  withPair({}, async (near, far) => {
    const buffer = moved();
    far.postMessage([buffer, new Blob(['x'])], [buffer]);
    assert.equal(buffer.byteLength, 0);
    assert.throws(() => near.receive(), { code: 'ERR_UNSUPPORTED' });
    const [came, blob] = (await within('the value', near.receiveAsync())) as [ArrayBuffer, Blob];
    assert.deepEqual([came, blob.size], [moved(), 1]);
  }));

test('more of moved buffers than is copied goes beside the ring', () =>
  withPair({}, async (near, far) => {
    const [fits, over] = [
      new ArrayBuffer(MOVED_COPIED_BYTES_MAX - MOVED_COPIED_SPARE),
      new ArrayBuffer(MOVED_COPIED_BYTES_MAX),
    ];
    far.postMessage(over, [over]);
    assert.throws(() => near.receive(), { code: 'ERR_UNSUPPORTED', message: /copied instead of transferred/ });
    const came = (await within('the value', near.receiveAsync())) as ArrayBuffer;
    assert.deepEqual([came.byteLength, over.byteLength], [MOVED_COPIED_BYTES_MAX, 0]);
    assert.equal(far.trySend(fits, [fits]), true);
    assert.equal(fits.byteLength, 0);
  }));

test('under overflow latest a moved buffer is there for a blocked receive', () =>
  withPair({ overflow: 'latest' }, (near, far) => {
    near.postMessage('old');
    const buffer = moved();
    near.postMessage(buffer, [buffer]);
    assert.deepEqual([far.receive(), buffer.byteLength], [moved(), 0]);
  }));

test('a DOMException is there for a blocked receive', () =>
  withPair({}, (near, far) => {
    far.postMessage({ reason: new DOMException('m', 'AbortError') });
    const { reason } = near.receive() as { reason: DOMException };
    assert.ok(reason instanceof DOMException);
    assert.deepEqual([reason.name, reason.message], ['AbortError', 'm']);
  }));

test('an event loop that waits for a moved value sleeps', () =>
  withPair({}, async (near, far) => {
    const turns: unknown[] = [];
    const received = near.receiveAsync().then((value) => turns.push(value));
    postMoved(far);
    await within('the value', received);
    assert.equal(turns.length, 1);
  }));

test('a value that cannot be made here raises one messageerror, and the port goes on', async () => {
  await withPair({}, async (near, far) => {
    // Whatever earlier tests have left on the native ports has come before it.
    postMoved(far);
    assert.equal(typeof (await within('an earlier value', near.receiveAsync())), 'object');
    // What the native port does in place of `message`. The marker in the ring is that of a Blob, which is held back.
    const { postMessage } = MessagePort.prototype;
    MessagePort.prototype.postMessage = (): void => {};
    far.postMessage(new Blob(['x']));
    MessagePort.prototype.postMessage = postMessage;
    for (const native of heard) native.dispatchEvent(new Event('messageerror'));
    far.postMessage('behind it');
    await assert.rejects(within('the error', near.receiveAsync()), { code: 'ERR_DECODE', message: /cannot make/ });
    assert.equal(near.receive(), 'behind it');
    postMoved(far);
    assert.equal(typeof (await within('a later value', near.receiveAsync())), 'object');
  });
});

test('a handle that was handed on cannot be attached here, and can where it went', () => {
  const { port, remote } = channel();
  const arrived = structuredClone(remote, { transfer: remote.transfer });
  assert.throws(() => attach(remote), { code: 'ERR_HANDLE' });
  const passed = structuredClone(arrived, { transfer: transferOf(arrived) });
  assert.throws(() => attach(arrived), { code: 'ERR_HANDLE' });
  const far = attach(passed);
  port.postMessage('there');
  assert.equal(far.receive({ timeoutMs: 1000 }), 'there');
  port.close();
  far.close();
});

test('what proposes a link is said again while nothing comes of it: ports that have just moved lose messages in Firefox', async () => {
  const [FOUND, FOUNDED] = [17, 18];
  const { postMessage } = MessagePort.prototype;
  let lost = 0;
  const agreed = new Promise<void>((resolve) => {
    MessagePort.prototype.postMessage = function (this: MessagePort, ...args: [unknown, never]) {
      const kind = Array.isArray(args[0]) ? args[0][0] : undefined;
      if (kind === FOUNDED) resolve();
      if (kind === FOUND && lost++ === 0) return;
      postMessage.apply(this, args);
    } as typeof postMessage;
  });
  const { port, remote } = channel();
  // As if another thread had made it.
  const far = attach({ ...remote, agent: { id: 'somebody', page: new SharedArrayBuffer(AGENT_PAGE_BYTES) } } as never);
  try {
    await within('the answer', agreed);
    port.postMessage('linked');
    assert.equal(await within('a message', far.receiveAsync()), 'linked');
  } finally {
    MessagePort.prototype.postMessage = postMessage;
    port.close();
    far.close();
  }
});

test('without cross-origin isolation channels go over native ports, and what needs memory names the headers', async () => {
  const { remote, port } = channel();
  // At another address the modules run anew.
  const folder = mkdtempSync(join(tmpdir(), 'millrace-browser-'));
  cpSync(built, folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const hidden = Object.getOwnPropertyDescriptor(globalThis, 'SharedArrayBuffer') as PropertyDescriptor;
  Reflect.deleteProperty(globalThis, 'SharedArrayBuffer');
  try {
    const plain = await load(folder);
    const refusal = {
      name: 'UnsupportedError',
      code: 'ERR_UNSUPPORTED',
      message: /isolated.*Cross-Origin-Opener-Policy: same-origin.*Cross-Origin-Embedder-Policy: require-corp/,
    };
    const native = plain.channel();
    const far = plain.attach(native.remote);
    far.postMessage('over a native port');
    assert.equal(await native.port.receiveAsync(), 'over a native port');
    // As in a page: it has no XMLHttpRequest, by which a worker can be told of a service worker's way.
    assert.throws(() => native.port.receive(), { ...refusal, message: /may not block; use receiveAsync/ });
    assert.equal(plain.features().memory, false);
    assert.match(String(plain.features().memoryMissing), refusal.message);
    native.port.close();
    assert.throws(() => plain.channel({ memory: true }), refusal);
    assert.throws(() => plain.attach(remote), refusal);
    assert.throws(() => plain.channel({ capacityBytes: -1 }), { code: 'ERR_OPTION' });
  } finally {
    Object.defineProperty(globalThis, 'SharedArrayBuffer', hidden);
    rmSync(folder, { recursive: true, force: true });
    attach(remote).close();
    port.close();
  }
});
