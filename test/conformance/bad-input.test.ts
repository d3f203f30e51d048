// Bad input gets one clear typed error and loses nothing: each kind that the product names, with its class and code.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  attach,
  type ChannelOptions,
  channel,
  EMPTY,
  type ErrorCode,
  LayoutError,
  MillraceError,
  Port,
  parentPort,
  spawn,
  UnsupportedError,
} from '../../src/index.ts';
import { HEAD, LANE_0, LANE_1, TAIL } from '../../src/memory/layout.ts';
import type { Transport } from '../../src/transport/transport.ts';
import { startThread } from '../kit/thread.ts';
import { within } from '../kit/watchdog.ts';

function is(code: ErrorCode, errorClass: new (...args: never[]) => Error = MillraceError) {
  return (error: unknown): boolean => {
    assert.ok(error instanceof errorClass && error instanceof MillraceError, String(error));
    assert.equal(error.code, code, error.message);
    return true;
  };
}
/** The channel goes on as if nothing had been. */
function goesOn(port: Port, peer: Port): void {
  port.postMessage('goes on');
  assert.equal(peer.tryReceive(), 'goes on');
  assert.equal(peer.tryReceive(), EMPTY);
}

test('wrong options of channel(), attach() and spawn() are ERR_OPTION; the handle stays good', () => {
  const wrong: unknown[] = [
    { capacityBytes: 0 },
    { capacityBytes: '1 MiB' },
    { maxMessageBytes: -1 },
    { overflow: 'drop' },
    { codec: 'msgpack' },
    { spinMicroseconds: Number.NaN },
    { eventLoopWait: 'doorbell' },
    { typo: 1 },
    null,
    5,
  ];
  for (const options of wrong) {
    assert.throws(() => channel(options as ChannelOptions), is('ERR_OPTION'), JSON.stringify(options));
    const url = new URL('file:///nowhere.js');
    assert.throws(() => spawn(url, options as ChannelOptions), is('ERR_OPTION'), JSON.stringify(options));
  }
  assert.throws(() => spawn('not a url'), is('ERR_OPTION'));
  assert.throws(() => spawn(new URL('file:///nowhere.js'), { worker: 5 } as never), is('ERR_OPTION'));
  const { port, remote } = channel();
  assert.throws(() => attach(remote, { overflow: 'drop' } as never), is('ERR_OPTION'));
  assert.throws(() => attach(remote, { capacityBytes: 4096 } as never), is('ERR_OPTION'));
  const peer = attach(remote);
  goesOn(port, peer);
  port.close();
  peer.close();
});

test('a handle from another version is a LayoutError, one that was attached before ERR_HANDLE', () => {
  const { port, remote } = channel();
  assert.throws(() => attach({ ...remote, version: 2 }), is('ERR_LAYOUT', LayoutError));
  const peer = attach(remote);
  assert.throws(() => attach(remote), is('ERR_HANDLE'));
  goesOn(port, peer);
  port.close();
  peer.close();
});

test('a handle that another thread has attached is ERR_HANDLE there too', async () => {
  const { port, remote } = channel();
  const peer = attach(remote);
  const { tether: _, side: __, ...rest } = remote;
  const thread = startThread(
    (stage) => {
      const { port1, port2 } = new MessageChannel();
      try {
        stage.millrace.attach({ ...stage.data, tether: port1, side: port2 });
        return 'attached';
      } catch (error) {
        return (error as { code: string }).code;
      } finally {
        port1.close();
        port2.close();
      }
    },
    { data: rest },
  );
  assert.equal(await thread.done(), 'ERR_HANDLE');
  goesOn(port, peer);
  port.close();
  peer.close();
});

test('memory that is too small, cut or foreign is a LayoutError; what is no handle ERR_HANDLE', () => {
  const { port, remote } = channel({ capacityBytes: 1024 });
  for (const bytes of [0, 1020, 1027, 2048, 3071]) {
    const memory = new SharedArrayBuffer(bytes);
    new Uint8Array(memory).set(new Uint8Array(remote.memory).subarray(0, bytes));
    assert.throws(() => attach({ ...remote, memory }), is('ERR_LAYOUT', LayoutError), `${bytes} bytes`);
  }
  // The same bytes, so that only their not being shared can be what is refused.
  const foreign = new ArrayBuffer(remote.memory.byteLength);
  new Uint8Array(foreign).set(new Uint8Array(remote.memory));
  assert.throws(() => attach({ ...remote, memory: foreign }), is('ERR_LAYOUT', LayoutError));
  for (const value of [undefined, null, 'handle', {}, remote.memory, port])
    assert.throws(() => attach(value), is('ERR_HANDLE'));
  const peer = attach(remote);
  goesOn(port, peer);
  port.close();
  peer.close();
});

for (const [what, word] of [
  ['TAIL', LANE_1 + TAIL],
  ['HEAD', LANE_0 + HEAD],
] as const) {
  for (const arrives of [false, true]) {
    const where = arrives ? 'arrived' : 'was made here';
    test(`a handle that ${where}, whose ${what} was scribbled over, is a LayoutError, and its maker is told`, async () => {
      const { port, remote } = channel();
      Atomics.store(new Int32Array(remote.memory), word, 3);
      const { port1, port2 } = new MessageChannel();
      const arrived = new Promise((resolve) => port2.addEventListener('message', ({ data }) => resolve(data)));
      port2.start();
      if (arrives) port1.postMessage(remote, remote.transfer);
      const handle = arrives ? await within('the handle', arrived) : remote;
      assert.throws(() => attach(handle), is('ERR_LAYOUT', LayoutError));
      assert.equal(await within('the end', port.closed), 'lost');
      assert.throws(() => attach(handle), is('ERR_HANDLE'));
      port1.close();
    });
  }
}

test('a handle posted without its transfer list is refused where it is posted or where it is attached', async () => {
  const { port, remote } = channel();
  // What a runtime makes of ports that it clones without complaint.
  for (const lost of [{ tether: {} }, { side: {} }, { tether: undefined, side: undefined }]) {
    assert.throws(() => attach({ ...remote, ...lost }), is('ERR_HANDLE'));
  }
  const thread = startThread(async (stage) => {
    try {
      stage.millrace.attach(await stage.hear());
      return 'attached';
    } catch (error) {
      return (error as { code: string }).code;
    }
  });
  try {
    thread.tell(remote);
    assert.equal(await thread.done(), 'ERR_HANDLE');
  } catch (error) {
    assert.equal((error as Error).constructor === MillraceError, false);
    assert.match(String(error), /transfer|clone/i);
  }
  await thread.kill();
  port.close();
});

test('a Port in a value is refused, whichever way the value goes', () => {
  for (const overflow of ['wait', 'latest'] as const) {
    const { port, remote } = channel({ capacityBytes: 1024, overflow });
    const far = attach(remote);
    const moved = (): ArrayBuffer[] => [new ArrayBuffer(8)];
    const lists: (() => ArrayBuffer[] | undefined)[] = [() => undefined, moved];
    for (const list of lists) {
      for (const value of [far, { deep: [new Map([[1, far]])] }]) {
        assert.throws(() => port.postMessage(value, list()), is('ERR_DATA_CLONE'));
        assert.throws(() => port.cork(() => port.postMessage(value, list())), is('ERR_DATA_CLONE'));
      }
    }
    goesOn(port, far);
    far.close();
  }
});

test('a revoked Proxy in a value is ERR_DATA_CLONE with its path', () => {
  const revoked = (target: object): unknown => {
    const { proxy, revoke } = Proxy.revocable(target, {});
    revoke();
    return proxy;
  };
  const { port, remote } = channel();
  const far = attach(remote);
  for (const target of [{}, [], () => {}, new Map(), new Proxy({}, {})]) {
    const proxy = revoked(target);
    const cases: [unknown, string][] = [
      [proxy, '$'],
      [{ a: 1, b: { c: proxy } }, '$.b.c'],
      [[0, { a: proxy }], '$[1].a'],
      [{ many: Array.from({ length: 300 }, () => ({})), last: proxy }, '$.last'],
      [new Map([['key', proxy]]), '$.get("key")'],
    ];
    for (const [value, path] of cases) {
      assert.throws(
        () => port.postMessage(value),
        (error) => is('ERR_DATA_CLONE')(error) && (error as { path?: unknown }).path === path,
        path,
      );
      assert.throws(() => port.postMessage(value, [new ArrayBuffer(8)]), is('ERR_DATA_CLONE'));
    }
  }
  // What a trap or getter throws is the caller's own.
  const own = new TypeError('own');
  const throws = (): never => {
    throw own;
  };
  assert.throws(() => port.postMessage([new Proxy({}, { ownKeys: throws })]), own);
  goesOn(port, far);
  far.close();
});

test('parentPort() outside of a spawned thread is ERR_HANDLE', () => {
  assert.throws(() => parentPort(), is('ERR_HANDLE'));
});

test('blocking where it is forbidden is an UnsupportedError that names what to use; nothing is lost', () => {
  const sent: unknown[] = [];
  // A transport such as a page's main thread has: full, empty, and not allowed to block.
  const transport = {
    blocking: undefined,
    ended: undefined,
    out: {
      backlog: 0,
      writable: false,
      trySend: (value: unknown) => sent.push(value) > 1e9,
      mark: () => ({ accepted: 0, position: 0 }),
      taken: () => true,
      pump: () => true,
    },
    in: { ready: false, tryReceive: () => EMPTY },
    inspect: () => ({}),
    hold: () => {},
    close: () => {},
  } as unknown as Transport;
  const port = new Port(() => transport);
  assert.throws(
    () => port.receive(),
    (error) => is('ERR_UNSUPPORTED', UnsupportedError)(error) && /receiveAsync/.test((error as Error).message),
  );
  assert.throws(() => port.receive({ timeoutMs: 10 }), is('ERR_UNSUPPORTED', UnsupportedError));
  assert.throws(() => [...port.blocking()], is('ERR_UNSUPPORTED', UnsupportedError));
  assert.throws(
    () => port.send('x'),
    (error) => is('ERR_UNSUPPORTED', UnsupportedError)(error) && /drained/.test((error as Error).message),
  );
  assert.equal(port.receive({ timeoutMs: 0 }), EMPTY, 'looking is not blocking');
});
