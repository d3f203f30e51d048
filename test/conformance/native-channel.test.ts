// Channels over a native message port, for threads that have no memory in common: the port suite, in one thread and between two, and what is theirs alone.
// watchdog: 600 s
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  attach,
  type ChannelOptions,
  CLOSED,
  channel,
  type Port,
  pair,
  select,
  spawn,
  transferOf,
  UnsupportedError,
} from '../../src/index.ts';
import { expose, start, wrap } from '../../src/rpc/index.ts';
import { keeper } from '../../src/transport/native/kept-pieces.ts';
import { within } from '../kit/watchdog.ts';
import { OVER_A_STREAM, portConformance } from './port.ts';

const forPeer = ({ capacityBytes: _, maxMessageBytes: __, ...rest }: ChannelOptions): ChannelOptions => rest;
const probes: [Port, Port][] = [];
/** A word goes round behind everything else, on a channel of its own that was made later: native ports of a thread take turns. */
async function quiet(): Promise<void> {
  const [a, b] = probes[0] ?? both({});
  probes[0] = [a, b];
  for (let i = 0; i < 3; i++) {
    a.postMessage(i);
    await within('the word there', b.receiveAsync());
    b.postMessage(i);
    await within('the word back', a.receiveAsync());
  }
}
function both(options: ChannelOptions): [Port, Port] {
  const { port, remote } = channel({ ...options, memory: false });
  return [port, attach(remote, forPeer(options))];
}

portConformance({
  name: 'native port',
  ...OVER_A_STREAM,
  sharesMemory: true,
  moves: true,
  late: quiet,
  async pair(options = {}) {
    const [a, b] = both(options);
    await within('both ends', Promise.all([a.ready, b.ready]));
    return { a, b };
  },
});

const module = (text: string): string =>
  `data:text/javascript,${encodeURIComponent(
    `import { parentPort, channel, attach } from ${JSON.stringify(new URL('../../src/index.js', import.meta.url).href)};
     import { expose } from ${JSON.stringify(new URL('../../src/rpc/index.js', import.meta.url).href)};
     ${text}`,
  )}`;

test('a worker that is spawned without memory answers, and its end is told with what it died of', async () => {
  for (const [text, reason] of [
    ['parentPort().close()', 'closed'],
    ['parentPort().onmessage = () => { throw new RangeError("boom"); }', 'crash'],
    ['throw new RangeError("boom")', 'crash'],
  ] as const) {
    const { port, worker } = spawn(module(text), { memory: false });
    (worker as unknown as { on?(type: string, heard: () => void): void }).on?.('error', () => {});
    (worker as unknown as EventTarget).addEventListener?.('error', (event) => event.preventDefault());
    port.postMessage('go');
    assert.equal(await within(text, port.closed), reason, text);
    if (reason === 'crash') assert.match(String((port.error as Error)?.message), /boom/, text);
    worker.terminate();
  }
  const { port, worker } = spawn(module('parentPort().onmessage = ({ data }) => parentPort().postMessage(data)'), {
    memory: false,
  });
  port.postMessage('hello');
  assert.equal(await within('an answer', port.receiveAsync()), 'hello');
  worker.terminate();
  assert.equal(await within('its end', port.closed), 'terminated');
});

test('nothing is kept any more for a worker that may block and was terminated', async () => {
  let kept = true;
  const dropped = new Promise<void>((resolve) => {
    const drop = (): void => {
      kept = false;
      resolve();
    };
    keeper().keep = () => ({ address: '', push() {}, confirm() {}, drop });
  });
  try {
    const { port, worker } = spawn(module('parentPort().postMessage("up")'), { memory: false });
    await within('a message', port.receiveAsync());
    assert.equal(kept, true);
    worker.terminate();
    await within('its end', dropped);
  } finally {
    keeper().keep = undefined;
  }
});

test('what a worker has moved before its end is read behind it', async () => {
  const { port } = spawn(module('const buffer = new ArrayBuffer(8); parentPort().postMessage(buffer, [buffer]); '), {
    memory: false,
  });
  // Not before the thread is gone, and has said so.
  await within('the end', port.closed);
  assert.ok((await within('the buffer', port.receiveAsync())) instanceof ArrayBuffer);
  assert.equal(await port.receiveAsync(), CLOSED);
});

test('calls go over it, and settle when the worker is terminated', async () => {
  const { api, worker } = await start<{ add(a: number, b: number): number; forever(): void }>(
    module('expose({ add: (a, b) => a + b, forever: () => new Promise(() => {}) }, parentPort())'),
    { memory: false },
  );
  assert.equal(await api.add(1, 2), 3);
  const forever = api.forever();
  await api.add(1, 2);
  worker.terminate();
  await assert.rejects(within('the pending call', forever), { code: 'ERR_CLOSED', reason: 'terminated' });
});

test('what needs the thread to block is refused, and what to do is told', () => {
  const [a, b] = both({});
  const there = channel();
  assert.throws(() => a.receive(), { code: 'ERR_UNSUPPORTED', message: /made without memory; or use receiveAsync/ });
  assert.throws(() => select([a], { timeoutMs: 1 }), UnsupportedError);
  assert.throws(() => channel({ memory: false, overflow: 'latest' }), UnsupportedError);
  assert.throws(() => channel({ memory: 'no' as never }), { code: 'ERR_OPTION', message: /takes true or false/ });
  assert.equal(a.stats().way?.name, 'native-port');
  for (const port of [a, b, there.port]) port.close();
});

test("a handle whose port is of the web's class is attached as any other", async () => {
  const { port, remote } = channel({ memory: false });
  port.postMessage('before');
  const there = attach(structuredClone(remote, { transfer: transferOf(remote) as unknown as Transferable[] }));
  there.postMessage('hello');
  assert.equal(await within('a message', port.receiveAsync()), 'hello');
  assert.equal(await within('what was sent before', there.receiveAsync()), 'before');
  there.close();
  assert.equal(await within('its end', port.closed), 'closed');
});

test('a handle that was attached is not passed on, nor attached where it was passed on', () => {
  const { port, remote } = channel({ memory: false });
  const there = attach(remote);
  assert.throws(() => transferOf(remote), { code: 'ERR_HANDLE', message: /pass on: this handle was attached before/ });
  const [one, other] = pair({ memory: false });
  structuredClone(one, { transfer: transferOf(one) as unknown as Transferable[] });
  assert.throws(() => attach(one), { code: 'ERR_HANDLE', message: /handed on already/ });
  for (const each of [port, there, attach(other)]) each.close();
});

test('a handle goes on from thread to thread, is attached once, and a pair has no end here', async () => {
  const [one, other] = pair({ memory: false, capacityBytes: 4096 });
  const carrier = both({});
  carrier[0].postMessage({ handle: one }, transferOf(one));
  const { handle } = (await carrier[1].receiveAsync()) as { handle: unknown };
  const left = attach(handle);
  assert.throws(() => attach(handle), { code: 'ERR_HANDLE' });
  left.postMessage('direct');
  const right = attach(other);
  assert.equal(await right.receiveAsync(), 'direct');
  assert.equal(right.stats().capacityBytes, 4096);
  assert.throws(() => carrier[0].postMessage({ handle: channel({ memory: false }).remote }), {
    name: 'DataCloneError',
    message: /pass `remote.transfer`/,
  });
  left.close();
  assert.equal(await right.receiveAsync(), CLOSED);
  for (const port of carrier) port.close();
});

/** What tells in a thread that the other end of a native port that has moved is let go. */
function toldWhenLost(): { readonly moves: MessagePort; readonly told: Promise<unknown> } {
  const { port1, port2 } = new MessageChannel();
  const told = new Promise((resolve) => port2.addEventListener('close', resolve));
  port2.start();
  return { moves: port1, told };
}
for (const [how, lose] of [
  ['that has come, and its reader closes', (_: Port, far: Port) => far.close()],
  [
    'that has come, and both close',
    async (port: Port, far: Port) => {
      port.close();
      await within('the end', far.closed);
      far.close();
    },
  ],
  [
    'that waits for room, and its reader closes',
    async (port: Port, far: Port) => {
      port.close();
      far.close();
    },
  ],
] as const) {
  test(`the other end of a native port is told when the message is lost with it ${how}`, async () => {
    const [port, far] = both({ capacityBytes: 4096 });
    port.postMessage('up');
    await within('the first', far.receiveAsync());
    if (how.includes('waits')) for (let i = 0; i < 20; i++) port.postMessage('x'.repeat(1000));
    const { moves, told } = toldWhenLost();
    port.postMessage({ moves }, [moves as never]);
    await quiet();
    await lose(port, far);
    await within('the other end to be told', told);
    for (const each of [port, far]) each.close();
  });
}

test('calls between two ends in one thread', async () => {
  const [a, b] = both({});
  expose({ add: (x: number, y: number) => x + y }, b);
  assert.equal(await wrap<{ add(x: number, y: number): number }>(a).add(1, 2), 3);
  a.close();
});

test('nothing is left that keeps the process', () => {
  for (const port of probes.flat()) port.close();
});
